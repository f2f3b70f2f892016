package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// Action is one idempotent thing that the executor can do. The concrete types
// below and in package nodeaction are all of them.
type Action interface {
	// Name is the action in words, for logs and tests.
	Name() string
}

// Looking: these change nothing.
type (
	// LookUp finds the node by id, name and MAC.
	LookUp struct{}
	// LookAtBMC looks whether a node is there that is said to have the host's BMC, before the host
	// is given one of its own.
	LookAtBMC struct{ ID string }
	// ReadConfigDrive reads the Secrets that the instance is given.
	ReadConfigDrive struct{}
	// ReadPullSecret reads the credentials of the image's registry.
	ReadPullSecret struct{}
)

// Taking turns.
type (
	// TakeSlot asks for a place among the hosts at work.
	TakeSlot struct{}
)

// Changing Ironic. What is done to a node that is there already is made from that node:
// see package nodeaction.
type (
	// Enrol creates the node.
	Enrol struct{ Enrolment ironic.Enrolment }
)

// Changing Kubernetes.
type (
	// Claim adds the host's finalizer and, where there are several Ironics, writes
	// down which one the host belongs to.
	Claim struct{ Ironic string }
	// RecordDeployed has the host's metadata keep what is deployed on its machine, as a digest; empty for nothing.
	RecordDeployed struct{ Digest string }
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
func (LookAtBMC) Name() string { return "look at the node of the BMC" }

// Name implements Action.
func (ReadConfigDrive) Name() string { return "read config drive" }

// Name implements Action.
func (ReadPullSecret) Name() string { return "read image pull secret" }

// Name implements Action.
func (TakeSlot) Name() string { return "take a slot" }

// Name implements Action.
func (Enrol) Name() string { return "enrol node" }

// Name implements Action.
func (Claim) Name() string { return "add finalizer" }

// Name implements Action.
func (RecordDeployed) Name() string { return "record what is deployed" }

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
	case nodeaction.Transition:
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
	case nodeaction.Update:
		_, order := a.Desired.Extra[plan.KeyOrder]
		return order
	case nodeaction.Remove:
		return true
	}
	return false
}

// attempts reports whether a begins what an error may have come from.
func attempts(a Action) bool {
	switch a.(type) {
	case Enrol, nodeaction.Transition, nodeaction.Power:
		return true
	}
	return false
}

// ToIronic reports whether an action needs Ironic to answer.
func ToIronic(a Action) bool {
	switch a.(type) {
	case TakeSlot, ReadConfigDrive, ReadPullSecret, Claim, RecordDeployed, Restore, Release, AskImage, LabelImage, SaveHardware, SettleMedia, Announce:
		return false
	}
	return true
}
