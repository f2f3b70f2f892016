package node

import (
	"os"
	"path/filepath"
	"testing"
)

// Needs returns the programs of a node, built from the source tree, for a test. It skips
// and says how to get them, and fails in CI, as package needs does.
func Needs(t testing.TB, source string) Programs {
	t.Helper()
	source, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	programs, found := Find(source)
	switch {
	case found:
	case os.Getenv("CI") == "true":
		t.Fatalf("no programs of a Kubernetes node here: run %s", Make)
	default:
		t.Skipf("no programs of a Kubernetes node here: run %s once (%.0f minutes)", Make, usual.Minutes())
	}
	return programs
}
