package assisted

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxStopText bounds what is taken from the stop file.
const maxStopText = 200

// Host is the step's view of the shared files of one boot.
type Host struct {
	hostfile.Dir
	bootID string
}

// OpenHost reads the boot id. Below a root without a /proc of its own (a
// container's view of the host) the kernel's is the same.
func OpenHost(dir hostfile.Dir) (Host, error) {
	id, err := dir.BootID()
	if errors.Is(err, fs.ErrNotExist) {
		id, err = hostfile.Dir{}.BootID()
	}
	if err != nil {
		return Host{}, fmt.Errorf("read the boot id: %w", err)
	}
	return Host{Dir: dir, bootID: id}, nil
}

// Uptime is the time since the boot, which goes on whatever is done to the clock
// of the day.
func (h Host) Uptime() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0 // every kernel that runs this has the clock
	}
	return time.Duration(now.Nano())
}

// BootID is the kernel's id of this boot.
func (h Host) BootID() string { return h.bootID }

// State returns the step file when it is of this boot.
func (h Host) State() (hostfile.StepState, bool, error) {
	var s hostfile.StepState
	err := h.Read(hostfile.StepFile, &s)
	if errors.Is(err, hostfile.ErrNoState) {
		return s, false, nil
	}
	return s, err == nil && s.BootID == h.bootID, err
}

// Marker returns the done marker when it is of this boot and of one of the
// given runs of the unit. A marker that cannot be read is no marker.
func (h Host) Marker(invocations ...string) (hostfile.Installed, bool) {
	var m hostfile.Installed
	if err := h.Read(hostfile.InstalledFile, &m); err != nil || m.BootID != h.bootID {
		return m, false
	}
	for _, id := range invocations {
		if id != "" && id == m.InvocationID {
			return m, true
		}
	}
	return m, false
}

// Status returns what the agent of this run of the unit says it is at, and false
// where it keeps no such file.
func (h Host) Status(invocation string) (hostfile.Status, bool) {
	var s hostfile.AgentStatus
	err := h.Read(hostfile.StatusFile, &s)
	return s.Status, err == nil && s.BootID == h.bootID && s.InvocationID == invocation && invocation != ""
}

// Reason returns the agent's last word in this boot, nil when there is none.
func (h Host) Reason() *hostfile.Reason {
	var r hostfile.Reason
	if err := h.Read(hostfile.ReasonFile, &r); err != nil || (r.BootID != "" && r.BootID != h.bootID) {
		return nil
	}
	return &r
}

// StopAsked returns who asked to stop by the stop file; empty for nobody.
func (h Host) StopAsked() string {
	raw, err := os.ReadFile(h.Path(hostfile.StopFile))
	if err != nil {
		return ""
	}
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(raw[:min(len(raw), maxStopText)]), "")), " ")
	if text == "" {
		text = "the file " + hostfile.StopFile
	}
	return text
}

// OpenGate writes the empty gate file, CloseGate removes it.
func (h Host) OpenGate() error {
	if err := os.MkdirAll(h.Path(hostfile.RunDir), 0o755); err != nil {
		return err
	}
	return os.WriteFile(h.Path(hostfile.Gate), nil, 0o600)
}

// CloseGate removes the gate; a gate that is gone already is closed.
func (h Host) CloseGate() error { return h.remove(hostfile.Gate) }

// GateOpen tells whether the gate file exists.
func (h Host) GateOpen() bool {
	_, err := os.Stat(h.Path(hostfile.Gate))
	return err == nil
}

// ForgetEarlier removes what an earlier step of this boot left behind, so that
// it cannot be taken for this step's.
func (h Host) ForgetEarlier() error {
	return errors.Join(h.remove(hostfile.InstalledFile), h.remove(hostfile.ReasonFile), h.remove(hostfile.StatusFile), h.remove(hostfile.StopFile))
}

func (h Host) remove(path string) error {
	if err := os.Remove(h.Path(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ErrLocked means that another step program of this boot holds the lock.
var ErrLocked = errors.New("another step program is at work")

// Lock makes this the only program that starts the agent. The lock ends with
// the process, however that ends.
func (h Host) Lock() (unlock func(), err error) {
	path := h.Path(filepath.Join(hostfile.RunDir, "step.lock"))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrLocked
		}
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// WatchRunDir sends whenever a file below /run/ironflow was written, moved or
// removed, until the context ends. Several changes may come as one.
func (h Host) WatchRunDir(ctx context.Context) (<-chan struct{}, error) {
	dir := h.Path(hostfile.RunDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	// A non-blocking file goes through the runtime's poller: Close wakes Read.
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO|unix.IN_DELETE); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	changed := make(chan struct{}, 1)
	context.AfterFunc(ctx, func() { _ = f.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			if _, err := f.Read(buf); err != nil {
				return
			}
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	}()
	return changed, nil
}
