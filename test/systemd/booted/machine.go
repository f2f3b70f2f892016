// Package booted starts a real systemd as process 1 of its own namespaces, from a Debian root
// file system (made once with mmdebstrap and cached): a host without a machine, for tests
// (package systemdtest) and for people to watch. It needs root on Linux with cgroup v2. The
// main type is [Machine].
package booted

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

//go:embed boot.sh
var bootScript string

// BootTime bounds the start of systemd up to its bus.
const BootTime = 5 * time.Minute

// Machine is a booted systemd. Its files are reached below Host.Root, its network is loopback
// only until cards are put into [Machine.Network].
type Machine struct {
	Host hostfile.Dir
	// BootID is what the machine reads as its kernel's boot id.
	BootID string
	// PID is its first process, as this computer knows it.
	PID int

	// group is its cgroup.
	group string
	// inside is where the machine's root lies in its own mount namespace, whose
	// root is still that of this computer.
	inside string
	kill   func()
}

// Boot starts a systemd on a root file system, which stays as it is (see [Rootfs]); dir is an
// empty folder of the machine's. It ends with [Machine.Close], or with this process.
func Boot(ctx context.Context, root, dir string) (*Machine, error) {
	id, bootID, mountPoint := uuid.NewString(), filepath.Join(dir, "boot_id"), filepath.Join(dir, "machine")
	if err := errors.Join(os.WriteFile(bootID, []byte(id+"\n"), 0o644), os.Mkdir(mountPoint, 0o755)); err != nil {
		return nil, err
	}
	console, err := os.Create(filepath.Join(dir, "console"))
	if err != nil {
		return nil, err
	}
	defer console.Close()
	group, err := os.MkdirTemp(Cgroup2(), "ironflow-test-")
	if err != nil {
		return nil, err
	}
	// The cgroup namespace must be made inside the cgroup, hence by the child.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "unshare", "--cgroup", "sh", "-c", bootScript, "boot", root, mountPoint, bootID)
	cmd.Stdout, cmd.Stderr = console, console
	m, err := Launch(cmd, group)
	if err != nil {
		return nil, errors.Join(err, os.Remove(group))
	}
	m.BootID, m.inside = id, filepath.Join(mountPoint, "root")
	if err := m.awaitBus(ctx); err != nil {
		raw, _ := os.ReadFile(console.Name())
		return nil, errors.Join(fmt.Errorf("systemd did not come up: %w\n%s", err, raw), m.Close())
	}
	return m, nil
}

// Launch runs process 1 of a machine in its namespaces and cgroup. It dies with this process:
// the parent-death signal belongs to the thread that forks, which therefore waits for the child.
func Launch(cmd *exec.Cmd, group string) (*Machine, error) {
	fd, err := unix.Open(group, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET,
		Pdeathsig:   syscall.SIGKILL,
		UseCgroupFD: true,
		CgroupFD:    fd,
	}
	started, ended := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // it is killed
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return &Machine{
		PID: cmd.Process.Pid, Host: hostfile.Dir{Root: fmt.Sprintf("/proc/%d/root", cmd.Process.Pid)}, group: group,
		kill: sync.OnceFunc(func() {
			_ = cmd.Process.Kill() // takes the whole pid namespace along
			<-ended
		}),
	}, nil
}

// Kill ends the machine at once, as the loss of its power would.
func (m *Machine) Kill() { m.kill() }

// Close ends the machine, and removes what is left of it.
func (m *Machine) Close() error {
	m.kill()
	return RemoveCgroup(m.group)
}

// Beside returns the command line, to be followed by a program's, that runs the
// program in the machine's mount namespace but with this computer's root, and
// where the machine's root lies there: what a container engine on the machine
// starts from.
func (m *Machine) Beside() (command []string, root string) {
	return []string{"nsenter", "--target", fmt.Sprint(m.PID), "--mount", "--"}, m.inside
}

// Command is a program inside the machine.
func (m *Machine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	args = append([]string{"--target", fmt.Sprint(m.PID), "--all", "--root", "--wd", "--", name}, args...)
	cmd := exec.CommandContext(ctx, "nsenter", args...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	return cmd
}

// Run runs a program inside the machine and returns its output.
func (m *Machine) Run(ctx context.Context, name string, args ...string) (string, error) {
	out, err := m.Command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), nil
}

// Bus is the D-Bus address of the machine's system bus.
func (m *Machine) Bus() string {
	return "unix:path=" + m.Host.Path("/run/dbus/system_bus_socket")
}

// awaitBus waits until systemd answers on its bus and has finished booting.
func (m *Machine) awaitBus(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, BootTime)
	defer done()
	for {
		out, err := m.Command(ctx, "systemctl", "is-system-running").CombinedOutput()
		state := strings.TrimSpace(string(out))
		if state == "running" || state == "degraded" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %s: %w", ctx.Err(), state, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
