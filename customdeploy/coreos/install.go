package coreos

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// tailLines is how many of coreos-installer's last lines an error carries.
	tailLines = 10
	// exitNotFound is the shell's and chroot's status for a missing program.
	exitNotFound = 127
)

// retryAfter are the pauses before the second and the third try.
var retryAfter = []time.Duration{5 * time.Second, 20 * time.Second}

var (
	// errIdle and errTotal are the causes of the installation's deadlines.
	errIdle  = errors.New("coreos-installer wrote nothing for too long (idle deadline)")
	errTotal = errors.New("the installation took too long (total deadline)")
	// errNoInstaller means that the live image lacks the program.
	errNoInstaller = errors.New("this live image has no coreos-installer")
)

// percentForm finds the percent in coreos-installer's progress, such as
// "> Read disk 512.0 MiB/2.5 GiB (20%)".
var percentForm = regexp.MustCompile(`\((\d{1,3})%\)`)

// installError is a failed run with coreos-installer's own last words.
type installError struct {
	err  error
	last []string
}

func (e *installError) Error() string {
	if len(e.last) == 0 {
		return fmt.Sprintf("coreos-installer: %v", e.err)
	}
	return fmt.Sprintf("coreos-installer: %s (%v)", e.last[len(e.last)-1], e.err)
}

func (e *installError) Unwrap() error { return e.err }

// Args is coreos-installer's command line for the plan.
func (p Plan) Args(disk, ignitionFile, imageURL string) []string {
	args := []string{"coreos-installer", "install", "--preserve-on-error", "--ignition-file", ignitionFile}
	for _, karg := range p.KernelArgs {
		args = append(args, "--append-karg="+karg) // one word: the argument may begin with a dash
	}
	if imageURL == "" {
		args = append(args, "--offline")
	} else {
		args = append(args, "--insecure", "--image-url", imageURL)
	}
	if p.CopyNetwork {
		args = append(args, "--copy-network")
	}
	return append(args, disk)
}

// runner runs coreos-installer with retries and deadlines.
type runner struct {
	exec     Exec
	idle     time.Duration
	progress func(percent int, line string)
	// warn tells about a try that failed and is repeated.
	warn func(err error)
}

// install runs the command up to three times.
func (r runner) install(ctx context.Context, argv []string) error {
	for try := 0; ; try++ {
		err := r.once(ctx, argv)
		if err == nil || ctx.Err() != nil || errors.Is(err, errNoInstaller) || try == len(retryAfter) {
			return err
		}
		r.warn(err)
		select {
		case <-time.After(retryAfter[try]):
		case <-ctx.Done():
			return err
		}
	}
}

func (r runner) once(ctx context.Context, argv []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(r.idle, func() { cancel(errIdle) })
	defer idle.Stop()
	var last []string
	err := r.exec(ctx, argv, func(line string) {
		idle.Reset(r.idle)
		if m := percentForm.FindStringSubmatch(line); m != nil {
			percent, _ := strconv.Atoi(m[1])
			r.progress(min(percent, 100), strings.TrimSpace(strings.TrimLeft(line, "> ")))
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
		return &installError{context.Cause(ctx), last}
	case exitStatus(err) == exitNotFound:
		return errNoInstaller
	default:
		return &installError{err, last}
	}
}

// exitCoder is an error with an exit status, such as *exec.ExitError.
type exitCoder interface {
	error
	ExitCode() int
}

func exitStatus(err error) int {
	if e, ok := errors.AsType[exitCoder](err); ok {
		return e.ExitCode()
	}
	return -1
}
