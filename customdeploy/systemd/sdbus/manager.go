// Package sdbus talks to a real systemd over the system bus.
//
// [Manager] implements systemd.Manager with go-systemd. It connects when it is
// first used, through the bus and not through systemd's private socket, which a
// container does not have. One connection serves all calls; when it breaks it
// is made anew for up to a minute, and whoever follows a unit gets its
// properties read again. The journal is read with journalctl.
package sdbus

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	// AddressEnv is the bus address variable of the D-Bus specification.
	AddressEnv = "DBUS_SYSTEM_BUS_ADDRESS"
	// socket is the well-known place of the system bus.
	socket = "/run/dbus/system_bus_socket"

	// repairTime is how long a broken connection may stay away.
	repairTime = 60 * time.Second
	// repairEvery is the pause between two attempts to connect.
	repairEvery = 500 * time.Millisecond
)

// Manager is the systemd behind one system bus.
type Manager struct {
	address string
	root    hostfile.Dir

	mu   sync.Mutex
	conn *connection
}

var _ systemd.Manager = (*Manager)(nil)

// Address finds the bus of the host below root: the environment's, the host's
// own socket, or the one that the container has got.
func Address(root hostfile.Dir) string {
	if address := os.Getenv(AddressEnv); address != "" {
		return address
	}
	if path := root.Path(socket); isSocket(path) {
		return "unix:path=" + path
	}
	return "unix:path=" + socket
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// New returns the manager; it connects when it is first used. The root is where
// the host's journal is read.
func New(address string, root hostfile.Dir) *Manager {
	return &Manager{address: address, root: root}
}

// Close ends the connection.
func (m *Manager) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		m.conn.Close()
		m.conn = nil
	}
}

// Unit implements systemd.Manager.
func (m *Manager) Unit(ctx context.Context, name string) (systemd.Properties, error) {
	var p systemd.Properties
	err := m.with(ctx, func(c *connection) error {
		var err error
		p, err = c.read(ctx, name)
		return err
	})
	return p, err
}

// Start implements systemd.Manager. A connection that breaks while the job runs
// loses its result; the unit then tells how it went.
func (m *Manager) Start(ctx context.Context, name string) (string, error) {
	return m.job(ctx, name, func(c *connection, result chan<- string) error {
		// A unit that never failed has nothing to reset.
		_ = c.ResetFailedUnitContext(ctx, name)
		_, err := c.StartUnitContext(ctx, name, "replace", result)
		return err
	})
}

// Stop implements systemd.Manager.
func (m *Manager) Stop(ctx context.Context, name string) (string, error) {
	result, err := m.job(ctx, name, func(c *connection, result chan<- string) error {
		_, err := c.StopUnitContext(ctx, name, "replace", result)
		return err
	})
	if isDBusError(err, "org.freedesktop.systemd1.NoSuchUnit") {
		return systemd.JobDone, nil
	}
	return result, err
}

// job queues a job and waits for its result.
func (m *Manager) job(ctx context.Context, name string, queue func(*connection, chan<- string) error) (string, error) {
	var c *connection
	result := make(chan string, 1)
	err := m.with(ctx, func(conn *connection) error {
		c = conn
		return queue(conn, result)
	})
	if err != nil {
		return "", err
	}
	select {
	case r := <-result:
		return r, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case <-c.broken:
	}
	select {
	case r := <-result: // it came just before the break
		return r, nil
	default:
	}
	return m.settled(ctx, name)
}

// settled takes the place of a job result that was lost: it follows the unit
// until systemd has no job for it any more.
func (m *Manager) settled(ctx context.Context, name string) (string, error) {
	ctx, done := context.WithCancel(ctx)
	defer done()
	if _, err := m.Unit(ctx, name); err != nil { // waits until the bus is back
		return "", err
	}
	updates, err := m.Follow(ctx, name)
	if err != nil {
		return "", err
	}
	for up := range updates {
		switch {
		case up.Err != nil:
			return "", up.Err
		case up.Unit.Job != 0: // it waits for another unit, or runs
		case up.Unit.ActiveState == "active", up.Unit.ActiveState == "inactive":
			return systemd.JobDone, nil
		case up.Unit.ActiveState == "failed":
			return systemd.JobFailed, nil
		}
	}
	return "", context.Cause(ctx)
}

// with runs f on a working connection, and once more on each new one while the
// bus or systemd is away, for at most repairTime.
func (m *Manager) with(ctx context.Context, f func(*connection) error) error {
	ctx, done := context.WithTimeoutCause(ctx, repairTime, fmt.Errorf("no systemd at %s for %v", m.address, repairTime))
	defer done()
	for {
		c, err := m.connected(ctx)
		if err == nil {
			if err = f(c); err == nil || !transient(err) && c.alive() {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(repairEvery):
		}
	}
}

// connected returns the connection, or makes a new one.
func (m *Manager) connected(ctx context.Context) (*connection, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.conn != nil {
		if m.conn.alive() {
			return m.conn, nil
		}
		m.conn.Close()
		m.conn = nil
	}
	c, err := connect(ctx, m.address)
	if err == nil {
		m.conn = c
	}
	return c, err
}

// transient tells whether the error may go away by itself: the bus or systemd
// is being restarted.
func transient(err error) bool {
	if errors.Is(err, godbus.ErrClosed) {
		return true
	}
	e, ok := errors.AsType[godbus.Error](err)
	if !ok {
		return false
	}
	switch e.Name {
	case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
		"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
		"org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.TimedOut":
		return true
	}
	return false
}

func isDBusError(err error, name string) bool {
	e, ok := errors.AsType[godbus.Error](err)
	return ok && e.Name == name
}
