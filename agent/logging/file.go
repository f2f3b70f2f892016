package logging

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// maxFile is where a text file is begun anew; the one before it stays as NAME.log.1.
// A live system has its files in memory.
const maxFile = 16 << 20

// file is a text file of bounded size.
type file struct {
	path  string
	limit int64

	mu   sync.Mutex
	out  *os.File
	size int64
}

func openFile(path string, limit int64) (*file, error) {
	f := &file{path: path, limit: limit}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	return f, f.open()
}

func (f *file) open() error {
	out, err := os.OpenFile(f.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("log file: %w", err)
	}
	info, err := out.Stat()
	if err != nil {
		return fmt.Errorf("log file: %w", err)
	}
	f.out, f.size = out, info.Size()
	return nil
}

// Write implements io.Writer.
func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size+int64(len(p)) > f.limit && f.size > 0 {
		if err := f.turn(); err != nil {
			return 0, err
		}
	}
	n, err := f.out.Write(p)
	f.size += int64(n)
	return n, err
}

// turn begins the file anew.
func (f *file) turn() error {
	if err := f.out.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.path, f.path+".1"); err != nil {
		return err
	}
	return f.open()
}

// Close ends the file.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Close()
}
