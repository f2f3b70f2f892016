package filestore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"
)

// object reads one object, all of it from the same version.
type object struct {
	store *S3
	ctx   context.Context
	key   string
	etag  string
	size  int64
	// at is where the next read begins; body delivers from there, if it is open.
	at   int64
	body io.ReadCloser
	dog  *watchdog
}

// Read implements [io.Reader].
func (o *object) Read(p []byte) (int, error) {
	if o.at >= o.size {
		return 0, io.EOF
	}
	if o.body == nil {
		if err := o.begin(); err != nil {
			return 0, err
		}
	}
	o.dog.stir()
	n, err := o.body.Read(p)
	o.dog.rest()
	o.at += int64(n)
	switch {
	case err == nil, o.at == o.size:
		return n, nil
	case err == io.EOF: //nolint:errorlint // io.Reader's contract is this very value
		err = io.ErrUnexpectedEOF
	}
	err = o.store.failed(o.dog.ctx, err)
	o.end()
	return n, fmt.Errorf("after %d of %d bytes: %w", o.at, o.size, err)
}

// begin asks for the object from here on.
func (o *object) begin() error {
	options := minio.GetObjectOptions{}
	err := options.SetMatchETag(o.etag)
	if o.at > 0 {
		err = errors.Join(err, options.SetRange(o.at, 0))
	}
	if err != nil {
		return err
	}
	ctx, dog := o.store.watch(o.ctx)
	body, found, _, err := o.store.client.GetObject(ctx, o.store.bucket, o.key, options)
	if err != nil {
		defer dog.end()
		return o.store.failed(ctx, err)
	}
	o.body, o.dog = body, dog
	if found.Size != o.size-o.at {
		o.end()
		return fmt.Errorf("%w: the server sends %d bytes where there are %d", ErrUnavailable, found.Size, o.size-o.at)
	}
	return nil
}

// end gives the connection back.
func (o *object) end() {
	if o.body != nil {
		_ = o.body.Close()
		o.dog.end()
		o.body, o.dog = nil, nil
	}
}

// Seek implements [io.Seeker]; it asks nobody.
func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.at
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek: before the beginning")
	}
	if offset != o.at {
		o.end()
		o.at = offset
	}
	return offset, nil
}

// Close implements [io.Closer].
func (o *object) Close() error {
	o.end()
	return nil
}
