package nodeaction

import "github.com/ironflow/ironflow/ironic"

// Changing what is on the machine, its power, what Ironic may do with it, or the node's
// end: only on a node that was read in this pass.
type (
	// Transition asks for a provision state. Those that do nothing to the machine can be
	// had from a [Known] node.
	Transition struct {
		on
		ironic.Transition
	}
	// Power asks for a power state.
	Power struct {
		on
		ironic.PowerRequest
	}
	// Maintenance sets the flag with a reason, or unsets it.
	Maintenance struct {
		on
		On     bool
		Reason string
	}
	// SetRAID sets the volumes that the next cleaning creates.
	SetRAID struct {
		on
		Disks []ironic.LogicalDisk
	}
	// Validate asks Ironic whether the node is fit to be deployed.
	Validate struct{ on }
	// Remove deletes the node from Ironic; the machine is not touched.
	Remove struct{ on }
)

func ask(k Known, t ironic.Transition) Transition { return Transition{on{k.node}, t} }

// Transition asks for a provision state.
func (r Read) Transition(t ironic.Transition) Transition { return ask(r.Known, t) }

// Power asks for a power state.
func (r Read) Power(p ironic.PowerRequest) Power { return Power{on{r.node}, p} }

// SetMaintenance takes the node into maintenance.
func (r Read) SetMaintenance(reason string) Maintenance {
	return Maintenance{on{r.node}, true, reason}
}

// EndMaintenance takes the node out of maintenance.
func (r Read) EndMaintenance() Maintenance { return Maintenance{on: on{r.node}} }

// SetRAID sets the volumes that the next cleaning creates.
func (r Read) SetRAID(disks []ironic.LogicalDisk) SetRAID { return SetRAID{on{r.node}, disks} }

// Validate asks whether the node is fit to be deployed.
func (r Read) Validate() Validate { return Validate{on{r.node}} }

// Remove deletes the node.
func (r Read) Remove() Remove { return Remove{on{r.node}} }

// Name implements Action.
func (t Transition) Name() string { return "ask for " + string(t.Target) }

// Name implements Action.
func (p Power) Name() string { return "ask for " + string(p.Target) }

// Name implements Action.
func (m Maintenance) Name() string {
	if m.On {
		return "set maintenance"
	}
	return "unset maintenance"
}

// Name implements Action.
func (SetRAID) Name() string { return "set RAID target" }

// Name implements Action.
func (Validate) Name() string { return "validate node" }

// Name implements Action.
func (Remove) Name() string { return "remove node" }
