package sdbus

import (
	"context"
	"fmt"
	"time"

	godbus "github.com/godbus/dbus/v5"
)

const (
	login     = "org.freedesktop.login1"
	loginPath = godbus.ObjectPath("/org/freedesktop/login1")
)

// Reboot restarts the machine after the delay, through logind, which says so to
// everyone who is logged in and lets programs finish. Where there is no logind,
// systemd does it at once.
func (m *Manager) Reboot(ctx context.Context, delay time.Duration) error {
	err := m.try(ctx, false, func(ctx context.Context, bus *godbus.Conn) error {
		manager := bus.Object(login, loginPath)
		var err error
		if delay <= 0 {
			err = manager.CallWithContext(ctx, login+".Manager.Reboot", 0, false).Err
		} else {
			err = manager.CallWithContext(ctx, login+".Manager.ScheduleShutdown", 0, "reboot", uint64(time.Now().Add(delay).UnixMicro())).Err
		}
		if isDBusError(err, "org.freedesktop.DBus.Error.ServiceUnknown") || isDBusError(err, "org.freedesktop.DBus.Error.NameHasNoOwner") {
			return call(ctx, bus, "Reboot", nil)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("restart the machine: %w", err)
	}
	return nil
}

// Enter starts a target that ends the machine (poweroff.target, reboot.target) in
// the mode that systemctl takes for it, "replace-irreversibly": no later job
// undoes it. It does not wait for the end.
func (m *Manager) Enter(ctx context.Context, target string) error {
	err := m.try(ctx, false, func(ctx context.Context, bus *godbus.Conn) error {
		var job godbus.ObjectPath
		return call(ctx, bus, "StartUnit", []any{target, "replace-irreversibly"}, &job)
	})
	if err != nil {
		return fmt.Errorf("have systemd start %s: %w", target, err)
	}
	return nil
}
