package host

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/ironic"
)

// Nodes finds, reads, creates and removes nodes.
type Nodes interface {
	Find(ctx context.Context, id ironic.Identity) (*ironic.Node, error)
	Get(ctx context.Context, uuid string) (*ironic.Node, error)
	Enrol(ctx context.Context, e ironic.Enrolment) (*ironic.Node, error)
	Update(ctx context.Context, n *ironic.Node, d ironic.Desired) (*ironic.Node, bool, error)
	Delete(ctx context.Context, uuid string) error
}

// Actions change what a node does.
type Actions interface {
	EnsurePorts(ctx context.Context, uuid string, ports []ironic.Port) error
	Transition(ctx context.Context, uuid string, t ironic.Transition) error
	SetPower(ctx context.Context, uuid string, r ironic.PowerRequest) error
	SetMaintenance(ctx context.Context, uuid string, on bool, reason string) error
	Validate(ctx context.Context, uuid string) ([]ironic.ValidationFailure, error)
}

// Facts are what Ironic knows beyond the node itself.
type Facts interface {
	Ready(ctx context.Context) error
	Inventory(ctx context.Context, uuid string) (*ironic.Inventory, error)
	FailureReason(ctx context.Context, uuid string, since time.Time) (string, error)
}

// Gateway is one Ironic. [ironic.Gateway] implements it.
type Gateway interface {
	Nodes
	Actions
	Facts
}

// NodeWatch tells which nodes changed. [ironic.Watch] implements it.
type NodeWatch interface {
	Row(uuid string) (ironic.Row, bool)
	Expect(uuid string, inFlight bool)
	Nudge()
	Changes() <-chan ironic.Change
}

// ProgressSource knows how far a host at work is. It is asked in every pass and
// must answer from memory.
type ProgressSource interface {
	HostProgress(key types.NamespacedName) (Progress, bool)
}

var (
	_ Gateway   = (*ironic.Gateway)(nil)
	_ NodeWatch = (*ironic.Watch)(nil)
)
