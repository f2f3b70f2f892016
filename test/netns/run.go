package netns

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/test/guest"
)

// Environment of a test binary that runs as a program inside a host.
const (
	envProgram    = "IRONFLOW_NETNS_PROGRAM"
	envResolvConf = "IRONFLOW_NETNS_RESOLV_CONF"
	envRoot       = "IRONFLOW_NETNS_ROOT"
)

// Program is what a test binary does inside a host, in a process of its own
// with a private mount namespace whose /sys shows the host's interfaces. It ends
// when the context ends, which is at SIGTERM.
type Program func(ctx context.Context, args []string, stdout io.Writer) error

// Main runs the package's tests, or, in a process that [Host.Run] or
// [Host.Start] made, the program. A package that uses programs has
//
//	func TestMain(m *testing.M) { netns.Main(m, map[string]netns.Program{…}) }
//
// The programs "step" (see [Host.Step]) and "exec" are always there. As the first process of a
// guest, Main does what package guest says.
func Main(m *testing.M, programs map[string]Program) {
	if guest.IsInit() {
		guest.Init()
		return
	}
	name := os.Getenv(envProgram)
	if name == "" {
		os.Exit(m.Run())
	}
	if err := runProgram(name, programs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func runProgram(name string, programs map[string]Program) error {
	program, ok := programs[name]
	switch name {
	case stepProgram:
		program, ok = step, true
	case execProgram:
		program, ok = become, true
	}
	if !ok {
		return fmt.Errorf("there is no program %q in this test binary", name)
	}
	if err := privateMounts(); err != nil {
		return err
	}
	ctx, stop := signalled()
	defer stop()
	return program(ctx, os.Args[1:], os.Stdout)
}

// execProgram becomes another program, which sees what a program of the host sees.
const execProgram = "exec"

func become(_ context.Context, args []string, _ io.Writer) error {
	return syscall.Exec(args[0], args, os.Environ()) //nolint:gosec // a test says what to run
}

// privateMounts shows the program the host's interfaces in /sys, and its own
// resolver configuration if there is one.
func privateMounts() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return fmt.Errorf("mount sysfs: %w", err)
	}
	if file := os.Getenv(envResolvConf); file != "" {
		if err := unix.Mount(file, "/etc/resolv.conf", "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mount %s as /etc/resolv.conf: %w", file, err)
		}
	}
	return nil
}

// Do calls f inside the host, on a thread of its own. Sockets that f opens stay
// inside; goroutines that it starts are outside.
func (h *Host) Do(f func() error) error { return onThread(h.handle, f) }

// Options of a program inside a host.
type Options struct {
	// ResolvConf is a file that the program sees as /etc/resolv.conf; empty means what
	// the topology says.
	ResolvConf string
	// Stdin is what it reads.
	Stdin io.Reader
}

// Run runs a program of this test binary inside the host and returns what it
// printed. The error holds what it wrote to its standard error.
func (h *Host) Run(o Options, program string, args ...string) (string, error) {
	cmd, err := h.program(o, program, args)
	if err != nil {
		return "", err
	}
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := h.start(cmd); err != nil {
		return "", err
	}
	if err := cmd.Wait(); err != nil {
		return out.String(), errors.Join(fmt.Errorf("program %s in host %s: %w", program, h.Name, err), errors.New(errOut.String()))
	}
	return out.String(), nil
}

// StartProgram starts a program of this test binary inside the host. It gets a
// SIGTERM when the test ends.
func (h *Host) StartProgram(o Options, program string, args ...string) (*exec.Cmd, error) {
	cmd, err := h.program(o, program, args)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = h.t.Output(), h.t.Output()
	return cmd, h.Start(cmd)
}

// Start starts any command inside the host and ends it with the test.
func (h *Host) Start(cmd *exec.Cmd) error {
	if err := h.start(cmd); err != nil {
		return err
	}
	h.t.Cleanup(func() {
		// Both fail only for a process that has ended, which is what is wanted.
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return nil
}

// start starts the command on a thread that is inside: children inherit it.
func (h *Host) start(cmd *exec.Cmd) error {
	return onThread(h.handle, cmd.Start)
}

func (h *Host) program(o Options, name string, args []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...) //nolint:noctx // the context of a test ends before its clean-up, which ends the process by a signal
	cmd.Env = append(os.Environ(), envProgram+"="+name, envResolvConf+"="+cmp.Or(o.ResolvConf, h.resolvConf), envRoot+"="+h.Root)
	cmd.Stdin = o.Stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	return cmd, nil
}
