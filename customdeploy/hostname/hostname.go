// Package hostname gives a live system without a name of its own the default
// one, through systemd's org.freedesktop.hostname1. It is not a deploy step: IPA
// calls it once at its start, and goes on when it fails. It also tells which names
// nodes can have.
package hostname

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	godbus "github.com/godbus/dbus/v5"

	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

const (
	service = "org.freedesktop.hostname1"
	path    = godbus.ObjectPath("/org/freedesktop/hostname1")
)

// Nameless tells whether the name is no name: empty, or localhost in any domain.
func Nameless(name string) bool {
	first, _, _ := strings.Cut(name, ".")
	return first == "" || first == "localhost"
}

// maxNode is the longest name: it becomes a label of the node.
const maxNode = 63

var nodeForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// IsNode tells whether a node of a cluster can have the name: DHCP servers give others,
// with capitals and underscores, as well.
func IsNode(name string) bool {
	return !Nameless(name) && len(name) <= maxNode && nodeForm.MatchString(name)
}

// SetDefault sets the static and the transient name of the host behind the bus
// address, unless it has one. It returns whether it did.
func SetDefault(ctx context.Context, address, name string) (bool, error) {
	if Nameless(name) {
		return false, fmt.Errorf("%q is no name for a host", name)
	}
	bus, err := sdbus.Dial(ctx, address)
	if err != nil {
		return false, fmt.Errorf("connect to the host's bus: %w", err)
	}
	defer func() { _ = bus.Close() }()
	object := bus.Object(service, path)
	var present godbus.Variant
	if err := object.CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, service, "Hostname").Store(&present); err != nil {
		return false, fmt.Errorf("read the host's name: %w", err)
	}
	if now, _ := present.Value().(string); !Nameless(now) {
		return false, nil
	}
	if err := set(ctx, object, name); err != nil {
		return false, err
	}
	return true, nil
}

// Set sets both names, whatever they are.
func Set(ctx context.Context, address, name string) error {
	if Nameless(name) {
		return fmt.Errorf("%q is no name for a host", name)
	}
	bus, err := sdbus.Dial(ctx, address)
	if err != nil {
		return fmt.Errorf("connect to the host's bus: %w", err)
	}
	defer func() { _ = bus.Close() }()
	return set(ctx, bus.Object(service, path), name)
}

func set(ctx context.Context, object godbus.BusObject, name string) error {
	const interactive = false
	for _, method := range []string{"SetStaticHostname", "SetHostname"} {
		if err := object.CallWithContext(ctx, service+"."+method, 0, name, interactive).Err; err != nil {
			return fmt.Errorf("%s(%q): %w", method, name, err)
		}
	}
	return nil
}
