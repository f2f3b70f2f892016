package systemdtest

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

//go:embed boot.sh
var bootScript string

// bootTime bounds the start of systemd up to its bus.
const bootTime = 5 * time.Minute

// Machine is a booted systemd. Its files are reached below Host.Root, its
// network is loopback only until cards are put into [Machine.Network].
type Machine struct {
	Host hostfile.Dir
	// BootID is what the machine reads as its kernel's boot id.
	BootID string
	pid    int
	// inside is where the machine's root lies in its own mount namespace, whose
	// root is still that of this computer.
	inside string
	kill   func()
}

// Need skips the test where no systemd can be booted, and says why. What takes
// long the first time is done here, before the test's own clocks run.
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a real systemd is no unit test")
	}
	if os.Geteuid() != 0 {
		missing(t, "a real systemd needs root: run this test as root")
	}
	if cgroup2() == "" {
		missing(t, "a real systemd needs cgroup v2 mounted below /sys/fs/cgroup")
	}
	rootfs(t, packages)
}

// Boot starts a systemd that ends with the test, or with [Machine.Kill].
func Boot(t testing.TB) *Machine {
	t.Helper()
	return boot(t, packages)
}

// BootWithUdev starts one with a real udevd, which hears of the kernel's events as that of this
// computer does: the kernel tells each network namespace. It has the devices whose nodes somebody
// makes in the machine, see [Machine.Plug], and changes nothing of this computer.
func BootWithUdev(t testing.TB) *Machine {
	t.Helper()
	m := boot(t, packagesWithUdev)
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := m.Command(context.WithoutCancel(t.Context()), "journalctl", "--no-pager", "--lines", "40", "--unit", "systemd-udevd.service").CombinedOutput()
			t.Logf("udevd: %s", out)
		}
	})
	return m
}

// Plug gives a machine with udev a block device of this computer, and has the kernel say that it
// is there, as it does when the device appears.
func (m *Machine) Plug(t testing.TB, device string) {
	t.Helper()
	var node unix.Stat_t
	err := unix.Stat(device, &node)
	if err == nil {
		err = unix.Mknod(m.Host.Path(device), unix.S_IFBLK|0o660, int(node.Rdev)) //nolint:gosec // a number of a device
	}
	if err == nil {
		err = os.WriteFile(filepath.Join("/sys/class/block", filepath.Base(device), "uevent"), []byte("add"), 0)
	}
	if err != nil {
		t.Fatalf("plug %s into the machine: %v", device, err)
	}
}

func boot(t testing.TB, packages string) *Machine {
	t.Helper()
	Need(t)
	dir, cgroups := rootfs(t, packages), cgroup2()
	m := &Machine{BootID: uuid.NewString()}
	scratch := t.TempDir()
	bootID := filepath.Join(scratch, "boot_id")
	mountPoint := filepath.Join(scratch, "machine")
	if err := errors.Join(os.WriteFile(bootID, []byte(m.BootID+"\n"), 0o644), os.Mkdir(mountPoint, 0o755)); err != nil {
		t.Fatal(err)
	}
	group, err := os.MkdirTemp(cgroups, "ironflow-test-") //nolint:usetesting // a cgroup, not a folder for files
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeCgroup(t, group) })
	console, err := os.Create(filepath.Join(scratch, "console"))
	if err != nil {
		t.Fatal(err)
	}
	defer console.Close()
	// The cgroup namespace must be made inside the cgroup, hence by the child.
	cmd := exec.CommandContext(context.Background(), "unshare", "--cgroup", "sh", "-c", bootScript, "boot", dir, mountPoint, bootID)
	cmd.Stdout, cmd.Stderr = console, console
	m.kill = start(t, cmd, group)
	m.pid, m.inside = cmd.Process.Pid, filepath.Join(mountPoint, "root")
	m.Host = hostfile.Dir{Root: fmt.Sprintf("/proc/%d/root", m.pid)}
	if err := m.awaitBus(t.Context()); err != nil {
		raw, _ := os.ReadFile(console.Name())
		t.Fatalf("systemd did not come up: %v\n%s", err, raw)
	}
	return m
}

// start runs process 1 in its namespaces and cgroup. It dies with this process:
// the parent-death signal belongs to the thread that forks, which therefore
// waits for the child. The returned function ends it and may be called again.
func start(t testing.TB, cmd *exec.Cmd, group string) (kill func()) {
	t.Helper()
	fd, err := unix.Open(group, unix.O_DIRECTORY|unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
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
			_ = cmd.Wait() // killed at the end of the test
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // takes the whole pid namespace along
		<-ended
	})
	t.Cleanup(kill)
	return kill
}

// Kill ends the machine at once, as the loss of its power would.
func (m *Machine) Kill() { m.kill() }

// Freeze stops process 1 (SIGSTOP): systemd answers nothing, and no connection
// breaks. It goes on with Thaw, or at the end of the test.
func (m *Machine) Freeze(t testing.TB) {
	t.Helper()
	t.Cleanup(m.Thaw)
	if err := unix.Kill(m.pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// Thaw lets process 1 go on; one that was not stopped goes on anyway.
func (m *Machine) Thaw() { _ = unix.Kill(m.pid, unix.SIGCONT) }

// Beside returns the command line, to be followed by a program's, that runs the
// program in the machine's mount namespace but with this computer's root, and
// where the machine's root lies there: what a container engine on the machine
// starts from.
func (m *Machine) Beside() (command []string, root string) {
	return []string{"nsenter", "--target", fmt.Sprint(m.pid), "--mount", "--"}, m.inside
}

// awaitBus waits until systemd answers on its bus and has finished booting.
func (m *Machine) awaitBus(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, bootTime)
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

// Units connects to the machine's systemd over its bus.
func (m *Machine) Units(testing.TB) *sdbus.Manager { return sdbus.New(m.Bus(), m.Host) }

// Bus is the D-Bus address of the machine's system bus.
func (m *Machine) Bus() string {
	return "unix:path=" + m.Host.Path("/run/dbus/system_bus_socket")
}

// Listen opens a loopback listener inside the machine's network, served by the test.
func (m *Machine) Listen(t testing.TB) net.Listener {
	t.Helper()
	return m.ListenAt(t, "127.0.0.1:0")
}

// ListenAt is [Machine.Listen] at an address that the machine has, host and port.
func (m *Machine) ListenAt(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := within(m.Network(), func() (net.Listener, error) { return new(net.ListenConfig).Listen(t.Context(), "tcp", address) })
	if err != nil {
		t.Fatalf("listen inside the machine: %v", err)
	}
	return l
}

// Run runs a program inside the machine and returns its output; it must succeed.
func (m *Machine) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := m.Command(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Command is a program inside the machine, for [Machine.Run] where that is not enough.
func (m *Machine) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	args = append([]string{"--target", fmt.Sprint(m.pid), "--all", "--root", "--wd", "--", name}, args...)
	cmd := exec.CommandContext(ctx, "nsenter", args...)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"}
	return cmd
}

// cgroup2 finds the version 2 hierarchy, alone or beside version 1.
func cgroup2() string {
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC {
			return dir
		}
	}
	return ""
}

// removeCgroup removes the machine's cgroups, the inner ones first.
func removeCgroup(t testing.TB, group string) {
	deadline := time.Now().Add(10 * time.Second)
	for {
		var dirs []string
		_ = filepath.WalkDir(group, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for i := len(dirs) - 1; i >= 0; i-- {
			_ = os.Remove(dirs[i])
		}
		if _, err := os.Stat(group); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("the cgroup %s cannot be removed", group)
			return
		}
		runtime.Gosched()
	}
}
