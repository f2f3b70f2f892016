// Package needs finds the programs that a test judges our work with. Where one
// is missing, the test skips and says how to get it, and fails in CI: there, a
// gap must not look like a pass.
package needs

import (
	"os"
	"os/exec"
	"testing"
)

// Program returns the path of the program of a Debian package.
func Program(t testing.TB, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("no %s here: apt-get install %s", name, debianPackage)
	default:
		t.Skipf("no %s here (Debian: apt-get install %s)", name, debianPackage)
	}
	return ""
}

// Root is for tests that make network devices, loop devices and root file systems.
func Root(t testing.TB) {
	t.Helper()
	switch root := os.Geteuid() == 0; {
	case root:
	case os.Getenv("CI") == "true":
		t.Fatal("needs root")
	default:
		t.Skip("needs root")
	}
}
