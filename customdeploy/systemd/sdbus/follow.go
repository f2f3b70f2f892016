package sdbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/dbus"
	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	service     = "org.freedesktop.systemd1"
	managerPath = godbus.ObjectPath("/org/freedesktop/systemd1")
	unitPrefix  = "/org/freedesktop/systemd1/unit/"
	changed     = "org.freedesktop.DBus.Properties.PropertiesChanged"
	ownerGone   = "org.freedesktop.DBus.NameOwnerChanged"
)

// Follow implements systemd.Manager on a connection of its own.
func (m *Manager) Follow(ctx context.Context, name string) (<-chan systemd.Update, error) {
	w := &watch{address: m.address, name: name, path: godbus.ObjectPath(unitPrefix + dbus.PathBusEscape(name))}
	if err := w.open(ctx); err != nil {
		return nil, fmt.Errorf("follow %s: %w", name, err)
	}
	updates := make(chan systemd.Update)
	go w.run(ctx, updates)
	return updates, nil
}

// watch follows one unit over one bus connection at a time.
type watch struct {
	address string
	name    string
	path    godbus.ObjectPath

	bus     *godbus.Conn
	signals chan *godbus.Signal
	unit    systemd.Properties
}

// open connects, subscribes, pins the unit (an ended unit is else forgotten by
// systemd, with its result) and reads its properties; in this order, so that no
// change falls between.
func (w *watch) open(ctx context.Context) error {
	bus, err := Dial(ctx, w.address)
	if err != nil {
		return err
	}
	w.bus, w.signals = bus, make(chan *godbus.Signal, 64)
	bus.Signal(w.signals)
	err = errors.Join(
		bus.AddMatchSignalContext(ctx, godbus.WithMatchObjectPath(w.path), godbus.WithMatchInterface("org.freedesktop.DBus.Properties")),
		bus.AddMatchSignalContext(ctx, godbus.WithMatchInterface("org.freedesktop.DBus"), godbus.WithMatchMember("NameOwnerChanged"), godbus.WithMatchArg(0, service)),
	)
	manager := bus.Object(service, managerPath)
	if err == nil {
		err = manager.CallWithContext(ctx, service+".Manager.Subscribe", 0).Err
	}
	if err == nil {
		// Not every version and policy allows it; then the unit is simply not pinned.
		_ = manager.CallWithContext(ctx, service+".Manager.RefUnit", 0, w.name).Err
		err = w.read(ctx)
	}
	if err != nil {
		_ = bus.Close()
	}
	return err
}

// read fetches all properties.
func (w *watch) read(ctx context.Context) error {
	var p systemd.Properties
	for _, iface := range []string{service + ".Unit", service + ".Service"} {
		var values map[string]godbus.Variant
		call := w.bus.Object(service, w.path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.GetAll", 0, iface)
		if err := call.Store(&values); err != nil {
			return err
		}
		merge(&p, values)
	}
	w.unit = p
	return nil
}

// run sends the newest properties whenever the reader is ready and they are new.
func (w *watch) run(ctx context.Context, updates chan<- systemd.Update) {
	defer close(updates)
	defer func() { _ = w.bus.Close() }()
	fresh := true
	for {
		out := updates
		if !fresh {
			out = nil
		}
		select {
		case <-ctx.Done():
			return
		case out <- systemd.Update{Unit: w.unit}:
			fresh = false
		case signal, ok := <-w.signals:
			before := w.unit
			if !ok || !w.apply(ctx, signal) {
				if err := w.repair(ctx); err != nil {
					select {
					case updates <- systemd.Update{Err: err}:
					case <-ctx.Done():
					}
					return
				}
			}
			fresh = fresh || w.unit != before
		}
	}
}

// apply takes one signal; false means that the connection to systemd is gone or
// not to be relied on.
func (w *watch) apply(ctx context.Context, signal *godbus.Signal) bool {
	switch {
	case signal.Name == ownerGone:
		return false
	case signal.Name != changed || signal.Path != w.path || len(signal.Body) < 3:
		return true
	}
	values, _ := signal.Body[1].(map[string]godbus.Variant)
	merge(&w.unit, values)
	invalidated, _ := signal.Body[2].([]string)
	for _, name := range invalidated {
		if _, known := setters[name]; known {
			return w.read(ctx) == nil
		}
	}
	return true
}

// repair connects anew and reads the unit again, within repairTime.
func (w *watch) repair(ctx context.Context) error {
	_ = w.bus.Close()
	ctx, done := context.WithTimeoutCause(ctx, repairTime, fmt.Errorf("no systemd at %s for %v", w.address, repairTime))
	defer done()
	for {
		err := w.open(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(repairEvery):
		}
	}
}
