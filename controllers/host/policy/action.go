package policy

import (
	"time"

	"github.com/ironflow/ironflow/controllers/host/plan"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// Action is one idempotent thing that the executor can do. The concrete types
// below are all of them.
type Action interface {
	// Name is the action in words, for logs and tests.
	Name() string
}

// Looking: these change nothing.
type (
	// LookUp finds the node by id, name and MAC.
	LookUp struct{}
	// FindOwner looks whose the node is that was found.
	FindOwner struct{}
	// Refresh reads the node in full.
	Refresh struct{}
	// ReadInventory reads the inspection result.
	ReadInventory struct{}
	// ReadFailure reads the newest error after Since from the node's history.
	ReadFailure struct{ Since time.Time }
	// ReadConfigDrive reads the Secrets that the instance is given.
	ReadConfigDrive struct{}
	// ReadPullSecret reads the credentials of the image's registry.
	ReadPullSecret struct{}
	// MakeFirmware makes the host's firmware resources, still empty, of which its
	// machine has something to tell.
	MakeFirmware struct{}
	// ReadSettings takes over the BIOS settings that Ironic knows into
	// HostFirmwareSettings.
	ReadSettings struct{}
	// ReadComponents takes over the firmware versions that Ironic knows into
	// HostFirmwareComponents. Done, unless nil, are the updates that were carried out.
	ReadComponents struct{ Done []metal3.FirmwareUpdate }
	// Validate asks Ironic whether the node is fit to be deployed.
	Validate struct{}
)

// Taking turns.
type (
	// TakeSlot asks for a place among the hosts at work.
	TakeSlot struct{}
)

// Changing Ironic.
type (
	// Enrol creates the node.
	Enrol struct{ Enrolment ironic.Enrolment }
	// Update brings the node's fields to the desired values.
	Update struct{ Desired ironic.Desired }
	// EnsurePorts creates the node's missing ports, after it has removed those that are
	// Gone. Missing names those that a fresh node is known to lack; nil means that
	// Ironic has to be asked.
	EnsurePorts struct {
		Ports, Missing []ironic.Port
		Gone           []string
	}
	// Transition asks for a provision state.
	Transition struct{ ironic.Transition }
	// SetRAID sets the volumes that the next cleaning creates.
	SetRAID struct{ Disks []ironic.LogicalDisk }
	// Power asks for a power state.
	Power struct{ ironic.PowerRequest }
	// LookAtPower has Ironic look at once whether the machine is as it is wanted: asked for
	// what it takes for true, it reads the BMC and does nothing if that is so.
	LookAtPower struct{ Wanted ironic.PowerState }
	// Maintenance sets the flag with a reason, or unsets it.
	Maintenance struct {
		On     bool
		Reason string
	}
	// Remove deletes the node from Ironic; the machine is not touched.
	Remove struct{}
)

// Changing Kubernetes.
type (
	// Claim adds the host's finalizer and, where there are several Ironics, writes
	// down which one the host belongs to.
	Claim struct{ Ironic string }
	// Restore stores a status that was moved here together with the members that this
	// version does not know.
	Restore struct {
		Status  metal3.BareMetalHostStatus
		Unknown reconcile.Unknown
	}
	// Release drops the finalizers on everything of the host, and its own last.
	Release struct{}
	// AskImage creates or updates the PreprovisioningImage.
	AskImage struct {
		Spec metal3.PreprovisioningImageSpec
	}
	// LabelImage gives the PreprovisioningImage the labels of the host.
	LabelImage struct{}
	// SaveHardware writes HardwareData.
	SaveHardware struct{ Details *metal3.HardwareDetails }
)

// Name implements Action.
func (LookUp) Name() string { return "look up node" }

// Name implements Action.
func (FindOwner) Name() string { return "look whose node it is" }

// Name implements Action.
func (Refresh) Name() string { return "read node" }

// Name implements Action.
func (ReadInventory) Name() string { return "read inventory" }

// Name implements Action.
func (ReadFailure) Name() string { return "read failure" }

// Name implements Action.
func (ReadConfigDrive) Name() string { return "read config drive" }

// Name implements Action.
func (MakeFirmware) Name() string { return "make firmware resources" }

// Name implements Action.
func (ReadSettings) Name() string { return "read BIOS settings" }

// Name implements Action.
func (ReadComponents) Name() string { return "read firmware components" }

// Name implements Action.
func (SetRAID) Name() string { return "set RAID target" }

// Name implements Action.
func (ReadPullSecret) Name() string { return "read image pull secret" }

// Name implements Action.
func (Validate) Name() string { return "validate node" }

// Name implements Action.
func (TakeSlot) Name() string { return "take a slot" }

// Name implements Action.
func (Enrol) Name() string { return "enrol node" }

// Name implements Action.
func (Update) Name() string { return "update node" }

// Name implements Action.
func (EnsurePorts) Name() string { return "ensure ports" }

// Name implements Action.
func (t Transition) Name() string { return "ask for " + string(t.Target) }

// Name implements Action.
func (p Power) Name() string { return "ask for " + string(p.Target) }

// Name implements Action.
func (LookAtPower) Name() string { return "look at power" }

// Name implements Action.
func (m Maintenance) Name() string {
	if m.On {
		return "set maintenance"
	}
	return "unset maintenance"
}

// Name implements Action.
func (Remove) Name() string { return "remove node" }

// Name implements Action.
func (Claim) Name() string { return "add finalizer" }

// Name implements Action.
func (Restore) Name() string { return "restore status" }

// Name implements Action.
func (Release) Name() string { return "release host" }

// Name implements Action.
func (AskImage) Name() string { return "ask for live image" }

// Name implements Action.
func (LabelImage) Name() string { return "label live image" }

// Name implements Action.
func (SaveHardware) Name() string { return "save hardware data" }

// Announced reports whether the host's phase is stored before a is done. It must be
// before requests that change what is on the machine, or that end the node. Others
// are recognised as done after a crash: a node that is being inspected has been
// verified, whatever else of them in any phase that is stored. The first
// verification is no such request, but may end sooner than a write that follows it.
func Announced(a Action, stored State) bool {
	switch a := a.(type) {
	case Transition:
		switch a.Target {
		case ironic.TargetManage:
			return stored == StateNone
		case ironic.TargetAdopt, ironic.TargetAbort:
			return false
		case ironic.TargetInspect:
			return stored != metal3.StateRegistering
		default:
			return true
		}
	case Update:
		_, order := a.Desired.Extra[plan.KeyOrder]
		return order
	case Remove:
		return true
	}
	return false
}

// onMachine reports whether a changes what is on the machine, or what Ironic may
// do with it, so that the node has to be looked at right before.
func onMachine(a Action) bool {
	switch a := a.(type) {
	case Transition:
		return a.Target != ironic.TargetManage && a.Target != ironic.TargetInspect
	case Maintenance, Remove, Validate, SetRAID:
		return true
	}
	return false
}

// attempts reports whether a begins what an error may have come from.
func attempts(a Action) bool {
	switch a.(type) {
	case Enrol, Transition, Power:
		return true
	}
	return false
}

// ToIronic reports whether an action needs Ironic to answer.
func ToIronic(a Action) bool {
	switch a.(type) {
	case TakeSlot, ReadConfigDrive, ReadPullSecret, Claim, Restore, Release, AskImage, LabelImage, SaveHardware, SettleMedia, Announce:
		return false
	}
	return true
}
