package places

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Write replaces a file at once, and returns when it is on the disk: after a loss of
// power there is the old content or the new one.
func Write(dir hostfile.Dir, file string, content []byte, mode fs.FileMode) error {
	path := dir.Path(file)
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return SyncFolder(folder)
}

// Remove removes a file that may be missing.
func Remove(dir hostfile.Dir, file string) error {
	path := dir.Path(file)
	if err := os.Remove(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Exists tells whether a file is there.
func Exists(dir hostfile.Dir, file string) bool {
	_, err := os.Stat(dir.Path(file))
	return err == nil
}

// SyncFolder returns when what the folder holds is on the disk, as far as its names go; the path is this process's.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
