package filestore

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
)

// incoming is a whole content in a temporary file of this machine.
type incoming struct {
	file *os.File
	// name is that of the file in its folder.
	name string
	size int64
	// sum is the SHA-256 of the content in hexadecimal digits.
	sum string
}

// receive writes what the reader gives into a new file of the folder. On an error
// there is no file.
func receive(ctx context.Context, folder *os.Root, dir string, from io.Reader, limit int64) (_ *incoming, err error) {
	in := &incoming{name: path.Join(dir, rand.Text())}
	if in.file, err = folder.OpenFile(in.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, unavailable(err)
	}
	defer func() {
		if err != nil {
			_, _ = in.file.Close(), folder.Remove(in.name)
		}
	}()
	source := &source{ctx: ctx, from: from}
	sum := sha256.New()
	in.size, err = io.Copy(io.MultiWriter(in.file, sum), io.LimitReader(source, limit+1))
	switch {
	case source.err != nil:
		return nil, source.err
	case err != nil:
		return nil, unavailable(err)
	case in.size > limit:
		return nil, &TooLargeError{Limit: limit}
	}
	in.sum = hex.EncodeToString(sum.Sum(nil))
	return in, nil
}

// source is a reader that ends with its context, and that keeps its error: it is
// the caller's, not the store's.
type source struct {
	ctx  context.Context
	from io.Reader
	err  error
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.from.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// unavailable marks the error as the store's. Its cause is for people only: that
// a folder is missing must not look as if the file were.
func unavailable(err error) error {
	return fmt.Errorf("%w: %v", ErrUnavailable, err) //nolint:errorlint // see above
}
