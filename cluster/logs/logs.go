// Package logs makes the archive that the hub gets of a cluster's inside: the newest
// lines of this program's own log, and what it decided by. It holds no object of the
// cluster as it is, so no secret can be in it.
package logs

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// ringSize is how much of the log is kept, in bytes.
const ringSize = 512 << 10

// Ring keeps the newest lines that were written to it. The zero value is empty.
type Ring struct {
	mu    sync.Mutex
	bytes []byte
}

// Write implements [io.Writer].
func (r *Ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bytes = append(r.bytes, p...)
	if over := len(r.bytes) - ringSize; over > ringSize/8 {
		kept := r.bytes[over:]
		for i, b := range kept {
			if b == '\n' {
				kept = kept[i+1:]
				break
			}
		}
		r.bytes = append(make([]byte, 0, ringSize+ringSize/4), kept...)
	}
	return len(p), nil
}

// Lines are those that are kept.
func (r *Ring) Lines() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]byte(nil), r.bytes...)
}

// File is one of the archive; a value that is no text is written as JSON.
type File struct {
	Name  string
	Value any
}

// Write writes a tar.gz with the files.
func Write(w io.Writer, now time.Time, files []File) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		raw, ok := f.Value.([]byte)
		if !ok {
			var err error
			if raw, err = json.MarshalIndent(f.Value, "", " "); err != nil {
				return fmt.Errorf("%s: %w", f.Name, err)
			}
		}
		if err := archive.WriteHeader(&tar.Header{Name: "logs_cluster/" + f.Name, Mode: 0o644, Size: int64(len(raw)), ModTime: now}); err != nil {
			return err
		}
		if _, err := archive.Write(raw); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return zipped.Close()
}
