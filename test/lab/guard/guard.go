// Package guard runs a program so that it, and everything that it starts, ends
// with the process that asked for it, also when that process is killed with
// SIGKILL or crashes.
//
// A parent-death signal alone does not do that: it is tied to a thread and does
// not reach grandchildren, and the lab's parts fork (Ironic runs its conductor
// in a worker). So a guard process stands in between. It is this same
// executable, started again: importing the package is enough, its init function
// takes over in the started copy, which therefore works in test binaries too.
// The guard is a child subreaper, so that orphans stay its children, and holds
// one end of a pipe whose other end lives and dies with the caller. When the
// pipe ends, or the program does, the guard kills all its descendants.
//
// [Start] is the main function. Linux only.
package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Command is a program to run under guard.
type Command struct {
	// Path is the program; without a slash it is looked up in PATH.
	Path string
	// Args are the arguments without the program's name.
	Args []string
	// Dir is the working directory; empty is the caller's.
	Dir string
	// Env is the whole environment; nil is the caller's.
	Env []string
	// Output receives standard output and standard error. It is a file, and not
	// a writer, so that the program never blocks or dies with the caller's
	// reader; nil discards.
	Output *os.File
}

// Process is a guarded program. Its methods may be called from any goroutine.
type Process struct {
	guard *exec.Cmd
	life  io.Closer
	end   sync.Once
	done  chan struct{}
	err   error
}

// self is this executable, even after its file was replaced or removed.
const self = "/proc/self/exe"

// Start starts the command under a guard of its own. The error says that the
// guard did not start; a program that cannot be executed shows as the
// process's end with a text in its output.
func Start(command Command) (*Process, error) {
	path, err := exec.LookPath(command.Path)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", command.Path, err)
	}
	order, err := json.Marshal(append([]string{path}, command.Args...))
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", command.Path, err)
	}
	reading, life, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", command.Path, err)
	}
	defer reading.Close()

	cmd := exec.Command(self) //nolint:noctx // Stop and Kill end it, and the end of this process
	cmd.Args = []string{"ironflow-lab guard: " + path}
	cmd.Dir = command.Dir
	cmd.Env = command.Env
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, marker+"="+string(order))
	if command.Output != nil {
		cmd.Stdout, cmd.Stderr = command.Output, command.Output
	}
	cmd.ExtraFiles = []*os.File{reading}
	// A session of its own keeps the terminal's Ctrl-C away: the caller decides
	// about the order in which the parts stop.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the guard of %q: %w", command.Path, err), life.Close())
	}
	p := &Process{guard: cmd, life: life, done: make(chan struct{})}
	go p.wait()
	return p, nil
}

// wait records the end of the guard, which is the end of all that it guarded.
func (p *Process) wait() {
	err := p.guard.Wait()
	p.closeLife()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() > signalBase {
		err = fmt.Errorf("killed by %s", syscall.Signal(exit.ExitCode()-signalBase))
	}
	p.err = err
	close(p.done)
}

// Done is closed when the program and all its descendants are gone.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is the reason of the end, nil for exit status 0. It is valid after Done.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// PID is the guard's process id. The program and what it starts are below it.
func (p *Process) PID() int { return p.guard.Process.Pid }

// Signal sends the signal to the program itself.
func (p *Process) Signal(signal os.Signal) error {
	if err := p.guard.Process.Signal(signal); err != nil {
		return fmt.Errorf("signal %s to %s: %w", signal, p.guard.Args[0], err)
	}
	return nil
}

// Stop asks the program to end with SIGTERM and kills whatever is left when
// the grace is over or the context ends. It returns when nothing is left.
func (p *Process) Stop(ctx context.Context, grace time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	// An error means that it has ended already.
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-ctx.Done():
		p.Kill()
	}
}

// Kill ends the program and all its descendants with SIGKILL, as a crash of
// the machine would, and returns when nothing is left.
func (p *Process) Kill() {
	p.closeLife()
	<-p.done
}

// closeLife ends the pipe that keeps the guard's program alive.
func (p *Process) closeLife() {
	p.end.Do(func() { _ = p.life.Close() })
}
