// Package coreosinstaller runs coreos-installer: with retries, an idle deadline,
// its percent as progress and its last lines as the reason of a failure. What its
// arguments are is the caller's business.
package coreosinstaller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
	how := fmt.Sprint(e.err)
	if code := hostexec.ExitStatus(e.err); code >= 0 {
		how = fmt.Sprintf("exit status %d", code) // a runner may have added a last line of its own
	}
	if errors.Is(e.err, ErrDisk) {
		return how // what it said last is not about that
	}
	if reason := reasonOf(e.Last); reason != "" {
		return fmt.Sprintf("coreos-installer: %s (%s)", reason, how)
	}
	return "coreos-installer: " + how
}

// general are lines that follow every failure: what it tidies up, and that it failed.
var general = []string{"Error: install failed", "Resetting partition table", "Restoring saved partitions"}

// causeForm is a numbered line of a chain of causes, the innermost last.
var causeForm = regexp.MustCompile(`^\d+: `)

// reasonOf is the last line that says more than that the installation failed.
func reasonOf(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if !slices.Contains(general, line) {
			return causeForm.ReplaceAllString(line, "")
		}
	}
	return lastOf(lines)
}

func lastOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

func (e *Error) Unwrap() error { return e.err }

// Runner runs coreos-installer with retries and deadlines.
type Runner struct {
	// Exec runs it in the host's root. Its progress and its reasons stand on standard
	// error, so it must hand both streams over.
	Exec hostexec.Exec
	// Disk is the one that is written. If it is set, its errors are looked for in
	// the meantime, with sync run by Query in the same root: see [ErrDisk].
	Disk  string
	Query hostexec.Exec
	// Pause is the time between two looks at the disk; 0 is five seconds.
	Pause time.Duration
	// Idle is how long it may write nothing.
	Idle time.Duration
	// Pauses come before the second and each later try: two make three tries.
	Pauses []time.Duration
	// Again is asked before the second and each later try, since a disk that has failed may
	// have gone, and another one have its name: with its error there is none. Nil asks nobody.
	Again func(ctx context.Context) error
	// Progress is told the percent, 0 to 100, with the line that says it.
	Progress func(percent int, line string)
	// Warn tells about a try that failed and is repeated, and of a disk that cannot be
	// looked at.
	Warn func(err error)
}

// Install runs the command; argv[0] is coreos-installer. The error wraps
// [ErrMissing], [ErrIdle], [ErrDisk] or the context's cause, and is an [Error] for a run
// that began. A run that does not even end when it is killed is given up, with an
// error that wraps [hostexec.ErrStuck] as well.
func (r Runner) Install(ctx context.Context, argv []string) error {
	for try := 0; ; try++ {
		err := r.once(ctx, argv)
		if err == nil || ctx.Err() != nil || final(err) || try == len(r.Pauses) {
			return err
		}
		r.Warn(err)
		select {
		case <-time.After(r.Pauses[try]):
		case <-ctx.Done():
			return err
		}
		if refused := r.again(ctx); refused != nil {
			return fmt.Errorf("%w; it is not tried again: %w", err, refused)
		}
	}
}

// again asks whether there may be another try. Who looks at a disk that hangs may have to
// wait for it, but not for longer than one who writes to it.
func (r Runner) again(ctx context.Context) error {
	if r.Again == nil {
		return nil
	}
	hangs := fmt.Errorf("the disk could not be looked at in %v", r.Idle)
	ctx, cancel := context.WithTimeoutCause(ctx, r.Idle, hangs)
	defer cancel()
	err := r.Again(ctx)
	if err != nil && errors.Is(context.Cause(ctx), hangs) && !errors.Is(err, hangs) {
		return fmt.Errorf("%w: %w", hangs, err)
	}
	return err
}

// final tells that another try is of no use: there is no program, or no disk to rely
// on. One that is stuck may still write when its disk answers: nothing else may then.
func final(err error) bool {
	return errors.Is(err, ErrMissing) || errors.Is(err, hostexec.ErrStuck) || errors.Is(err, ErrDisk)
}

func (r Runner) once(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(r.Idle, func() { cancel(ErrIdle) })
	defer idle.Stop()
	watched := r.watched(ctx, cancel)
	var last []string
	err := hostexec.Bounded(r.Exec)(ctx, argv, func(line string) {
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
	watched()
	switch {
	case errors.Is(context.Cause(ctx), ErrDisk) && !errors.Is(err, hostexec.ErrStuck):
		return &Error{context.Cause(ctx), last} // it may have ended well nevertheless
	case err == nil:
		return nil
	case errors.Is(err, hostexec.ErrStuck):
		return &Error{err, last}
	case ctx.Err() != nil:
		return &Error{context.Cause(ctx), last}
	case hostexec.Missing(err):
		return ErrMissing
	default:
		return &Error{err, last}
	}
}
