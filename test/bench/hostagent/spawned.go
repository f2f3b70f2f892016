package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Events of the kernel's ptrace interface (linux/ptrace.h).
const (
	eventFork, eventVfork, eventClone, eventExec = 1, 2, 3, 4
	traceExitKill                                = 1 << 20
	traceAll                                     = syscall.PTRACE_O_TRACEFORK | syscall.PTRACE_O_TRACEVFORK | syscall.PTRACE_O_TRACECLONE | syscall.PTRACE_O_TRACEEXEC | traceExitKill
)

// spawned runs the program under ptrace and counts the processes that it, and
// whatever it starts, starts: the kernel tells of every fork. Threads do not count.
func spawned(program string, args ...string) (int, error) {
	// All requests of a tracer must come from one thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	command := exec.Command(program, args...) //nolint:noctx // the tracer waits for it
	command.Stdin, command.Stdout, command.Stderr = null, null, null
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := command.Start(); err != nil {
		return 0, err
	}
	first := command.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(first, &status, syscall.WALL, nil); err != nil {
		return 0, err
	}
	if err := errors.Join(syscall.PtraceSetOptions(first, traceAll), syscall.PtraceCont(first, 0)); err != nil {
		return 0, err
	}
	count, threads := 0, 0
	for {
		pid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			fmt.Printf("processes started by one inventory: %d (and %d threads)\n", count, threads)
			return count, nil
		case err != nil:
			return 0, err
		case pid == first && status.Exited() && status.ExitStatus() != 0:
			return 0, fmt.Errorf("under ptrace, %s ended with %d", program, status.ExitStatus())
		case !status.Stopped():
			continue
		}
		switch status.TrapCause() {
		case eventFork, eventVfork:
			count++
		case eventClone:
			threads++
		}
		if err := syscall.PtraceCont(pid, pass(status)); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, err
		}
	}
}

// pass is the signal that a stopped thread gets after all: its own, but not those of the tracing.
func pass(status syscall.WaitStatus) int {
	switch s := status.StopSignal(); s {
	case syscall.SIGTRAP, syscall.SIGSTOP:
		return 0
	default:
		return int(s)
	}
}
