package host

import (
	"cmp"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// Observed is everything that a decision is made from: plain values, read
// before, never changed by a decision. A fact that is missing is asked for by an
// action whose result lands here.
type Observed struct {
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
	// Slot is how the host stands with the limits on hosts at work.
	Slot Slot
	// Sight says how well the node is known.
	Sight Sight
	// Node is the Ironic node; nil when Sight is Unseen or Missing.
	Node *ironic.Node
	// Looked is when the node was last read in full; zero for never.
	Looked time.Time
	// BMC is how to reach the host's controller.
	BMC BMC
	// NetworkData is what the live image is told of networks through the node; nil for
	// nothing, or where each host has a live image that carries it.
	NetworkData map[string]any
	// Image is the live image.
	Image LiveImage
	// Firmware is what is known of the machine's firmware and wished for it.
	Firmware Firmware
	// Hardware is what HardwareData holds; nil for none.
	Hardware *metal3.HardwareDetails
	// Inventory is Ironic's inspection result, once asked for.
	Inventory *ironic.Inventory
	// NoInventory means that it was asked for and there is none.
	NoInventory bool
	// ConfigDrive is what the instance will be given, once asked for.
	ConfigDrive *ConfigDrive
	// PullSecret is what the image's registry is shown, once asked for.
	PullSecret *PullSecret
	// Failure is Ironic's reason of the last failure, once asked for.
	Failure *string
	// Unfit lists the interfaces that Ironic refused, once asked for.
	Unfit *[]ironic.ValidationFailure
	// Applied is what the node was brought to in this pass, if it was.
	Applied *ironic.Desired
	// Ports is the set of ports that the node is known to have.
	Ports string
	// Fresh means that this process has enrolled the node: it has no ports but ours
	// and those that inspection made.
	Fresh bool
	// Retry means that somebody asked for a new attempt, or changed what it depends on.
	Retry bool
	// LostAgent means that the agent in the live image stopped talking to Ironic.
	LostAgent bool
	// Rebooted is when the machine was last rebooted through Ironic to learn why an
	// installation was cut off; zero for never.
	Rebooted time.Time
	// PowerAsked is the power request that was last accepted and not seen fulfilled.
	PowerAsked ironic.PowerState
	// SoftRefused means that the driver knows no soft power action.
	SoftRefused bool
	// AbortRefused means that this Ironic cannot abort a deployment.
	AbortRefused bool
	// Progress is what the hub or the image server knows about this host.
	Progress Progress
	// Verifying is since when the node is seen to be verified, by our own clock; zero for
	// not, or not before this pass.
	Verifying time.Time
	// Media is how the host's virtual media stand before its machine is started.
	Media Media
	// Read is how far the BMC has read the live image.
	Read ImageRead
	// Busy is who held the node when a call was last turned away, and since when.
	Busy Holder
	// TurnedAway means that a restart that was announced was turned away by a locked node.
	TurnedAway bool
}

// Settings are the flags that decisions depend on.
type Settings struct {
	// BuildImages asks for a PreprovisioningImage per host. Without it the
	// addresses below, or Ironic's own configuration, give the live image.
	BuildImages bool
	// DeployISO, DeployKernel and DeployRamdisk are the live image of all hosts
	// when none is built per host.
	DeployISO, DeployKernel, DeployRamdisk string
	// ByArchitecture are live images of single architectures ("x86_64", "aarch64"); what
	// is empty there is as for all.
	ByArchitecture map[string]LiveImageURLs
	// Architecture is used for hosts that were not inspected: "x86_64" or "aarch64".
	Architecture string
	// MaxAttempts ends automatic deployments of a host after so many failures in a
	// row; 0 means no end.
	MaxAttempts int
	// DirectDeployPersistentBoot and LiveISOPersistentBoot are driver_info's
	// force_persistent_boot_device: Default, Always or Never.
	DirectDeployPersistentBoot, LiveISOPersistentBoot string
	// NoProvisioningNetwork refuses BMCs whose machines boot the live image over the network.
	NoProvisioningNetwork bool
	// ExternalURLv6 is the address of Ironic's own image server for BMCs with an IPv6
	// address; empty leaves it to Ironic.
	ExternalURLv6 string
}

// LiveImageURLs are where a live image comes from that is not built per host.
type LiveImageURLs struct {
	ISO, Kernel, Ramdisk string
}

// liveImage is the live image of hosts of an architecture.
func (s Settings) liveImage(architecture string) LiveImageURLs {
	own := s.ByArchitecture[architecture]
	return LiveImageURLs{
		ISO: cmp.Or(own.ISO, s.DeployISO), Kernel: cmp.Or(own.Kernel, s.DeployKernel), Ramdisk: cmp.Or(own.Ramdisk, s.DeployRamdisk),
	}
}

// Sight says how well a node is known.
type Sight int

const (
	// Unseen means that the node was not looked for.
	Unseen Sight = iota
	// Glimpsed means that Node holds the few fields that the watch keeps.
	Glimpsed
	// Missing means that Ironic has no node of this host.
	Missing
	// Recalled means that Node is as it was last read in full, with what the watch
	// keeps as of now: good enough for all that does not touch the machine's disks.
	Recalled
	// Seen means that Node is complete.
	Seen
)

// BMC is how a host's baseboard management controller is reached.
type BMC struct {
	// Secret and Version are the Secret's name and resource version.
	Secret, Version string
	// Username and Password are its content; never logged.
	Username, Password string
	// Access is what the address says about driver and interfaces.
	Access Access
	// Problem is what is wrong with Secret or address, empty for nothing.
	Problem string
	// Missing is true when the problem is that the Secret is not there (yet).
	Missing bool
}

// Holder is who had a node locked.
type Holder struct {
	// Text is Ironic's answer.
	Text string
	// Since is when the node was first found locked; zero for not at all.
	Since time.Time
}

// LiveImage is the state of a host's PreprovisioningImage, as of now.
type LiveImage struct {
	// Asked is true when the object exists as wanted.
	Asked bool
	// Unlike is true when the object's labels do not follow the host's.
	Unlike bool
	// Ready is true when the image can be used.
	Ready bool
	// Error is why it will not become ready without help, empty otherwise.
	Error string
	// Note is what it is waiting for, empty for no word.
	Note string
	// Format tells how to read the addresses.
	Format metal3.ImageFormat
	// URL is the ISO or the initrd, Kernel belongs to an initrd.
	URL, Kernel string
	// KernelParams are appended to the kernel's command line of an initrd.
	KernelParams string
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

// state returns the host's phase.
func (o *Observed) state() State { return o.Host.Status.Provisioning.State }

// phase returns the table's row of the host's state.
func (o *Observed) phase() phase { return phases[o.state()] }

// deleting reports whether the host is being deleted.
func (o *Observed) deleting() bool { return !o.Host.DeletionTimestamp.IsZero() }

// failing reports whether the status shows an error.
func (o *Observed) failing() bool { return o.Host.Status.ErrorType != "" }
