package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// janitorEnv is the environment variable that turns a process into a janitor;
// its value is the folder to keep clean.
const janitorEnv = "IRONFLOW_LAB_JANITOR"

// janitorPipe is the file descriptor that ends with the lab.
const janitorPipe = 3

// init turns the copy of this executable that [StartJanitor] starts into the
// janitor. It has to be an init function: the copy may be a test binary.
func init() {
	dir, ok := os.LookupEnv(janitorEnv)
	if !ok {
		return
	}
	// Nothing is ever written: the read ends when the lab does.
	_, _ = os.NewFile(janitorPipe, "lab").Read(make([]byte, 1))
	KillAll(context.Background(), dir)
	os.Exit(0)
}

// Janitor is a process beside the lab that ends whatever the machines left
// behind, once the lab has ended in any way. The signal that a child gets at its
// parent's death does not reach the children of children; this does.
type Janitor struct {
	cmd  *exec.Cmd
	pipe *os.File
	once sync.Once
	err  error
}

// StartJanitor starts the janitor for all machines whose root directories are
// below the folder. Close ends it after its work.
func StartJanitor(dir string) (*Janitor, error) {
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("janitor of the machines: %w", err)
	}
	defer reading.Close()
	cmd := exec.CommandContext(context.Background(), "/proc/self/exe")
	cmd.Args = []string{"ironflow-lab janitor: " + dir}
	cmd.Env = append(os.Environ(), janitorEnv+"="+dir)
	cmd.ExtraFiles = []*os.File{reading}
	// A session of its own keeps the terminal's Ctrl-C away from it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("janitor of the machines: %w", err), writing.Close())
	}
	return &Janitor{cmd: cmd, pipe: writing}, nil
}

// Close lets the janitor work now and waits for it.
func (j *Janitor) Close() error {
	j.once.Do(func() { j.err = errors.Join(j.pipe.Close(), j.cmd.Wait()) })
	return j.err
}
