// Package site reads the rows of the table of quirks that a site adds from its file. The
// table itself, and what a row may say, are in bmc/quirks.
//
// Main type: [File].
package site

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ironflow/ironflow/bmc/quirks"
)

// File is a table with the rows of a site's file over those that are built in. The file is
// read again when it changes, such as a mounted ConfigMap. Its methods may be called by
// many at once.
type File struct {
	// Path of the file; empty for none.
	Path string

	mu    sync.Mutex
	read  time.Time
	size  int64
	table *quirks.Table
	err   error
}

// Table is the table as the file is now. While the file cannot be read or is wrong, the
// error says why, and the table is that of before: the built-in one at first.
func (f *File) Table() (*quirks.Table, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.table == nil {
		f.table = quirks.New()
	}
	if f.Path == "" {
		return f.table, nil
	}
	info, err := os.Stat(f.Path)
	if err != nil {
		f.read = time.Time{}
		return f.table, fmt.Errorf("rows of quirks: %w", err)
	}
	if info.ModTime().Equal(f.read) && info.Size() == f.size {
		return f.table, f.err
	}
	f.read, f.size = info.ModTime(), info.Size()
	rows, err := load(f.Path)
	if f.err = err; err == nil {
		f.table = quirks.New(rows)
	}
	return f.table, f.err
}

func load(path string) ([]quirks.Row, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("rows of quirks: %w", err)
	}
	rows, err := quirks.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("rows of quirks in %s: %w", path, err)
	}
	return rows, nil
}
