package disks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing/fstest"
)

func dirFS(root string) fs.FS { return os.DirFS(root) }

// copyTree writes the files below root.
func copyTree(root string, files fstest.MapFS) error {
	var errs []error
	for name, f := range files {
		to := filepath.Join(root, name)
		errs = append(errs, os.MkdirAll(filepath.Dir(to), 0o755))
		if f.Mode&fs.ModeSymlink != 0 {
			errs = append(errs, os.Symlink(string(f.Data), to))
		} else {
			errs = append(errs, os.WriteFile(to, f.Data, 0o600))
		}
	}
	return errors.Join(errs...)
}
