package sdbus

import (
	"context"
	"errors"
	"fmt"
	"time"

	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	changed   = properties + ".PropertiesChanged"
	ownerGone = "org.freedesktop.DBus.NameOwnerChanged"
)

// Follow implements systemd.Manager on a connection of its own.
func (m *Manager) Follow(ctx context.Context, name string) (<-chan systemd.Update, error) {
	w := &watch{manager: m, name: name}
	if err := w.open(ctx); err != nil {
		return nil, fmt.Errorf("follow %s: %w", name, err)
	}
	updates := make(chan systemd.Update)
	go w.run(ctx, updates)
	return updates, nil
}

// watch follows one unit over one bus connection at a time.
type watch struct {
	manager *Manager
	name    string

	bus     *godbus.Conn
	path    godbus.ObjectPath
	signals chan *godbus.Signal
	unit    systemd.Properties
}

// open connects, subscribes, pins the unit (an ended unit is else forgotten by
// systemd, with its result) and reads its properties; in this order, so that no
// change falls between.
func (w *watch) open(ctx context.Context) error {
	return w.manager.try(ctx, true, func(ctx context.Context, bus *godbus.Conn) error {
		path, err := load(ctx, bus, w.name)
		if err != nil {
			return err
		}
		w.bus, w.path, w.signals = bus, path, make(chan *godbus.Signal, 64)
		bus.Signal(w.signals)
		err = errors.Join(
			bus.AddMatchSignalContext(ctx, godbus.WithMatchObjectPath(path), godbus.WithMatchInterface(properties)),
			bus.AddMatchSignalContext(ctx, godbus.WithMatchInterface("org.freedesktop.DBus"), godbus.WithMatchMember("NameOwnerChanged"), godbus.WithMatchArg(0, service)),
		)
		if err != nil {
			return err
		}
		if err := call(ctx, bus, "Subscribe", nil); err != nil {
			return err
		}
		// Not every version and policy allows it; then the unit is simply not pinned.
		if err := call(ctx, bus, "RefUnit", []any{w.name}); err != nil && !refused(err) {
			return err
		}
		w.unit, err = read(ctx, bus, path)
		return err
	})
}

// run sends the newest properties whenever the reader is ready and they are new.
// A systemd that is frozen sends no signal and breaks no connection, so after a
// long silence it is asked for the properties.
func (w *watch) run(ctx context.Context, updates chan<- systemd.Update) {
	defer close(updates)
	defer func() { _ = w.bus.Close() }()
	silence := time.NewTimer(w.manager.silence)
	defer silence.Stop()
	fresh := true
	for {
		out := updates
		if !fresh {
			out = nil
		}
		before, err := w.unit, error(nil)
		select {
		case <-ctx.Done():
			return
		case out <- systemd.Update{Unit: w.unit}:
			fresh = false
		case signal, open := <-w.signals:
			err = w.take(ctx, signal, open)
			silence.Reset(w.manager.silence)
		case <-silence.C:
			err = w.read(ctx)
			silence.Reset(w.manager.silence)
		}
		if err != nil {
			select {
			case updates <- systemd.Update{Err: err}:
			case <-ctx.Done():
			}
			return
		}
		fresh = fresh || w.unit != before
	}
}

// take takes one signal. Without a connection, or after systemd has left the bus
// or dropped a property, the unit is read anew.
func (w *watch) take(ctx context.Context, signal *godbus.Signal, open bool) error {
	switch {
	case !open || signal.Name == ownerGone:
		return w.reopen(ctx)
	case signal.Name != changed || signal.Path != w.path || len(signal.Body) < 3:
		return nil
	}
	values, _ := signal.Body[1].(map[string]godbus.Variant)
	merge(&w.unit, values)
	invalidated, _ := signal.Body[2].([]string)
	for _, name := range invalidated {
		if _, known := setters[name]; known {
			return w.read(ctx)
		}
	}
	return nil
}

// read fetches all properties, on a new connection if this one has broken.
func (w *watch) read(ctx context.Context) error {
	bounded, done := context.WithTimeoutCause(ctx, w.manager.patience, fmt.Errorf("no answer from systemd at %s for %v", w.manager.address, w.manager.patience))
	defer done()
	unit, err := read(bounded, w.bus, w.path)
	switch {
	case err == nil:
		w.unit = unit
		return nil
	case bounded.Err() != nil:
		return context.Cause(bounded)
	}
	return w.reopen(ctx)
}

func (w *watch) reopen(ctx context.Context) error {
	_ = w.bus.Close()
	return w.open(ctx)
}
