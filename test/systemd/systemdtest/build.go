package systemdtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ironflow/ironflow/api/hostfile"
)

// ActorPath is where [Install] puts the actor below a root.
const ActorPath = "/usr/local/bin/actor"

// Build compiles a program of this module, statically, and returns its path.
func Build(t testing.TB, pkg string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"build", "-trimpath", "-o", out}, args...), pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, text)
	}
	return out
}

// BuildActor compiles the actor.
func BuildActor(t testing.TB) string {
	t.Helper()
	return Build(t, "github.com/ironflow/ironflow/test/systemd/systemdtest/actor")
}

// Install copies an executable below the root.
func Install(t testing.TB, host hostfile.Dir, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(host.Path(to)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(host.Path(to), raw, 0o755); err != nil { //nolint:gosec // a path of the test, below its own root
		t.Fatal(err)
	}
}
