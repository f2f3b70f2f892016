package openshiftinstall

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// runPrefix begins the names of the folders of runs.
const runPrefix = "run-"

// private is the mode of folders that hold secrets.
const private = 0o700

// folders are those of the runs, below one state folder.
type folders struct{ root *os.Root }

func openFolders(path string) (*folders, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("openshift-install: state folder: %w", err)
	}
	if err := os.MkdirAll(path, private); err != nil {
		return nil, fmt.Errorf("openshift-install: state folder: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("openshift-install: state folder: %w", err)
	}
	f := &folders{root}
	if err := errors.Join(root.Chmod(".", private), f.sweep()); err != nil {
		return nil, fmt.Errorf("openshift-install: state folder %s: %w", path, errors.Join(err, root.Close()))
	}
	return f, nil
}

// sweep removes the folders that nobody holds, and what still works in them: their hubs were killed.
func (f *folders) sweep() error {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return err
	}
	var problems []error
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), runPrefix) {
			continue
		}
		held, err := f.hold(e.Name())
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
			continue // another program's, or gone meanwhile
		}
		if err == nil {
			err = errors.Join(endLeft(filepath.Join(f.root.Name(), e.Name())), f.remove(e.Name()), held.Close())
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// hold locks a run's folder for as long as it is open, so that no sweep takes it.
func (f *folders) hold(name string) (*os.File, error) {
	dir, err := f.root.Open(name)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// folder is that of one run.
type folder struct {
	*os.Root
	// path is where it lies, for the program.
	path, name string
	in         *folders
	held       *os.File
}

// begin makes a folder for a run, with those that the program is to use.
func (f *folders) begin() (_ *folder, err error) {
	name := runPrefix + rand.Text()
	defer func() {
		if err != nil {
			err = fmt.Errorf("openshift-install: folder of the run: %w", err)
		}
	}()
	if err := f.root.Mkdir(name, private); err != nil {
		return nil, err
	}
	out := &folder{path: filepath.Join(f.root.Name(), name), name: name, in: f}
	if out.held, err = f.hold(name); err != nil {
		return nil, errors.Join(err, out.end())
	}
	if out.Root, err = f.root.OpenRoot(name); err != nil {
		return nil, errors.Join(err, out.end())
	}
	for _, sub := range []string{homeFolder, tempFolder, assetsFolder} {
		if err := out.Mkdir(sub, private); err != nil {
			return nil, errors.Join(err, out.end())
		}
	}
	return out, nil
}

// tries is how often a folder is removed into which a killed program may still write
// its last bytes.
const tries = 3

// remove removes a run's folder with all that is in it.
func (f *folders) remove(name string) (err error) {
	for range tries {
		if err = f.root.RemoveAll(name); err == nil {
			break
		}
	}
	return err
}

// end removes the folder with all that is in it.
func (f *folder) end() error {
	err := f.in.remove(f.name)
	if f.Root != nil {
		err = errors.Join(err, f.Close())
	}
	if f.held != nil {
		err = errors.Join(err, f.held.Close())
	}
	if err != nil {
		return fmt.Errorf("openshift-install: remove the folder of the run, which has secrets in it; remove %s: %w", f.path, err)
	}
	return nil
}
