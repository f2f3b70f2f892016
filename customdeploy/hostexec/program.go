package hostexec

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Program is one program to run. It is the only way in which host-side code starts
// another program.
type Program struct {
	// Path is where it lies inside Root.
	Path string
	// Name is what errors call it; empty is Path's last part.
	Name string
	Args []string
	// Env is its whole environment, NAME=value.
	Env []string
	// Root is the root directory that it runs in; empty and "/" are this process's own.
	Root  string
	Stdin io.Reader
	// Stdout and Stderr take the output as it comes; nil drops it.
	Stdout, Stderr io.Writer
	// Both sends standard error to Stdout, in the order in which the program writes.
	Both bool
	// KillAfter is how long it may take to end after SIGTERM; 0 is ten seconds.
	KillAfter time.Duration
}

// settle is how long a killed program may take to be gone.
const settle = 5 * time.Second

// Run starts the program in a process group of its own and waits for its end. When
// the context ends it gets SIGTERM, then SIGKILL, and is then given up, so that Run
// always returns. The error is an [ExitError] for a program that ended badly; for
// one that was stopped it wraps the context's cause, and [ErrStuck] for one that
// did not end.
func (p Program) Run(ctx context.Context) error {
	p.Name, p.KillAfter = cmp.Or(p.Name, filepath.Base(p.Path)), cmp.Or(p.KillAfter, killAfter)
	var group atomic.Int64 // the process group, once it was told to end
	err := giveUp(ctx, p.KillAfter+settle, func() error { return p.run(ctx, &group) })
	if id := int(group.Load()); id > 0 { // what the program itself had started must not stay
		_ = syscall.Kill(-id, syscall.SIGKILL)
	}
	if errors.Is(err, ErrStuck) {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return err
}

func (p Program) run(ctx context.Context, group *atomic.Int64) error {
	var last tail
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Args[0] = filepath.Base(p.Path)
	cmd.Env, cmd.Dir = p.Env, "/"
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, io.Writer(&last)
	switch {
	case p.Both:
		both := io.MultiWriter(&last, p.Stdout)
		cmd.Stdout, cmd.Stderr = both, both
	case p.Stderr != nil:
		cmd.Stderr = io.MultiWriter(&last, p.Stderr)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if root := filepath.Clean(cmp.Or(p.Root, "/")); root != "/" {
		cmd.SysProcAttr.Chroot = root
	}
	cmd.Cancel = func() error {
		group.Store(int64(cmd.Process.Pid))
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	cmd.WaitDelay = p.KillAfter
	return p.ended(ctx, cmd.Run(), last.text())
}

// ended turns the end of a program into the errors of [Program.Run].
func (p Program) ended(ctx context.Context, err error, last string) error {
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", p.Name, context.Cause(ctx))
	case exited:
		return &ExitError{Name: p.Name, Code: exit.ExitCode(), Last: last}
	default:
		return fmt.Errorf("%s: %w", p.Name, err)
	}
}

// tail keeps the end of what is written.
type tail struct{ kept []byte }

const keptTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - keptTail; extra > 0 {
		t.kept = slices.Delete(t.kept, 0, extra)
	}
	return len(p), nil
}

// text is the last line.
func (t *tail) text() string {
	return strings.ToValidUTF8(lastLine(string(bytes.TrimSpace(t.kept))), "\uFFFD")
}
