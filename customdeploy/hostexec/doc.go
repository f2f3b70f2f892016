// Package hostexec is how the host-side programs run other programs: [Program] is
// one of them, and [Exec] the one shape that the packages beside it take. [Root]
// runs programs in a host's root; the agent brings its own runner with its table
// of what it may start.
//
// What a program is asked for stands on its standard output; what it writes to
// standard error is for people. And no program is waited for without an end: one
// that a device holds in the kernel is given up, see [ErrStuck].
package hostexec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Exec runs a command in the host's root and hands each line of its standard
// output to line, one at a time; [Root.Both] adds those of standard error. A
// carriage return ends a line too, as progress displays use it. The error is an
// [ExitError] for a program that ended badly.
type Exec func(ctx context.Context, argv []string, line func(string)) error

// ErrMissing means that the host has no such program.
var ErrMissing = errors.New("this host has no such program")

// exitNotFound is the shell's and env's status for a missing program.
const exitNotFound = 127

// Missing tells whether the program was not there at all.
func Missing(err error) bool { return errors.Is(err, ErrMissing) || ExitStatus(err) == exitNotFound }

// ExitError is the end of a program with a status that is not 0.
type ExitError struct {
	Name string
	// Code is the exit status, or -1 when a signal ended it.
	Code int
	// Last is the last line that the program wrote to standard error.
	Last string
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("%s: exit status %d", e.Name, e.Code)
	if e.Code < 0 {
		text = e.Name + ": ended by a signal"
	}
	if e.Last != "" {
		text += ": " + e.Last
	}
	return text
}

// ExitCode is the exit status, as of *exec.ExitError.
func (e *ExitError) ExitCode() int { return e.Code }

// exitCoder is an error with an exit status, such as *ExitError.
type exitCoder interface {
	error
	ExitCode() int
}

// ExitStatus is the exit status that the error carries, or -1.
func ExitStatus(err error) int {
	if e, ok := errors.AsType[exitCoder](err); ok {
		return e.ExitCode()
	}
	return -1
}

// unbounded is how long a program may take whose context has no deadline: what looks
// at a device is done in seconds, unless the device hangs.
const unbounded = 5 * time.Minute

// Output runs a command and returns what it wrote to standard output. The error of
// one that was stopped is the context's cause; of one that failed, its last line.
// It returns soon after the context's deadline (without one, after five minutes),
// whatever the program does.
func Output(ctx context.Context, run Exec, argv ...string) (string, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, unbounded, fmt.Errorf("no end in %v", unbounded))
		defer cancel()
	}
	var b strings.Builder
	err := Bounded(run)(ctx, argv, func(line string) { b.WriteString(line + "\n") })
	switch {
	case errors.Is(err, ErrStuck):
		return "", named(argv[0], err)
	case err != nil && ctx.Err() != nil: // it was killed: the deadline or the cancellation is the reason
		return "", fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case err != nil:
		return "", failed(argv[0], err, lastLine(b.String()))
	}
	return b.String(), nil
}

// failed names the program and its last line, unless the error does already.
func failed(program string, err error, last string) error {
	if isNamed(program, err) {
		return err
	}
	return fmt.Errorf("%s: %w: %s", program, err, last)
}

// named names the program, unless the error does already.
func named(program string, err error) error {
	if isNamed(program, err) {
		return err
	}
	return fmt.Errorf("%s: %w", program, err)
}

func isNamed(program string, err error) bool { return strings.HasPrefix(err.Error(), program+": ") }

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexAny(text, "\r\n")+1:]
}
