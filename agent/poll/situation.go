package poll

import (
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Situation is what the hub seems to be doing with the host. The protocol does
// not send a host its state, but each state has its own set of steps.
type Situation string

// The situations that an agent can tell apart.
const (
	Unknown      Situation = "unknown"
	Discovering  Situation = "discovering"
	Unbound      Situation = "unbound"
	Insufficient Situation = "insufficient"
	Known        Situation = "known"
	Bound        Situation = "bound"
	Preparing    Situation = "preparing"
	Installing   Situation = "installing"
	Stopping     Situation = "stopping"
	Moving       Situation = "moving"
)

// texts say, per situation, what is waited for and who can end it.
var texts = map[Situation]string{
	Unknown:      "the hub has nothing to do for this host now; look at the host in the hub",
	Discovering:  "registered; the hub examines the inventory",
	Unbound:      "registered, in the pool; approve the host and bind it to a cluster in the hub",
	Insufficient: "registered, but the hub's validations do not all pass; look at the host's validations in the hub",
	Known:        "ready to install; approve the host, or wait until its cluster is ready and starts",
	Bound:        "registered in a cluster; approve the host, look at its validations in the hub, or wait until the cluster starts",
	Preparing:    "the cluster prepares its installation; disks and images are checked",
	Installing:   "the hub has ordered the installation",
	Stopping:     "the hub has ended the installation; logs are gathered",
	Moving:       "the host is being bound or unbound; it registers again",
}

// Text is the situation in one sentence for people.
func (s Situation) Text() string { return texts[s] }

// Moot tells whether nobody waits any more, in this situation, for the result of
// a step that was asked for in an earlier one. The checks of an installation
// that is being prepared write to its disk and pull its images: they must not go
// on beside the installation, nor after it was called off.
func (s Situation) Moot(kind wire.StepType) bool {
	switch s {
	case Stopping:
		return kind != wire.StepTypeLogsGather && kind != wire.StepTypeStopInstallation
	case Discovering, Unbound, Insufficient, Known, Bound, Installing:
		return kind == wire.StepTypeInstallationDiskSpeedCheck || kind == wire.StepTypeContainerImageAvailability
	default:
		return false
	}
}

// SituationOf reads the situation from the steps of one answer, see the
// protocol's table of steps per host status. First match wins.
func SituationOf(steps wire.Steps) Situation {
	types := make([]wire.StepType, 0, len(steps.Instructions))
	for _, step := range steps.Instructions {
		types = append(types, step.StepType)
	}
	at := func(t wire.StepType) int { return slices.Index(types, t) }
	has := func(t wire.StepType) bool { return at(t) >= 0 }
	only := func(t ...wire.StepType) bool { return slices.Equal(types, t) }
	inventory, among := at(wire.StepTypeInventory), at(wire.StepTypeConnectivityCheck)
	for _, row := range []struct {
		match bool
		is    Situation
	}{
		{exits(steps) && len(types) == 0, Moving},
		{has(wire.StepTypeInstall), Installing},
		{has(wire.StepTypeStopInstallation), Stopping},
		{has(wire.StepTypeInstallationDiskSpeedCheck) || has(wire.StepTypeContainerImageAvailability), Preparing},
		{only(wire.StepTypeInventory), Discovering},
		{only(wire.StepTypeInventory, wire.StepTypeNTPSynchronizer), Unbound},
		// Hosts that may be installed check the others first, hosts that lack something their inventory.
		{among >= 0 && inventory > among, Known},
		{among >= 0 && inventory >= 0, Insufficient},
		{inventory >= 0, Bound},
	} {
		if row.match {
			return row.is
		}
	}
	return Unknown
}

func exits(steps wire.Steps) bool {
	return steps.PostStepAction != nil && *steps.PostStepAction == wire.StepsPostStepActionExit
}
