package nodeaction

import (
	"time"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/ironic"
)

// on is the node that an action is for.
type on struct{ node *ironic.Node }

// Node is the node that an action is for, as it was read. It is nil for an action that
// was made from no node, which nobody carries out.
func (a on) Node() *ironic.Node { return a.node }

// OnNode is what every action of this package is.
type OnNode interface {
	Node() *ironic.Node
}

// Looking at more of a known node: these change nothing.
type (
	// FindOwner looks whose the node is that was found.
	FindOwner struct{ on }
	// ReadInventory reads the inspection result.
	ReadInventory struct{ on }
	// ReadFailure reads the newest error after Since from the node's history.
	ReadFailure struct {
		on
		Since time.Time
	}
	// MakeFirmware makes the host's firmware resources, still empty, of which its
	// machine has something to tell.
	MakeFirmware struct{ on }
	// ReadSettings takes over the BIOS settings that Ironic knows into
	// HostFirmwareSettings.
	ReadSettings struct{ on }
	// ReadComponents takes over the firmware versions that Ironic knows into
	// HostFirmwareComponents. Done is what became of updates that it was asked for.
	ReadComponents struct {
		on
		Done firmware.Outcome
	}
	// LookAtPower has Ironic look at once whether the machine is as it is wanted: asked for
	// what it takes for true, it reads the BMC and does nothing if that is so.
	LookAtPower struct {
		on
		Wanted ironic.PowerState
	}
)

// Changing a known node, and not what is on its machine.
type (
	// Update brings the node's fields to the desired values.
	Update struct {
		on
		Desired ironic.Desired
	}
	// EnsurePorts creates the node's missing ports, after it has removed those that are
	// Gone. Missing names those that a fresh node is known to lack; nil means that
	// Ironic has to be asked.
	EnsurePorts struct {
		on
		PortList
	}
)

// PortList is what [EnsurePorts] works on.
type PortList struct {
	Ports, Missing []ironic.Port
	Gone           []string
}

// FindOwner looks whose the node is.
func (k Known) FindOwner() FindOwner { return FindOwner{on{k.node}} }

// ReadInventory reads the inspection result.
func (k Known) ReadInventory() ReadInventory { return ReadInventory{on{k.node}} }

// ReadFailure reads the newest error after a time.
func (k Known) ReadFailure(since time.Time) ReadFailure { return ReadFailure{on{k.node}, since} }

// MakeFirmware makes the host's firmware resources.
func (k Known) MakeFirmware() MakeFirmware { return MakeFirmware{on{k.node}} }

// ReadSettings takes the BIOS settings over.
func (k Known) ReadSettings() ReadSettings { return ReadSettings{on{k.node}} }

// ReadComponents takes the firmware versions over, and notes what became of updates.
func (k Known) ReadComponents(done firmware.Outcome) ReadComponents {
	return ReadComponents{on{k.node}, done}
}

// LookAtPower has Ironic look at the machine's power.
func (k Known) LookAtPower(wanted ironic.PowerState) LookAtPower {
	return LookAtPower{on{k.node}, wanted}
}

// Update brings the node's fields to the desired values.
func (k Known) Update(want ironic.Desired) Update { return Update{on{k.node}, want} }

// EnsurePorts makes the node's ports complete.
func (k Known) EnsurePorts(l PortList) EnsurePorts { return EnsurePorts{on{k.node}, l} }

// Manage has Ironic verify the BMC, or leave a state at rest or of failure, by which nothing
// happens to the machine.
func (k Known) Manage() Transition { return ask(k, ironic.Transition{Target: ironic.TargetManage}) }

// Inspect has Ironic inspect the machine.
func (k Known) Inspect() Transition { return ask(k, ironic.Transition{Target: ironic.TargetInspect}) }

// Name implements Action.
func (FindOwner) Name() string { return "look whose node it is" }

// Name implements Action.
func (ReadInventory) Name() string { return "read inventory" }

// Name implements Action.
func (ReadFailure) Name() string { return "read failure" }

// Name implements Action.
func (MakeFirmware) Name() string { return "make firmware resources" }

// Name implements Action.
func (ReadSettings) Name() string { return "read BIOS settings" }

// Name implements Action.
func (ReadComponents) Name() string { return "read firmware components" }

// Name implements Action.
func (LookAtPower) Name() string { return "look at power" }

// Name implements Action.
func (Update) Name() string { return "update node" }

// Name implements Action.
func (EnsurePorts) Name() string { return "ensure ports" }
