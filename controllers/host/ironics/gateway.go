package ironics

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/ironic"
)

// Nodes finds, reads, creates and removes nodes.
type Nodes interface {
	Find(ctx context.Context, id ironic.Identity) (*ironic.Node, error)
	Get(ctx context.Context, uuid string) (*ironic.Node, error)
	Create(ctx context.Context, e ironic.Enrolment) (n *ironic.Node, created bool, err error)
	Update(ctx context.Context, n *ironic.Node, d ironic.Desired) (*ironic.Node, bool, error)
	Delete(ctx context.Context, uuid string) error
}

// Ports find, create, correct and remove ports of nodes.
type Ports interface {
	NodeOfPort(ctx context.Context, mac string) (uuid string, found bool, err error)
	EnsurePorts(ctx context.Context, uuid string, ports []ironic.Port) ([]ironic.PortLeftOut, error)
	AddPorts(ctx context.Context, uuid string, ports []ironic.Port) ([]ironic.PortLeftOut, error)
	RemovePorts(ctx context.Context, uuid string, macs []string) error
}

// Actions change what a node does.
type Actions interface {
	Transition(ctx context.Context, uuid string, t ironic.Transition) error
	SetPower(ctx context.Context, uuid string, r ironic.PowerRequest) error
	SetMaintenance(ctx context.Context, uuid string, on bool, reason string) error
	Validate(ctx context.Context, uuid string) ([]ironic.ValidationFailure, error)
}

// Volumes builds RAID.
type Volumes interface {
	SetRAID(ctx context.Context, uuid string, disks []ironic.LogicalDisk) error
}

// Facts are what Ironic knows beyond the node itself.
type Facts interface {
	Ready(ctx context.Context) error
	Inventory(ctx context.Context, uuid string) (*ironic.Inventory, error)
	FailureReason(ctx context.Context, uuid string, since time.Time) (string, error)
}

// Gateway makes the requests to one Ironic.
type Gateway interface {
	Nodes
	Ports
	Actions
	Volumes
	Facts
}

// Table is what is known of all nodes without asking Ironic.
type Table interface {
	Row(uuid string) (ironic.Row, bool)
	Named(name string) (row ironic.Row, found, complete bool)
	OfMachine(keys ...string) (ids []string)
	Learn(r ironic.Row)
	Forget(uuid string)
}

// Watch tells which nodes changed.
type Watch interface {
	Table
	Expect(uuid string, inFlight bool)
	Nudge()
	Changes() <-chan ironic.Change
	Synced() <-chan struct{}
}

var (
	_ Gateway = (*ironic.Gateway)(nil)
	_ Watch   = (*ironic.Watch)(nil)
)
