package guard

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// marker is the environment variable that turns a process into a guard. Its
	// value is the program and its arguments as a JSON list. It is removed from
	// the program's environment.
	marker = "IRONFLOW_LAB_GUARD"
	// lifeline is the file descriptor of the pipe that ends with the caller.
	lifeline = 3
	// signalBase plus a signal's number is the guard's exit status for a program
	// that was killed, as a shell has it.
	signalBase = 128
	// notStarted is the guard's exit status when the program did not start.
	notStarted = 127
)

// init turns the copy that Start has started into a guard. It has to be an init
// function: the copy may be a test binary, whose main is not ours.
func init() {
	order, ok := os.LookupEnv(marker)
	if !ok {
		return
	}
	_ = os.Unsetenv(marker)
	os.Exit(run(order))
}

// run guards the ordered program and returns its exit status.
func run(order string) int {
	// A parent-death signal comes when the thread that started the child ends.
	runtime.LockOSThread()
	var argv []string
	if err := json.Unmarshal([]byte(order), &argv); err != nil || len(argv) == 0 {
		fmt.Fprintf(os.Stderr, "guard: no program in %s\n", marker)
		return notStarted
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintf(os.Stderr, "guard: become the parent of orphans: %v\n", err)
		return notStarted
	}
	unix.CloseOnExec(lifeline)
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)

	cmd := exec.Command(argv[0], argv[1:]...) //nolint:noctx // it lives as long as this process, which is its only parent
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	// Should somebody kill the guard itself, at least the program goes with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "guard: start %s: %v\n", argv[0], err)
		return notStarted
	}
	status := watch(cmd.Process.Pid, signals)
	killAll()
	return status
}

// watch passes signals on until the program or the caller has ended, and
// returns the exit status to report.
func watch(program int, signals <-chan os.Signal) int {
	ended := make(chan int, 1)
	go func() { ended <- reap(program) }()
	orphaned := make(chan struct{})
	go func() {
		defer close(orphaned)
		// Nothing is ever written: the read ends when the other end is closed.
		_, _ = os.NewFile(lifeline, "lifeline").Read(make([]byte, 1))
	}()
	for {
		select {
		case status := <-ended:
			return status
		case <-orphaned:
			return signalBase + int(syscall.SIGKILL)
		case s := <-signals:
			// An error means that the program has just ended.
			_ = syscall.Kill(program, s.(syscall.Signal))
		}
	}
}

// reap waits for children, adopted ones included, until the program has ended.
func reap(program int) int {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return notStarted
		case pid != program:
		case status.Signaled():
			return signalBase + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// killAll kills the descendants until none is left. Children of a killed
// process become the guard's own, so each round reaches one level further down
// and a process that forks faster than one round still loses to the next.
func killAll() {
	for {
		children := childrenOf(os.Getpid())
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return
			}
			if err == nil && pid == 0 {
				break
			}
		}
		// The kernel has still to end the killed ones; there is no event to wait for
		// besides the reaper's own, which may have taken it.
		time.Sleep(5 * time.Millisecond) //nolint:forbidigo // see above: there is nothing to wait on
	}
}
