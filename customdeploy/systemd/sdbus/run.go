package sdbus

import (
	"context"
	"errors"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// errResultLost means that the bus went away while a command ran.
var errResultLost = errors.New("the connection to systemd broke before the command's result was known")

// Run runs a command on the host, outside of the caller's namespaces, as a
// transient unit of the given name, and tells whether it ended with exit status
// 0. After the limit, in whole seconds, systemd kills it.
func (m *Manager) Run(ctx context.Context, unit string, argv []string, limit time.Duration) (bool, error) {
	var c *connection
	result := make(chan string, 1)
	err := m.with(ctx, func(conn *connection) error {
		c = conn
		_, err := conn.StartTransientUnitContext(ctx, unit, "replace", []dbus.Property{
			dbus.PropDescription("Ironflow asks the host"),
			dbus.PropType("oneshot"),
			dbus.PropExecStart(argv, false),
			{Name: "CollectMode", Value: godbus.MakeVariant("inactive-or-failed")},
			{Name: "TimeoutStartUSec", Value: godbus.MakeVariant(uint64(limit / time.Microsecond))},
		}, result)
		return err
	})
	if err != nil {
		return false, err
	}
	select {
	case r := <-result:
		return r == systemd.JobDone, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case <-c.broken:
		return false, errResultLost
	}
}
