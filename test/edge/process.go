package edge

import (
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/hostfile"
)

// process is a program that runs on a host.
type process struct {
	command *exec.Cmd
	log     string
	ended   chan struct{}
}

func newProcess(path string, args []string, dir hostfile.Dir, env map[string]string, log *os.File) *process {
	p := &process{command: exec.Command(path, args...), log: log.Name(), ended: make(chan struct{})} //nolint:noctx // the thread that starts it ends it
	p.command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir.Root, hostfile.RootEnv + "=" + dir.Root, "INVOCATION_ID=" + strings.ReplaceAll(uuid.NewString(), "-", ""),
	}
	for name, value := range env {
		p.command.Env = append(p.command.Env, name+"="+value)
	}
	p.command.Stdout, p.command.Stderr = log, log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p
}

// begin starts it.
func (p *process) begin() error {
	if err := p.command.Start(); err != nil {
		return err
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // its state says how it ended
	}()
	return nil
}

// tail is the end of what it said.
func (p *process) tail() string {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(raw[max(0, len(raw)-2000):])
}
