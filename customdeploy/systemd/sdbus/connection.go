package sdbus

import (
	"context"
	"os"
	"strconv"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// connection is go-systemd's pair of connections, one for calls and one for the
// results of jobs, with a channel that tells when the latter is broken.
type connection struct {
	*dbus.Conn
	broken <-chan struct{}
}

// connect dials the bus and subscribes to systemd's signals, so that the result
// of a job queued later cannot be missed.
func connect(ctx context.Context, address string) (*connection, error) {
	c := &connection{}
	conn, err := dbus.NewConnection(func() (*godbus.Conn, error) {
		bus, err := Dial(ctx, address)
		if err == nil {
			c.broken = bus.Context().Done() // the second one, for signals, stays
		}
		return bus, err
	})
	if err != nil {
		return nil, err
	}
	c.Conn = conn
	if err := conn.Subscribe(); err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *connection) alive() bool { return c.Connected() }

// read returns the unit's properties of both interfaces.
func (c *connection) read(ctx context.Context, name string) (systemd.Properties, error) {
	var p systemd.Properties
	common, err := c.GetUnitPropertiesContext(ctx, name)
	if err != nil {
		return p, err
	}
	service, err := c.GetUnitTypePropertiesContext(ctx, name, "Service")
	if err != nil {
		return p, err
	}
	merge(&p, common)
	merge(&p, service)
	return p, nil
}

// Dial opens and authenticates one connection. The context bounds only the
// dialing. The user is named by number, which needs no name service.
func Dial(ctx context.Context, address string) (*godbus.Conn, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	cancelDial := context.AfterFunc(ctx, end)
	bus, err := godbus.Dial(address, godbus.WithContext(life), godbus.WithSignalHandler(godbus.NewSequentialSignalHandler()))
	if err != nil {
		end()
		return nil, err
	}
	if err = bus.Auth([]godbus.Auth{godbus.AuthExternal(strconv.Itoa(os.Getuid()))}); err == nil {
		err = bus.Hello()
	}
	if err != nil || !cancelDial() {
		end()
		_ = bus.Close()
		if err == nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	context.AfterFunc(bus.Context(), end)
	return bus, nil
}
