package server

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// transfer is a range of a revision on its way to one client. As an io.Reader it
// is the slow way (TLS, several ranges); [conn] sends it without copies.
type transfer struct {
	revision *images.Revision
	off, end int64
	progress *progress
}

// Read implements io.Reader.
func (t *transfer) Read(p []byte) (int, error) {
	if t.off >= t.end {
		return 0, io.EOF
	}
	n, err := t.revision.Image.ReadAt(p[:min(int64(len(p)), t.end-t.off)], t.off)
	t.served(int64(n))
	if errors.Is(err, io.EOF) && n > 0 {
		err = nil
	}
	return n, err
}

// served moves on by n bytes.
func (t *transfer) served(n int64) {
	if n > 0 {
		t.revision.Served(t.off, n)
		t.off += n
		t.progress.made(n)
	}
}

// filer is a source that sendfile can read.
type filer interface{ File() *os.File }

// fileOf returns the file behind a segment, nil when its bytes are in memory.
func fileOf(s overlay.Segment) *os.File {
	if f, ok := s.Source.(filer); ok {
		return f.File()
	}
	return nil
}

// progress pushes a connection's write deadline ahead as long as bytes flow, so
// that a slow reader lives and a dead one does not.
type progress struct {
	set     func(time.Time) error
	timeout time.Duration
	last    time.Time
	bytes   *counter
}

// deadlineStep is how often a deadline is moved at most; moving costs time.
const deadlineStep = time.Second

func (p *progress) begin() {
	p.last = time.Now()
	_ = p.set(p.last.Add(p.timeout)) // a connection without deadlines simply has none
}

func (p *progress) made(n int64) {
	p.bytes.add(n)
	if now := time.Now(); now.Sub(p.last) >= deadlineStep {
		p.last = now
		_ = p.set(now.Add(p.timeout))
	}
}
