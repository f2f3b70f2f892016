package host

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/firmware"
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
	EnsurePorts(ctx context.Context, uuid string, ports []ironic.Port) error
	AddPorts(ctx context.Context, uuid string, ports []ironic.Port) error
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

// FirmwareKeeper reads and writes the firmware resources of hosts.
// [firmware.Keeper] implements it.
type FirmwareKeeper interface {
	FirmwareResources
	Make(ctx context.Context, h *metal3.BareMetalHost, node string) error
	ReadSettings(ctx context.Context, h *metal3.BareMetalHost, node string) (*metal3.HostFirmwareSettings, error)
	ReadComponents(ctx context.Context, h *metal3.BareMetalHost, node string, done []metal3.FirmwareUpdate) (*metal3.HostFirmwareComponents, error)
}

// FirmwareResources are those of a host, nil for none.
type FirmwareResources interface {
	Settings(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareSettings, error)
	Components(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareComponents, error)
	Policy(ctx context.Context, h *metal3.BareMetalHost) (*metal3.HostUpdatePolicy, error)
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
	Ports
	Actions
	Volumes
	Facts
}

// NodeTable is what is known of all nodes without asking Ironic.
type NodeTable interface {
	Row(uuid string) (ironic.Row, bool)
	Named(name string) (row ironic.Row, found, complete bool)
	Learn(r ironic.Row)
	Forget(uuid string)
}

// NodeWatch tells which nodes changed. [ironic.Watch] implements it.
type NodeWatch interface {
	NodeTable
	Expect(uuid string, inFlight bool)
	Nudge()
	Changes() <-chan ironic.Change
	Synced() <-chan struct{}
}

// ProgressSource knows how far a host at work is. It is asked in every pass and
// must answer from memory.
type ProgressSource interface {
	HostProgress(key types.NamespacedName) (policy.Progress, bool)
}

var (
	_ Gateway        = (*ironic.Gateway)(nil)
	_ NodeWatch      = (*ironic.Watch)(nil)
	_ FirmwareKeeper = (*firmware.Keeper)(nil)
)

// ImageReads knows how far live images were read. It must answer from memory.
type ImageReads interface {
	ImageRead(key types.NamespacedName) policy.ImageRead
}
