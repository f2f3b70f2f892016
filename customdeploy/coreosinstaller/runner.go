// Package coreosinstaller runs coreos-installer: with retries, an idle deadline,
// its percent as progress and its last lines as the reason of a failure. What its
// arguments are is the caller's business.
package coreosinstaller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// tailLines is how many of coreos-installer's last lines an error carries.
const tailLines = 10

var (
	// ErrIdle is the cause of a run that wrote nothing for too long.
	ErrIdle = errors.New("coreos-installer wrote nothing for too long (idle deadline)")
	// ErrMissing means that the live image lacks the program.
	ErrMissing = errors.New("this live image has no coreos-installer")
)

// percentForm finds the percent in coreos-installer's progress, such as
// "> Read disk 512.0 MiB/2.5 GiB (20%)".
var percentForm = regexp.MustCompile(`\((\d{1,3})%\)`)

// Error is a failed run with coreos-installer's own last words.
type Error struct {
	err error
	// Last are its last lines without the progress, at most ten.
	Last []string
}

func (e *Error) Error() string {
	if len(e.Last) == 0 {
		return fmt.Sprintf("coreos-installer: %v", e.err)
	}
	return fmt.Sprintf("coreos-installer: %s (%v)", e.Last[len(e.Last)-1], e.err)
}

func (e *Error) Unwrap() error { return e.err }

// Runner runs coreos-installer with retries and deadlines.
type Runner struct {
	// Exec runs it in the host's root.
	Exec hostexec.Exec
	// Idle is how long it may write nothing.
	Idle time.Duration
	// Pauses come before the second and each later try: two make three tries.
	Pauses []time.Duration
	// Progress is told the percent, 0 to 100, with the line that says it.
	Progress func(percent int, line string)
	// Warn tells about a try that failed and is repeated.
	Warn func(err error)
}

// Install runs the command; argv[0] is coreos-installer. The error wraps
// [ErrMissing], [ErrIdle] or the context's cause, and is an [Error] for a run
// that began.
func (r Runner) Install(ctx context.Context, argv []string) error {
	for try := 0; ; try++ {
		err := r.once(ctx, argv)
		if err == nil || ctx.Err() != nil || errors.Is(err, ErrMissing) || try == len(r.Pauses) {
			return err
		}
		r.Warn(err)
		select {
		case <-time.After(r.Pauses[try]):
		case <-ctx.Done():
			return err
		}
	}
}

func (r Runner) once(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(r.Idle, func() { cancel(ErrIdle) })
	defer idle.Stop()
	var last []string
	err := r.Exec(ctx, argv, func(line string) {
		idle.Reset(r.Idle)
		if m := percentForm.FindStringSubmatch(line); m != nil {
			percent, _ := strconv.Atoi(m[1])
			r.Progress(min(percent, 100), strings.TrimSpace(strings.TrimLeft(line, "> ")))
			return
		}
		if line = strings.TrimSpace(line); line != "" {
			last = append(last, line)[max(0, len(last)+1-tailLines):]
		}
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &Error{context.Cause(ctx), last}
	case hostexec.Missing(err):
		return ErrMissing
	default:
		return &Error{err, last}
	}
}
