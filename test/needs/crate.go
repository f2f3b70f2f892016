package needs

import (
	"os"
	"testing"

	"github.com/ironflow/ironflow/test/lab/crate"
)

// CoreOSInstaller returns the path of the real coreos-installer.
func CoreOSInstaller(t *testing.T) string {
	t.Helper()
	return built(t, crate.CoreOSInstaller)
}

// Nmstatectl returns the path of the real nmstatectl.
func Nmstatectl(t *testing.T) string {
	t.Helper()
	return built(t, crate.Nmstatectl)
}

// built returns the path of a program that is built from its crate.
func built(t *testing.T, p crate.Program) string {
	t.Helper()
	path, found := p.Find()
	switch {
	case found:
		return path
	case os.Getenv("CI") == "true":
		t.Fatalf("no %s here: run %s", p.Name, p.Make)
	default:
		t.Skipf("no %s here: run %s once (%.0f minutes), or set %s to one", p.Name, p.Make, p.Usual.Minutes(), p.Env)
	}
	return ""
}
