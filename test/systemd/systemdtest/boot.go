package systemdtest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
	"github.com/ironflow/ironflow/test/systemd/booted"
)

// Machine is a booted systemd, see [booted.Machine], that ends with its test.
type Machine struct{ *booted.Machine }

// Need skips the test where no systemd can be booted, and says why. What takes
// long the first time is done here, before the test's own clocks run.
func Need(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("a real systemd is no unit test")
	}
	if lacks := booted.Lacks(); lacks != "" {
		missing(t, lacks+": run this test as root on Linux with cgroup v2")
	}
	rootfs(t, booted.Packages)
}

// missing skips the test with what to do, or fails it where nothing may be
// missing (environment CI=true).
func missing(t testing.TB, text string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(text)
	}
	t.Skip(text)
}

func rootfs(t testing.TB, packages string) string {
	t.Helper()
	dir, err := booted.Rootfs(t.Context(), packages, t.Logf)
	if errors.Is(err, booted.ErrNoTool) {
		missing(t, err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Boot starts a systemd that ends with the test, or with [booted.Machine.Kill].
func Boot(t testing.TB) *Machine {
	t.Helper()
	return boot(t, booted.Packages)
}

// BootWithUdev starts one with a real udevd, which hears of the kernel's events as that of this
// computer does: the kernel tells each network namespace. It has the devices whose nodes somebody
// makes in the machine, see [Machine.Plug], and changes nothing of this computer.
func BootWithUdev(t testing.TB) *Machine {
	t.Helper()
	m := boot(t, booted.PackagesWithUdev)
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
		err = unix.Mknod(m.Host.Path(device), unix.S_IFBLK|0o660, int(node.Rdev))
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
	m, err := booted.Boot(t.Context(), rootfs(t, packages), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return closes(t, m)
}

// closes ends the machine with the test.
func closes(t testing.TB, m *booted.Machine) *Machine {
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return &Machine{m}
}

// Freeze stops process 1 (SIGSTOP): systemd answers nothing, and no connection
// breaks. It goes on with Thaw, or at the end of the test.
func (m *Machine) Freeze(t testing.TB) {
	t.Helper()
	t.Cleanup(m.Thaw)
	if err := unix.Kill(m.PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

// Thaw lets process 1 go on; one that was not stopped goes on anyway.
func (m *Machine) Thaw() { _ = unix.Kill(m.PID, unix.SIGCONT) }

// Units connects to the machine's systemd over its bus.
func (m *Machine) Units(testing.TB) *sdbus.Manager { return sdbus.New(m.Bus(), m.Host) }

// Listen opens a loopback listener inside the machine's network, served by the test.
func (m *Machine) Listen(t testing.TB) net.Listener {
	t.Helper()
	return m.ListenAt(t, "127.0.0.1:0")
}

// ListenAt is [Machine.Listen] at an address that the machine has, host and port.
func (m *Machine) ListenAt(t testing.TB, address string) net.Listener {
	t.Helper()
	l, err := m.Machine.Listen(t.Context(), address)
	if err != nil {
		t.Fatalf("listen inside the machine: %v", err)
	}
	return l
}

// Run runs a program inside the machine and returns its output; it must succeed.
func (m *Machine) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := m.Machine.Run(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
