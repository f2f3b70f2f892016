package standin

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/test/spawn"
)

// drainTime is how long the last output of an ended process may take to arrive.
const drainTime = 500 * time.Millisecond

// process is one running command of a unit, in a process group of its own.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	output chan struct{} // closed when all output was read
}

// startProcess starts the command on the thread; each line of its output goes to log.
func startProcess(thread *spawn.Thread, path string, argv, env []string, dir string, log func(string)) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	cmd := &exec.Cmd{
		Path: path, Args: argv, Env: env, Dir: dir, Stdout: w, Stderr: w,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	}
	if err := thread.Do(cmd.Start); err != nil {
		_ = r.Close()
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{}), output: make(chan struct{})}
	go func() {
		defer close(p.output)
		defer r.Close()
		copyLines(r, log)
	}()
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // the end is read from ProcessState
	}()
	return p, nil
}

// copyLines hands each line to log; a line longer than the buffer comes in pieces.
func copyLines(r io.Reader, log func(string)) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		log(string(line))
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// signal sends to the whole process group.
func (p *process) signal(sig syscall.Signal) { _ = syscall.Kill(-p.pid(), sig) }

// reap kills what is left of the group and waits briefly for its last output.
func (p *process) reap() {
	p.signal(syscall.SIGKILL)
	select {
	case <-p.output:
	case <-time.After(drainTime):
	}
}

// end is how a command or a whole run of the unit ended, in systemd's words.
type end struct {
	result string
	// code is a CLD_ code, 0 when there was no main process.
	code   int
	status int
}

// Words of Service.Result and CLD_ codes that the stand-in can produce.
const (
	resultSuccess   = "success"
	resultExitCode  = "exit-code"
	resultSignal    = "signal"
	resultCore      = "core-dump"
	resultTimeout   = "timeout"
	resultProtocol  = "protocol"
	resultStart     = "start-limit-hit"
	resultResources = "resources"

	exitedCode = 1
	killedCode = 2
	dumpedCode = 3

	// statusExec is what systemd reports for a program that it cannot execute.
	statusExec = 203
)

// cleanSignals end a daemon cleanly.
var cleanSignals = []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}

// end must be called after exited was closed. Death by SIGHUP, SIGINT, SIGTERM
// or SIGPIPE is a clean end of a daemon, not of a command that must succeed.
func (p *process) end(cleanStatus func(int) bool, daemon bool) end {
	ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		return end{result: resultResources}
	case ws.CoreDump():
		return end{resultCore, dumpedCode, int(ws.Signal())}
	case ws.Signaled():
		if daemon && slices.Contains(cleanSignals, ws.Signal()) {
			return end{resultSuccess, killedCode, int(ws.Signal())}
		}
		return end{resultSignal, killedCode, int(ws.Signal())}
	case cleanStatus(ws.ExitStatus()):
		return end{resultSuccess, exitedCode, ws.ExitStatus()}
	default:
		return end{resultExitCode, exitedCode, ws.ExitStatus()}
	}
}
