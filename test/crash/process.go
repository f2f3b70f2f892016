package crash

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
)

// Supervisor keeps a controller running behind a gate.
type Supervisor struct {
	Gate *Gate
	// Command makes the process; it is called for each start. SysProcAttr is the
	// supervisor's.
	Command func() *exec.Cmd
}

// Run starts the controller, and again each time that the gate killed it, until
// ctx ends. An end that nobody asked for is an error.
func (s *Supervisor) Run(ctx context.Context) error {
	// The parent-death signal, which leaves nothing behind if this process dies, is
	// tied to the thread that started the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer context.AfterFunc(ctx, func() { s.Gate.down() })()
	for ctx.Err() == nil {
		cmd := s.Command()
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err := s.Gate.up(func() (func(), error) {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return func() { _ = cmd.Process.Kill() }, cmd.Start() // one that is gone needs no kill
		})
		if err != nil {
			return fmt.Errorf("start the controller: %w", errors.Join(err, ctx.Err()))
		}
		err = cmd.Wait()
		if s.Gate.down() {
			return fmt.Errorf("the controller ended by itself: %w", err)
		}
	}
	return context.Cause(ctx)
}
