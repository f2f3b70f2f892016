package openshiftinstall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of one run. Those of memory and files are of each process.
type Limits struct {
	// CPU is the time that a process may compute.
	CPU time.Duration
	// Memory is how much a process may write to, in bytes.
	Memory uint64
	// File is the size of the largest file that a process may write, in bytes.
	File uint64
	// Wall is how long the whole run may take.
	Wall time.Duration
}

// orDefaults fills in what is not given: several times what openshift-install needs.
func (l Limits) orDefaults() Limits {
	if l.CPU <= 0 {
		l.CPU = 5 * time.Minute
	}
	if l.Memory == 0 {
		l.Memory = 4 << 30
	}
	if l.File == 0 {
		l.File = 1 << 30
	}
	if l.Wall <= 0 {
		l.Wall = 10 * time.Minute
	}
	return l
}

// apply limits a process, and what it starts from then on. The memory is that which it
// can write to (RLIMIT_DATA): Go reserves far more addresses than it uses.
func (l Limits) apply(pid int) error {
	seconds := uint64((l.CPU + time.Second - 1) / time.Second)
	for resource, limit := range map[int]unix.Rlimit{
		unix.RLIMIT_CPU:   {Cur: seconds, Max: seconds + 1},
		unix.RLIMIT_DATA:  {Cur: l.Memory, Max: l.Memory},
		unix.RLIMIT_FSIZE: {Cur: l.File, Max: l.File},
		unix.RLIMIT_CORE:  {}, // its memory is full of secrets
	} {
		if err := unix.Prlimit(pid, resource, &limit, nil); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("limit the program: %w", err)
		}
	}
	return nil
}

// drain is how long output is waited for after the program's end; what still holds its
// pipe then is killed.
const drain = 2 * time.Second

// errWall is the cause of a run that took too long.
var errWall = errors.New("it took too long")

// Failure is the error of a program that did not do what it was run for.
type Failure struct { //nolint:errname // what it says, as in refusal
	// Command is its command line without the folder.
	Command string
	// Reason is how it ended.
	Reason string
	// Last are the last lines that it wrote, without secrets.
	Last []string
	// Next is what a person can do.
	Next string
	// Err is the context's cause for a run that was stopped; else nil.
	Err error
}

// Error says all of it.
func (f *Failure) Error() string {
	text := fmt.Sprintf("openshift-install %s: %s", f.Command, f.Reason)
	if len(f.Last) > 0 {
		text += "; its last lines: " + strings.Join(f.Last, " | ")
	}
	return text + "; " + f.Next
}

// Unwrap returns the cause of the stop.
func (f *Failure) Unwrap() error { return f.Err }

// command runs the program once in the folder of the run. None of its processes is left
// when it returns.
func (s *Source) command(ctx context.Context, dir *folder, j *job, args ...string) error {
	out := &lines{secrets: j.secrets, tell: func(line string) {
		if s.Output != nil {
			s.Output(j.cluster, line)
		}
	}}
	path, err := filepath.Abs(s.Program)
	if err != nil {
		return fmt.Errorf("openshift-install: %w", err)
	}
	cmd := exec.CommandContext(ctx, path, append(args, "--dir="+filepath.Join(dir.path, assetsFolder), "--log-level=info")...)
	cmd.Env, cmd.Dir = s.environment(dir, j), dir.path
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = io.Writer(out), io.Writer(out), drain
	err = s.wait(cmd)
	out.end()
	if err == nil {
		return nil
	}
	f := &Failure{Command: strings.Join(args, " "), Last: out.last}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(context.Cause(ctx), errWall):
		f.Reason = fmt.Sprintf("it was killed after %s", s.Limits.Wall)
		f.Next = "see in its output what it waited for, such as a registry that does not answer; then install again, or allow it more time"
	case ctx.Err() != nil:
		f.Reason, f.Err = "it was called off", context.Cause(ctx)
		f.Next = "nothing of it is left; install again when it is wanted"
	case exited:
		f.Reason, f.Next = s.ended(exit)
	default:
		f.Reason, f.Next = j.secrets.clean(err.Error()), "check that it is a program for this machine, and that the hub may execute it"
	}
	return f
}

// ended says how the program ended, and what can be done about it.
func (s *Source) ended(exit *exec.ExitError) (reason, next string) {
	status, ok := exit.Sys().(syscall.WaitStatus)
	switch {
	case ok && status.Signaled() && (status.Signal() == syscall.SIGXCPU || status.Signal() == syscall.SIGKILL && exit.UserTime()+exit.SystemTime() >= s.Limits.CPU):
		return fmt.Sprintf("it computed for longer than %s and was killed", s.Limits.CPU), "allow it more CPU time, or see in its output what it did"
	case ok && status.Signaled() && status.Signal() == syscall.SIGXFSZ:
		return fmt.Sprintf("it wrote a file of more than %d MiB and was killed", s.Limits.File>>20), "check that the program is openshift-install"
	case ok && status.Signaled():
		return fmt.Sprintf("it was killed by the signal %s", status.Signal()),
			fmt.Sprintf("check the machine's memory, and that %d MiB are enough for it", s.Limits.Memory>>20)
	}
	return fmt.Sprintf("exit status %d", exit.ExitCode()), "correct what it says in the cluster's settings or manifests, and install again"
}

// wait starts the program in a process group of its own, and returns when nothing of
// the group is left to run. Should the hub be killed, the program goes with it: the
// kernel ties that to the thread that started it, which is therefore kept.
func (s *Source) wait(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	kill := func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
		return nil
	}
	cmd.Cancel = kill
	if err := cmd.Start(); err != nil {
		return err
	}
	limited := s.Limits.apply(cmd.Process.Pid)
	if limited != nil {
		_ = kill() // it must not run without limits
	}
	err := cmd.Wait()
	_ = kill() // what it started itself must not stay
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it ended well; something of it, which is killed now, still held its output
	}
	return errors.Join(limited, err)
}

// environment is the whole one of the program: nothing of the hub's own gets to it.
func (s *Source) environment(dir *folder, j *job) []string {
	env := []string{"HOME=" + filepath.Join(dir.path, homeFolder), "TMPDIR=" + filepath.Join(dir.path, tempFolder)}
	for _, v := range []struct{ name, value string }{
		{"OPENSHIFT_INSTALL_RELEASE_IMAGE_OVERRIDE", j.release},
		{"OPENSHIFT_INSTALL_INVOKER", s.Invoker},
		{"HTTP_PROXY", s.Proxy.HTTP},
		{"HTTPS_PROXY", s.Proxy.HTTPS},
		{"NO_PROXY", s.Proxy.No},
		{"http_proxy", s.Proxy.HTTP},
		{"https_proxy", s.Proxy.HTTPS},
		{"no_proxy", s.Proxy.No},
	} {
		if v.value != "" {
			env = append(env, v.name+"="+v.value)
		}
	}
	return env
}
