package standin

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// tailBytes is how much of the journal is read to find its last lines.
const tailBytes = 256 << 10

// journal keeps a unit's output in a file below the root, one line each with
// the invocation in front, so that a later program of the same boot reads it too.
type journal struct {
	root hostfile.Dir
	unit string
}

func (j journal) path() string {
	return j.root.Path(filepath.Join("/run/log/journal", j.unit+".log"))
}

// add appends a line. The journal is a help for people: it must not stop a unit.
func (j journal) add(invocation, line string) {
	if err := os.MkdirAll(filepath.Dir(j.path()), 0o755); err != nil {
		return
	}
	f, err := os.OpenFile(j.path(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(invocation + "\t" + line + "\n")
}

func (j journal) tail(invocation string, n int) ([]string, error) {
	f, err := os.Open(j.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range bytes.Lines(raw) {
		id, text, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		if ok && (invocation == "" || id == invocation) {
			lines = append(lines, text)
		}
	}
	return lines[max(0, len(lines)-n):], nil
}
