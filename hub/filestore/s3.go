package filestore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// maxObject is the largest file, in bytes: S3's limit of a single request, which
// stores all of it or nothing and leaves no parts behind.
const maxObject = 5 << 30

// S3 is a [Store] in a bucket of a server that speaks S3. Any number of programs
// may use the same one.
type S3 struct {
	client   minio.Core
	http     *http.Transport
	bucket   string
	prefix   string
	incoming *os.Root
	patience time.Duration
}

// Close ends the use of the store.
func (s *S3) Close() error {
	s.http.CloseIdleConnections()
	return s.incoming.Close()
}

// Ready asks whether the bucket can be used. The error is [ErrUnavailable] when
// the server is away, and any other when it refuses us.
func (s *S3) Ready(ctx context.Context) error {
	ctx, dog := s.watch(ctx)
	defer dog.end()
	exists, err := s.client.BucketExists(ctx, s.bucket)
	answer := minio.ToErrorResponse(err)
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case err == nil && exists:
		return nil
	case err == nil:
		return fmt.Errorf("%s has no bucket %s: make it, or set another address", s.client.EndpointURL().Host, s.bucket)
	case untrusted:
		return fmt.Errorf("%s is not trusted (%w): set the certificates that it is trusted for", s.client.EndpointURL().Host, err)
	case refuses(answer.StatusCode):
		return fmt.Errorf("%s refuses the bucket %s (%w): check the credentials, the region, and whether they may list, read, write and remove objects",
			s.client.EndpointURL().Host, s.bucket, err)
	}
	return s.failed(ctx, err)
}

// refuses reports whether asking again will not help before somebody changes something.
func refuses(status int) bool {
	return status >= http.StatusMultipleChoices && status < http.StatusInternalServerError &&
		status != http.StatusRequestTimeout && status != http.StatusTooManyRequests
}

func (s *S3) key(name string) string { return path.Join(s.prefix, name) }

// Put implements [Store]. The server checks what arrived by its SHA-256.
func (s *S3) Put(ctx context.Context, name string, from io.Reader, limit int64) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	in, err := receive(ctx, s.incoming, "", from, min(limit, maxObject))
	if err != nil {
		return Info{}, err
	}
	defer in.file.Close()
	// Without a name it ends with this program, however that ends.
	if err := s.incoming.Remove(in.name); err != nil {
		return Info{}, unavailable(err)
	}
	ctx, dog := s.watch(ctx)
	defer dog.end()
	options := minio.PutObjectOptions{Progress: dog, DisableContentSha256: true} // the whole sum is signed, not each piece
	if _, err := s.client.PutObject(ctx, s.bucket, s.key(name), io.NewSectionReader(in.file, 0, in.size), in.size, "", in.sum, options); err != nil {
		return Info{}, s.failed(ctx, err)
	}
	return s.Stat(ctx, name)
}

// Open implements [Store]. The content is asked for with the first read.
func (s *S3) Open(ctx context.Context, name string) (io.ReadSeekCloser, Info, error) {
	if err := checkName(name); err != nil {
		return nil, Info{}, err
	}
	info, etag, err := s.stat(ctx, name)
	if err != nil {
		return nil, Info{}, err
	}
	return &object{store: s, ctx: ctx, key: s.key(name), etag: etag, size: info.Size}, info, nil
}

// Stat implements [Store].
func (s *S3) Stat(ctx context.Context, name string) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	info, _, err := s.stat(ctx, name)
	return info, err
}

func (s *S3) stat(ctx context.Context, name string) (Info, string, error) {
	ctx, dog := s.watch(ctx)
	defer dog.end()
	o, err := s.client.StatObject(ctx, s.bucket, s.key(name), minio.StatObjectOptions{})
	if err != nil {
		return Info{}, "", s.failed(ctx, err)
	}
	return Info{Name: name, Size: o.Size, Modified: o.LastModified}, o.ETag, nil
}

// Remove implements [Store].
func (s *S3) Remove(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	ctx, dog := s.watch(ctx)
	defer dog.end()
	err := s.client.RemoveObject(ctx, s.bucket, s.key(name), minio.RemoveObjectOptions{})
	if err != nil {
		err = s.failed(ctx, err)
	}
	if errors.Is(err, fs.ErrNotExist) { // some servers say so
		return nil
	}
	return err
}

// List implements [Store], a page of at most 1,000 names at a time.
func (s *S3) List(ctx context.Context, folder string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkFolder(folder); err != nil {
			yield(Info{}, err)
			return
		}
		prefix := s.key(folder)
		if prefix != "" {
			prefix += "/"
		}
		ctx, dog := s.watch(ctx)
		defer dog.end()
		for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
			dog.rest() // while the caller works
			if o.Err != nil {
				yield(Info{}, s.failed(ctx, o.Err))
				return
			}
			name := strings.TrimPrefix(strings.TrimPrefix(o.Key, s.prefix), "/")
			if checkName(name) == nil && !yield(Info{Name: name, Size: o.Size, Modified: o.LastModified}, nil) {
				return
			}
			dog.stir()
		}
		if ctx.Err() != nil {
			yield(Info{}, s.failed(ctx, ctx.Err()))
		}
	}
}

// failed sorts an error of an operation, whose context has the reason why it was
// broken off.
func (s *S3) failed(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, errStalled) {
			return fmt.Errorf("%w: %s made no progress for %v", ErrUnavailable, s.client.EndpointURL().Host, s.patience)
		}
		return cause
	}
	switch answer := minio.ToErrorResponse(err); answer.Code {
	case minio.NoSuchKey:
		return fmt.Errorf("object %s of bucket %s: %w", answer.Key, s.bucket, fs.ErrNotExist)
	case minio.PreconditionFailed:
		return fmt.Errorf("%w: the file was replaced while it was read", ErrUnavailable)
	}
	return unavailable(err)
}
