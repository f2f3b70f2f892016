package client

import (
	"errors"
	"os"
	"path/filepath"
)

// replace puts a text in the place of a file at once: readers see the old or the new one,
// and after a loss of power there is one of them.
func replace(file, text string) error {
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(folder, "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = out.WriteString(text)
	if err := errors.Join(err, out.Chmod(0o644), out.Sync(), out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), file)
}
