package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// killAfter is how long a stopped program may take after SIGTERM: the protocol
// gives an installer that is stopped five seconds.
const killAfter = 5 * time.Second

// path is where programs are looked for, in this order.
var path = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// Host runs programs in the root directory of a host.
type Host struct {
	// Dir is the host's root; a program of another root than "/" runs in it by chroot.
	Dir hostfile.Dir
	// Log gets one line for each program, without its arguments' secrets: there are none.
	Log *slog.Logger
	// Started, if set, is told of every program that is started.
	Started func(c Command)
}

// Run implements [Runner].
func (h Host) Run(ctx context.Context, c Command) error {
	if !isAllowed(c.Name) {
		return fmt.Errorf("%s: %w", c.Name, ErrNotAllowed)
	}
	root := filepath.Clean(h.Dir.Path(cmp.Or(c.Root, "/")))
	program, err := find(root, c.Name)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.Name, context.Cause(ctx))
	}
	if h.Log != nil {
		h.Log.Debug("program started", "program", c.Name, "args", c.Args)
	}
	if h.Started != nil {
		h.Started(c)
	}
	var last lastLine
	cmd := exec.CommandContext(ctx, program, c.Args...)
	cmd.Args[0] = c.Name
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, io.Writer(&last)
	if c.Stderr != nil {
		cmd.Stderr = io.MultiWriter(&last, c.Stderr)
	}
	cmd.Env = append([]string{"PATH=" + strings.Join(path, ":"), "LANG=C.UTF-8"}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	cmd.Dir = "/"
	if root != "/" {
		cmd.SysProcAttr.Chroot = root
	}
	err = cmd.Run()
	if cmd.Process != nil && ctx.Err() != nil { // what the program itself had started must not stay
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return ended(ctx, c.Name, err, last.text())
}

// ended turns the end of a program into the errors of [Runner].
func ended(ctx context.Context, name string, err error, last string) error {
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", name, context.Cause(ctx))
	case exited:
		return &ExitError{Name: name, Code: exit.ExitCode(), Last: last}
	default:
		return fmt.Errorf("%s: %w", name, err)
	}
}

// find returns the program's path as seen from inside the root.
func find(root, name string) (string, error) {
	for _, folder := range path {
		file := filepath.Join(folder, name)
		info, err := os.Stat(filepath.Join(root, file))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, hostexec.ErrMissing)
}

// lastLine keeps the end of what is written.
type lastLine struct{ tail []byte }

const keptTail = 4 << 10

func (l *lastLine) Write(p []byte) (int, error) {
	l.tail = append(l.tail, p...)
	if extra := len(l.tail) - keptTail; extra > 0 {
		l.tail = slices.Delete(l.tail, 0, extra)
	}
	return len(p), nil
}

func (l *lastLine) text() string {
	text := bytes.TrimSpace(l.tail)
	text = text[bytes.LastIndexAny(text, "\r\n")+1:]
	return strings.ToValidUTF8(string(text), "�")
}
