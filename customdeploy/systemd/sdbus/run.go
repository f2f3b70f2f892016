package sdbus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"github.com/google/uuid"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// errResultLost means that the bus went away while a command ran.
var errResultLost = errors.New("the connection to systemd broke before the command's result was known")

// Types of StartTransientUnit: properties a(sv), auxiliary units a(sa(sv)), and
// the commands of ExecStart a(sasb).
type (
	property struct {
		Name  string
		Value godbus.Variant
	}
	auxiliary struct {
		Name       string
		Properties []property
	}
	command struct {
		Path          string
		Args          []string
		IgnoreFailure bool
	}
)

// Run runs a command on the host, outside of the caller's namespaces, as a
// transient unit, and tells whether it ended with exit status 0. After the limit, in
// whole seconds, systemd kills it. The unit has the given name and a number of its
// own: the command of a caller that was killed runs on under its name, which systemd
// gives nobody else meanwhile.
func (m *Manager) Run(ctx context.Context, unit string, argv []string, limit time.Duration) (bool, error) {
	bound := limit + m.patience
	ctx, done := context.WithTimeoutCause(ctx, bound, fmt.Errorf("no answer from systemd at %s for %v", m.address, bound))
	defer done()
	const kind = ".service"
	own := strings.TrimSuffix(unit, kind) + "-" + uuid.NewString() + kind
	j, err := m.queue(ctx, "StartTransientUnit", own, "replace", []property{
		{"Description", godbus.MakeVariant("Ironflow asks the host")},
		{"Type", godbus.MakeVariant("oneshot")},
		{"ExecStart", godbus.MakeVariant([]command{{Path: argv[0], Args: argv}})},
		{"CollectMode", godbus.MakeVariant("inactive-or-failed")},
		{"TimeoutStartUSec", godbus.MakeVariant(uint64(limit / time.Microsecond))},
	}, []auxiliary{})
	if err != nil {
		return false, err
	}
	result, err := j.wait(ctx)
	if err == nil && result == "" {
		err = errResultLost
	}
	return result == systemd.JobDone, err
}
