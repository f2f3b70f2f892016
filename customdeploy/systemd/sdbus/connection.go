package sdbus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	service     = "org.freedesktop.systemd1"
	manager     = service + ".Manager."
	managerPath = godbus.ObjectPath("/org/freedesktop/systemd1")
	properties  = "org.freedesktop.DBus.Properties"
)

// try makes a connection and runs f on it, and again on a new one while the bus or
// systemd is away, for at most the manager's patience or until the caller's own
// deadline. Each connection is one caller's: nobody waits for another's call. It is
// closed unless keep is set and f has succeeded.
func (m *Manager) try(ctx context.Context, keep bool, f func(context.Context, *godbus.Conn) error) error {
	ctx, done := context.WithTimeoutCause(ctx, m.patience, fmt.Errorf("no answer from systemd at %s for %v", m.address, m.patience))
	defer done()
	for {
		err := m.once(ctx, keep, f)
		if err == nil || refused(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(tryEvery):
		}
	}
}

func (m *Manager) once(ctx context.Context, keep bool, f func(context.Context, *godbus.Conn) error) error {
	bus, err := Dial(ctx, m.address)
	if err != nil {
		return err
	}
	if err = f(ctx, bus); err != nil || !keep {
		_ = bus.Close()
	}
	return err
}

// refused tells whether the error is the answer of a systemd that is there. Any
// other may go away by itself: the bus or systemd is being restarted.
func refused(err error) bool {
	e, answered := errors.AsType[godbus.Error](err)
	if !answered {
		return false
	}
	switch e.Name {
	case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
		"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Disconnected",
		"org.freedesktop.DBus.Error.Spawn.ChildExited", "org.freedesktop.DBus.Error.TimedOut":
		return false
	}
	return true
}

func isDBusError(err error, name string) bool {
	e, ok := errors.AsType[godbus.Error](err)
	return ok && e.Name == name
}

// call calls a method of systemd's manager; the results go to into.
func call(ctx context.Context, bus *godbus.Conn, method string, args []any, into ...any) error {
	return bus.Object(service, managerPath).CallWithContext(ctx, manager+method, 0, args...).Store(into...)
}

// load has systemd load the unit if necessary, and returns its object.
func load(ctx context.Context, bus *godbus.Conn, name string) (path godbus.ObjectPath, err error) {
	return path, call(ctx, bus, "LoadUnit", []any{name}, &path)
}

// read returns the unit's properties of both interfaces.
func read(ctx context.Context, bus *godbus.Conn, path godbus.ObjectPath) (systemd.Properties, error) {
	var p systemd.Properties
	for _, iface := range []string{service + ".Unit", service + ".Service"} {
		var values map[string]godbus.Variant
		if err := bus.Object(service, path).CallWithContext(ctx, properties+".GetAll", 0, iface).Store(&values); err != nil {
			return systemd.Properties{}, err
		}
		merge(&p, values)
	}
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
