package host

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/spawn"
)

// maxLine is the longest line of output that is handed on, in bytes.
const maxLine = 1 << 20

// lastOutput is how long output may still come after a program's end, from
// what it left behind.
const lastOutput = time.Second

// Starter starts the programs of machines.
type Starter struct{ thread *spawn.Thread }

// NewStarter returns a Starter; Close ends it.
func NewStarter() *Starter { return &Starter{spawn.NewThread()} }

// Close lets no new process start, and the kernel ends the running ones.
func (s *Starter) Close() { s.thread.Close() }

// Command is a program of a machine.
type Command struct {
	// Path is the program's file.
	Path string
	Args []string
	// Env is added to the machine's own environment (PATH, LANG, IRONFLOW_ROOT).
	Env []string
	// Stdin is what the program reads.
	Stdin []byte
	// Line takes each line of standard output, in order. Nil: discarded.
	Line func(line []byte)
	// Log takes standard error. Nil: discarded.
	Log io.Writer
}

// Run runs the program in the machine whose root directory is root, to its end
// or the context's, which kills it with its process group. The error is nil,
// the context's cause, or an [*exec.ExitError] among others.
func (s *Starter) Run(ctx context.Context, root string, c Command) error {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env = append([]string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", hostfile.RootEnv + "=" + root,
	}, c.Env...)
	cmd.Dir = root
	cmd.Stdin = bytes.NewReader(c.Stdin)
	cmd.Stderr = c.Log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = lastOutput
	reader, writer := io.Pipe()
	cmd.Stdout = writer
	read := make(chan struct{})
	go func() {
		defer close(read)
		eachLine(reader, c.Line)
	}()
	err := s.thread.Do(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	_ = writer.Close() // a pipe in memory: there is nothing to lose
	<-read
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// eachLine hands on each line of at most [maxLine] bytes. A longer one is left
// out: the program must not block, and what comes behind it counts.
func eachLine(r io.Reader, take func([]byte)) {
	lines := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	for {
		part, more, err := lines.ReadLine()
		if err != nil {
			return
		}
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		if more {
			continue
		}
		if take != nil && len(line) <= maxLine {
			take(line)
		}
		line = line[:0]
	}
}

// KillAll ends every process that runs in the root directory, or in one below
// it, whoever started it: they carry their root in the environment. It returns
// when none is left.
func KillAll(ctx context.Context, root string) {
	for {
		found := Processes(root)
		if len(found) == 0 || ctx.Err() != nil {
			return
		}
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already is fine
		}
		// The kernel ends them in a moment and tells only their parents.
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
}

// Processes lists the living processes that run in the root directory or in one
// below it.
func Processes(root string) []int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var pids []int
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil || !runsIn(raw, root) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// runsIn looks for the root in an environment block. A zombie's is empty.
func runsIn(environ []byte, root string) bool {
	for entry := range bytes.SplitSeq(environ, []byte{0}) {
		its, ok := strings.CutPrefix(string(entry), hostfile.RootEnv+"=")
		if ok && (its == root || strings.HasPrefix(its, strings.TrimSuffix(root, "/")+"/")) {
			return true
		}
	}
	return false
}
