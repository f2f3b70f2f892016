// Package hostexec is how the host-side programs run other programs: [Exec] is
// the one shape that the packages beside it take. [InRoot] runs programs in a
// host's root; the agent brings its own runner with its table of what it may start.
package hostexec

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Exec runs a command in the host's root and hands each line of its output,
// stdout and stderr together, to line, one at a time. A carriage return ends a
// line too, as progress displays use it. The error holds the exit status only.
type Exec func(ctx context.Context, argv []string, line func(string)) error

// ErrMissing means that the host has no such program.
var ErrMissing = errors.New("this host has no such program")

// exitNotFound is the shell's and env's status for a missing program.
const exitNotFound = 127

// Missing tells whether the program was not there at all.
func Missing(err error) bool { return errors.Is(err, ErrMissing) || ExitStatus(err) == exitNotFound }

// exitCoder is an error with an exit status, such as *exec.ExitError.
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

// Output runs a command and returns what it wrote. The error of one that was
// stopped is the context's cause; of one that failed, its last line.
func Output(ctx context.Context, run Exec, argv ...string) (string, error) {
	var b strings.Builder
	err := run(ctx, argv, func(line string) { b.WriteString(line + "\n") })
	switch {
	case err != nil && ctx.Err() != nil: // it was killed: the deadline or the cancellation is the reason
		return "", fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case err != nil:
		return "", failed(argv[0], err, lastLine(b.String()))
	}
	return b.String(), nil
}

// failed names the program and its last line, unless the error does already.
func failed(program string, err error, last string) error {
	if text := err.Error(); strings.HasPrefix(text, program+": ") {
		return err
	}
	return fmt.Errorf("%s: %w: %s", program, err, last)
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndex(text, "\n")+1:]
}
