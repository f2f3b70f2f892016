package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// Store keeps files by name. All methods are safe for concurrent use.
//
// A name is a path with slashes, such as logs/hosts/ID.tar.gz: at most 512 bytes
// and no part of it longer than 200 bytes, empty, or with a leading dot; no
// control characters and no backslashes. A name is that of a file or of a
// folder, not of both.
//
// Errors: [ErrName] for such a name, [fs.ErrNotExist] for a file that is not
// there, [TooLargeError], the error of the context or of the reader that was
// handed in, and [ErrUnavailable] for everything else.
//
// [fs.ErrNotExist]: https://pkg.go.dev/io/fs#ErrNotExist
type Store interface {
	// Put stores what the reader gives, at most limit bytes, in place of an earlier
	// file of the name. Until it returns without an error, others see the earlier
	// file or none.
	Put(ctx context.Context, name string, from io.Reader, limit int64) (Info, error)
	// Open opens a file for reading, until it is closed or the context ends. A read
	// that breaks off before the file's end is an error, never an io.EOF.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, Info, error)
	// Stat tells about a file without opening it.
	Stat(ctx context.Context, name string) (Info, error)
	// Remove removes a file; one that is not there is no error.
	Remove(ctx context.Context, name string) error
	// List goes through all files below a folder, at any depth and in no certain
	// order; the empty name is the top. It ends after the first error.
	List(ctx context.Context, folder string) iter.Seq2[Info, error]
}

// Info is what is known about a file.
type Info struct {
	// Name is its whole name.
	Name string
	// Size is in bytes.
	Size int64
	// Modified is when it was stored.
	Modified time.Time
}

// ErrUnavailable means that the store cannot do it now: its server is away, slow
// or refuses us, or the disk is full. The same call may work later.
var ErrUnavailable = errors.New("the file store is not available")

// ErrName means that there can be no file of this name.
var ErrName = errors.New("not a name of a file")

// TooLargeError means that there was more than the limit. Nothing was stored.
type TooLargeError struct {
	// Limit is in bytes.
	Limit int64
}

// Error implements error.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("there are more than %d bytes", e.Limit)
}
