// Package logs gathers a host's logs and sends them to the hub as one tar.gz
// that is made while it is uploaded: nothing is written to the disk, which is
// memory in a live image. A [Piece] is one file of the archive; a piece that
// fails, hangs or is late is named in report.logs and never stops the others.
// What would be larger than hubs take is split. Secrets are redacted. The
// main type is [Sender].
package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/ironflow/ironflow/api/redact"
)

const (
	// maxPiece bounds one file of text; of a longer one the end is kept.
	maxPiece = 32 << 20
	// partLimit bounds one part of a file, which is one command as a rule.
	partLimit = 30 * time.Second
	// stopGrace is what a part gets to stop after its limit: that of a command
	// to die by SIGTERM or SIGKILL, and a little more. Then it is left alone.
	stopGrace = 12 * time.Second
)

// Piece is one file of the archive.
type Piece struct {
	// Name is the file's name in the archive.
	Name string
	// Parts are written one after the other.
	Parts []Part
}

// Part is a part of a file.
type Part struct {
	// Title stands above the part; a file of one part has none.
	Title string
	// Limit bounds it; zero is 30 seconds.
	Limit time.Duration
	// Write writes its text. One that does not exist on this host writes nothing.
	Write func(ctx context.Context, w io.Writer) error
}

// single is a piece of one part.
func single(name string, write func(ctx context.Context, w io.Writer) error) Piece {
	return Piece{Name: name, Parts: []Part{{Write: write}}}
}

// collect returns the text of the piece, without secrets, and what went wrong.
func (p Piece) collect(ctx context.Context, known []string) (text []byte, failures error) {
	all := &tail{}
	var errs []error
	for _, part := range p.Parts {
		before := all.total()
		if part.Title != "" {
			fmt.Fprintf(all, "# %s\n", part.Title)
		}
		title := all.total()
		if err := part.collect(ctx, all, known); err != nil {
			if part.Title != "" {
				err = fmt.Errorf("%s: %w", part.Title, err)
			}
			errs = append(errs, err)
		}
		switch {
		case part.Title == "":
		case all.total() == title:
			all.cut(int(title - before)) // nothing below the title
		default:
			fmt.Fprintln(all)
		}
	}
	return all.text(), errors.Join(errs...)
}

// collect writes the part to out, within its limit. A part that does not stop
// when it is told to is left behind: what it writes later is dropped.
func (p Part) collect(ctx context.Context, out io.Writer, known []string) error {
	limit := p.Limit
	if limit == 0 {
		limit = partLimit
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("took longer than %s", limit))
	defer cancel()
	gate := &gate{out: out}
	done := make(chan error, 1)
	go func() {
		clean := redact.NewWriter(gate, known...)
		err := guarded(func() error { return p.Write(ctx, clean) })
		done <- errors.Join(err, clean.Close())
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		gate.shut()
		return fmt.Errorf("%w, and does not end", context.Cause(ctx))
	}
}

// guarded turns a panic into an error.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("internal failure: %v", p)
		}
	}()
	return do()
}

// gate lets writes through until it is shut.
type gate struct {
	mu     sync.Mutex
	out    io.Writer
	closed bool
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return 0, io.ErrClosedPipe
	}
	return g.out.Write(p)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// tail keeps the end of what is written, between one and two times [maxPiece].
type tail struct {
	kept    []byte
	dropped int64
}

func (t *tail) Write(p []byte) (int, error) {
	if len(t.kept) > 2*maxPiece {
		over := len(t.kept) - maxPiece
		t.dropped += int64(over)
		t.kept = t.kept[:copy(t.kept, t.kept[over:])]
	}
	t.kept = append(t.kept, p...)
	return len(p), nil
}

// total is how many bytes were written.
func (t *tail) total() int64 { return t.dropped + int64(len(t.kept)) }

// cut takes the last n bytes back.
func (t *tail) cut(n int) { t.kept = t.kept[:max(0, len(t.kept)-n)] }

func (t *tail) text() []byte {
	if over := len(t.kept) - maxPiece; over > 0 {
		return t.kept[over:]
	}
	return t.kept
}
