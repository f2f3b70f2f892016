package cpio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// ErrFormat is returned for bytes that are not a newc archive.
var ErrFormat = errors.New("not a newc cpio archive")

// maxNameSize bounds a member's name; Linux allows 4096.
const maxNameSize = 4096

// Reader reads one archive member by member.
type Reader struct {
	r      io.Reader
	offset int64
	limit  int64
}

// NewReader returns a Reader of the archive that starts at r's position.
// Members larger than limit bytes are an error, so that hostile input cannot
// claim memory that it does not fill.
func NewReader(r io.Reader, limit int64) *Reader {
	return &Reader{r: r, limit: limit}
}

// Next returns the next member, or io.EOF after the trailer. The Reader stops
// right behind the trailer; what follows is left to the caller.
func (r *Reader) Next() (Entry, error) {
	var header [headerSize]byte
	if err := r.full(header[:]); err != nil {
		return Entry{}, fmt.Errorf("%w: cut in a header: %w", ErrFormat, err)
	}
	if string(header[:len(magic)]) != magic {
		return Entry{}, fmt.Errorf("%w: bad magic %q", ErrFormat, header[:len(magic)])
	}
	mode, err1 := field(header[:], 1)
	size, err2 := field(header[:], 6)
	nameSize, err3 := field(header[:], 11)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Entry{}, err
	}
	if nameSize == 0 || nameSize > maxNameSize {
		return Entry{}, fmt.Errorf("%w: a name of %d bytes", ErrFormat, nameSize)
	}
	name := make([]byte, nameSize)
	if err := r.padded(name); err != nil {
		return Entry{}, err
	}
	name = bytes.TrimRight(name, "\x00")
	if string(name) == trailer {
		return Entry{}, io.EOF
	}
	if int64(size) > r.limit {
		return Entry{}, fmt.Errorf("%w: member %q claims %d bytes, at most %d are read", ErrFormat, name, size, r.limit)
	}
	var data bytes.Buffer
	if n, err := io.CopyN(&data, r.r, int64(size)); err != nil {
		return Entry{}, fmt.Errorf("%w: member %q is cut after %d of %d bytes", ErrFormat, name, n, size)
	}
	r.offset += int64(size)
	if err := r.skipPadding(); err != nil {
		return Entry{}, err
	}
	return Entry{Name: string(name), Mode: mode, Data: data.Bytes()}, nil
}

// field decodes the n-th hexadecimal field (inode is 0) of a header.
func field(header []byte, n int) (uint32, error) {
	at := len(magic) + 8*n
	v, err := strconv.ParseUint(string(header[at:at+8]), 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: header field %d is %q", ErrFormat, n, header[at:at+8])
	}
	return uint32(v), nil
}

func (r *Reader) full(p []byte) error {
	n, err := io.ReadFull(r.r, p)
	r.offset += int64(n)
	return err
}

func (r *Reader) padded(p []byte) error {
	if err := r.full(p); err != nil {
		return fmt.Errorf("%w: cut in a name: %w", ErrFormat, err)
	}
	return r.skipPadding()
}

func (r *Reader) skipPadding() error {
	var pad [alignment]byte
	if err := r.full(pad[:-r.offset&(alignment-1)]); err != nil {
		return fmt.Errorf("%w: cut in padding", ErrFormat)
	}
	return nil
}
