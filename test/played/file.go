package played

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Write puts a file into the host's directory, with its folders.
func Write(t testing.TB, dir hostfile.Dir, path, text string) {
	t.Helper()
	path = dir.Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
