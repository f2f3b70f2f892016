// Package sdbus talks to a real systemd over the system bus.
//
// [Manager] implements systemd.Manager through the bus and not through systemd's
// private socket, which a container does not have. Each call has a connection of
// its own, so that none waits for another, and ends after a minute without an
// answer; until then a broken connection is made anew. Whoever follows a unit gets
// its properties read again after that, and hears of a systemd that does not answer
// any more. The journal is read with journalctl.
package sdbus

import (
	"context"
	"io/fs"
	"os"
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

	// patience is how long bus and systemd may not answer.
	patience = 60 * time.Second
	// silence is how long a unit that is followed may have no news before systemd is
	// asked whether it is there: longer than the agent's status lasts, so that nobody
	// asks in a healthy system.
	silence = 6 * time.Minute
	// tryEvery is the pause between two attempts to connect.
	tryEvery = 500 * time.Millisecond
)

// Manager is the systemd behind one system bus.
type Manager struct {
	address string
	root    hostfile.Dir
	// patience bounds every call; silence is for followers.
	patience, silence time.Duration
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

// New returns the manager; each call connects. The root is where the host's
// journal is read.
func New(address string, root hostfile.Dir) *Manager {
	return &Manager{address: address, root: root, patience: patience, silence: silence}
}

// Unit implements systemd.Manager.
func (m *Manager) Unit(ctx context.Context, name string) (systemd.Properties, error) {
	var p systemd.Properties
	err := m.try(ctx, false, func(ctx context.Context, bus *godbus.Conn) error {
		path, err := load(ctx, bus, name)
		if err == nil {
			p, err = read(ctx, bus, path)
		}
		return err
	})
	return p, err
}

// Start implements systemd.Manager. A connection that breaks while the job runs
// loses its result; the unit then tells how it went.
func (m *Manager) Start(ctx context.Context, name string) (string, error) {
	err := m.try(ctx, false, func(ctx context.Context, bus *godbus.Conn) error {
		err := call(ctx, bus, "ResetFailedUnit", []any{name})
		if refused(err) {
			return nil // a unit that never failed has nothing to reset
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return m.act(ctx, name, "StartUnit")
}

// Stop implements systemd.Manager.
func (m *Manager) Stop(ctx context.Context, name string) (string, error) {
	result, err := m.act(ctx, name, "StopUnit")
	if isDBusError(err, service+".NoSuchUnit") {
		return systemd.JobDone, nil
	}
	return result, err
}

// Restart restarts the unit, or starts it, and waits for the job's result.
func (m *Manager) Restart(ctx context.Context, name string) (string, error) {
	return m.act(ctx, name, "RestartUnit")
}

// Reload makes systemd read all unit files again.
func (m *Manager) Reload(ctx context.Context) error {
	return m.try(ctx, false, func(ctx context.Context, bus *godbus.Conn) error { return call(ctx, bus, "Reload", nil) })
}

// act queues a job for the unit and waits for its result.
func (m *Manager) act(ctx context.Context, name, method string) (string, error) {
	j, err := m.queue(ctx, method, name, "replace")
	if err != nil {
		return "", err
	}
	result, err := j.wait(ctx)
	if err == nil && result == "" {
		return m.settled(ctx, name)
	}
	return result, err
}
