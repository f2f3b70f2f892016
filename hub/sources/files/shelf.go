package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/ironflow/ironflow/hub/sources"
)

// maxFile bounds a file, in bytes.
const maxFile = 32 << 20

// errNone tells that there is no such file.
var errNone = errors.New("no such file")

// shelf is where the files of one order are looked for.
type shelf struct {
	root *os.Root
	// own is the folder of the cluster.
	own string
	// given are the files of the cluster's objects; they come before both folders.
	given []sources.File
}

func (s Source) shelf(o *sources.Order) shelf {
	return shelf{root: s.Root, own: o.Cluster.ID, given: o.Files}
}

// has reports whether there is such a file. One that cannot be read is there: reading
// it says why.
func (s shelf) has(name string) bool { return s.hasOwn(name) || s.inFolder(name) }

// hasOwn reports the same of the cluster's own files.
func (s shelf) hasOwn(name string) bool {
	return s.find(name) >= 0 || s.inFolder(path.Join(s.own, name))
}

func (s shelf) find(name string) int {
	return slices.IndexFunc(s.given, func(f sources.File) bool { return f.Name == name })
}

func (s shelf) inFolder(name string) bool {
	if s.root == nil {
		return false
	}
	_, err := s.root.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// read reads the cluster's own file, or that of all clusters.
func (s shelf) read(name string) content {
	if c := s.readOwn(name); !errors.Is(c.err, errNone) {
		return c
	}
	return s.open(name)
}

// readOwn reads the cluster's own file.
func (s shelf) readOwn(name string) content {
	if i := s.find(name); i >= 0 {
		return content{name: shown(s.given[i]), raw: s.given[i].Content}
	}
	return s.open(path.Join(s.own, name))
}

// open reads a file of the folder.
func (s shelf) open(name string) content {
	if s.root == nil {
		return content{err: errNone}
	}
	f, err := s.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return content{err: errNone}
	}
	if err != nil {
		return content{err: fmt.Errorf("file %s of --hub-ignition-dir: %w", name, err)}
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return content{err: fmt.Errorf("file %s of --hub-ignition-dir: %w", name, err)}
	}
	if len(raw) > maxFile {
		return content{err: fmt.Errorf("file %s of --hub-ignition-dir: larger than %d MiB", name, maxFile>>20)}
	}
	return content{name: name, raw: raw}
}

// shown is how errors name a file of an object.
func shown(f sources.File) string { return f.From + ": " + f.Name }

// content is a file as it was read; err is errNone where there is none.
type content struct {
	name string
	raw  []byte
	err  error
}

// add puts the file among others, if there is one.
func (c content) add(to map[string][]byte, name string) error {
	if errors.Is(c.err, errNone) {
		return nil
	}
	if c.err == nil {
		to[name] = c.raw
	}
	return c.err
}
