package hostexec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrStuck means that a program did not end although it was killed. No signal ends
// a program that the kernel has waiting for a device (state D): it goes on when the
// device answers, if it ever does. What it would still write then is not known, so
// nobody may try the same again in this boot.
var ErrStuck = errors.New("it does not end although it was killed: a device that does not answer holds it in the kernel")

// GiveUpAfter is how long after the end of its context a program is given up. It
// is more than what [Program] takes to give one up.
const GiveUpAfter = 20 * time.Second

// Bounded is the same as run, but returns at most [GiveUpAfter] later than its
// context ends, with an error that wraps [ErrStuck] and the context's cause.
func Bounded(run Exec) Exec {
	return func(ctx context.Context, argv []string, line func(string)) error {
		out := gate{line: line}
		defer out.shut()
		return giveUp(ctx, GiveUpAfter, func() error { return run(ctx, argv, out.pass) })
	}
}

// giveUp waits for run, but not for longer than the grace behind the context's end.
func giveUp(ctx context.Context, grace time.Duration, run func() error) error {
	done := make(chan error, 1) // whoever ends too late is heard by nobody
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return fmt.Errorf("%w; %w", context.Cause(ctx), ErrStuck)
	}
}

// gate lets lines pass until it is shut: the caller of a program that was given up
// has gone on.
type gate struct {
	mu     sync.Mutex
	closed bool
	line   func(string)
}

func (g *gate) pass(line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.line(line)
	}
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}
