package policy

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// Observed is everything that a decision is made from: plain values, read
// before, never changed by a decision. A fact that is missing is asked for by an
// action whose result lands here.
type Observed struct {
	// Kept is what earlier passes have left, and what this one leaves.
	Kept
	// Sight is what is known of the Ironic node, and how well.
	nodeaction.Sight
	// Now is the time of the decision.
	Now time.Time
	// Host is the resource with the status as decided so far.
	Host *metal3.BareMetalHost
	// Settings are the program's flags.
	Settings Settings
	// Ironic is the endpoint that the host belongs to.
	Ironic Assignment
	// Owner is what is known of whose the node is.
	Owner Owner
	// Double is the other host that the machine belongs to, if any.
	Double Double
	// AtBMC is the id of another node than the host's that is said to have the host's BMC;
	// empty for none.
	AtBMC string
	// Unlisted means that there may be others, because Ironic's nodes are not all known yet.
	Unlisted bool
	// SharedMACs are MAC addresses of the machine that others' machines have as well.
	SharedMACs []string
	// Slot is how the host stands with the limits on hosts at work.
	Slot Slot
	// BMC is how to reach the host's controller.
	BMC nodespec.BMC
	// NetworkData is what the live image is told of networks through the node; nil for
	// nothing, or where each host has a live image that carries it.
	NetworkData map[string]any
	// Image is the live image.
	Image nodespec.LiveImage
	// Preflight is what the hardware says of the host's wishes.
	Preflight Preflight
	// Firmware is what is known of the machine's firmware and wished for it.
	Firmware plan.Firmware
	// Hardware is what HardwareData holds; nil for none.
	Hardware *metal3.HardwareDetails
	// Inventory is Ironic's inspection result, once asked for.
	Inventory *ironic.Inventory
	// ConfigDrive is what the instance will be given, once asked for.
	ConfigDrive *nodespec.ConfigDrive
	// PullSecret is what the image's registry is shown, once asked for.
	PullSecret *nodespec.PullSecret
	// Failure is Ironic's reason of the last failure, once asked for.
	Failure *string
	// Unfit lists the interfaces that Ironic refused, once asked for.
	Unfit *[]ironic.ValidationFailure
	// Applied is what the node was brought to in this pass, if it was.
	Applied *ironic.Desired
	// Retry means that somebody asked for a new attempt, or changed what it depends on.
	Retry bool
	// LostAgent means that the agent in the live image stopped talking to Ironic.
	LostAgent bool
	// AbortRefused means that this Ironic cannot abort a deployment.
	AbortRefused bool
	// Progress is what the hub or the image server knows about this host.
	Progress Progress
	// Media is how the host's virtual media stand before its machine is started.
	Media Media
	// Read is how far the BMC has read the live image.
	Read ImageRead
	// Told counts how often the machine's BMC has told of its power.
	Told uint64
	// PowerTold means that the machine's BMC has told of its power, and that Ironic has not
	// looked since as far as we know.
	PowerTold bool
}

// Settings are the flags that decisions depend on.
type Settings struct {
	nodespec.Settings
	// MaxAttempts ends automatic deployments of a host after so many failures in a
	// row; 0 means no end.
	MaxAttempts int
	// NoProvisioningNetwork refuses BMCs whose machines boot the live image over the network.
	NoProvisioningNetwork bool
}

// Progress is what other parts know about a host at work. The zero value means
// that nobody knows anything.
type Progress struct {
	// Stage is the installation's stage, or what the machine does, in words.
	Stage string
	// Percent is 0 to 100; it only counts when Stage is set.
	Percent int
	// Text is more detail, empty for none.
	Text string
	// Reading means that it is the image server's word: how far the BMC has read the
	// live image.
	Reading bool
	// WaitingFor names who has to act before it goes on, empty for the host itself.
	WaitingFor string
	// Failure is why the hub counts the installation as failed or cancelled.
	Failure string
	// FailedAt is when the hub did so.
	FailedAt time.Time
	// CutOff is when the installation began that a restart of the machine has cut
	// off: it came back in discovery. Zero for none.
	CutOff time.Time
}

// State returns the host's phase.
func (o *Observed) State() State { return o.Host.Status.Provisioning.State }

// phase returns the table's row of the host's state.
func (o *Observed) phase() phase { return phases[o.State()] }

// Steady reports whether the host is in a phase in which hosts rest.
func (o *Observed) Steady() bool { return o.phase().steady }

// Deleting reports whether the host is being deleted.
func (o *Observed) Deleting() bool { return !o.Host.DeletionTimestamp.IsZero() }

// Failing reports whether the status shows an error.
func (o *Observed) Failing() bool { return o.Host.Status.ErrorType != "" }
