package policy

import (
	"cmp"
	"slices"
	"time"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// Kept is what is remembered of a host from one pass to the next, in this process
// alone: a restart of the program, or another leader, loses it at any time. So nothing
// is in it whose loss would have something else done to a machine; that is stored on
// the host or on its node. Each field says what its loss costs.
type Kept struct {
	// Looked is when the node was last read in full; zero for never. Lost: one more read.
	Looked time.Time
	// Ports is the set of ports that the node is known to have. Lost: they are compared again.
	Ports string
	// Fresh means that this process has enrolled the node: it has no ports but ours
	// and those that inspection made. Lost: its ports are read before some are created.
	Fresh bool
	// NoInventory means that the inspection result was asked for and there is none. Lost:
	// it is asked for again.
	NoInventory bool
	// PowerAsked is the power request that was last accepted and not seen fulfilled. Lost:
	// the same power state, which the host's spec asks for, is asked for once more before
	// the reason why it does not come about is shown.
	PowerAsked ironic.PowerState
	// SoftRefused means that the driver knows no soft power action. Lost: it refuses once more.
	SoftRefused bool
	// Verifying is since when the node is seen to be verified, by our own clock; zero for
	// not, or not before this pass. Lost: the limit on that begins anew.
	Verifying time.Time
	// PowerLooked is when Ironic was last asked to look at the machine's power because its
	// BMC had told of it. Lost: what came of that is seen at the watch's usual pace.
	PowerLooked time.Time
	// Off is what Ironic's word that the machine is off is worth. Lost: a machine that may be in use
	// is taken to be off by that once Ironic has had the time to look.
	Off OffWord
	// Wish is, as ironic.Row has it, what the node is known to hold that is none other than the
	// status says, although it is written otherwise, and WishTold the digest of what that said: a status of a
	// backup says something else. Lost: one more read.
	Wish, WishTold string
	// SeenIn is the phase in which the host's node was last seen, with nothing on the machine
	// that the status does not know of. Lost, with the node: the machine is left alone if it is
	// on, until somebody says that nothing of it is needed.
	SeenIn State
	// SeenOf is which machine that was.
	SeenOf string
	// Unasked is the time of the order of work (see plan.Order) that this process has put on the node,
	// and that Ironic has not taken: it was not asked yet, or has turned every request away. Lost: if somebody
	// else has the node change its state before Ironic is asked, nobody knows whether the work was done.
	Unasked time.Time
	// Heard means that the status records that Ironic has taken the order that it carries out. Lost: one more read.
	Heard bool
	// Busy is who held the node when a call was last turned away, and since when. Lost: a
	// lock that lasts is shown half a minute later.
	Busy Holder
}

// asThePhaseHasIt reports a node that is seen to be as it is in the host's phase: Ironic does what the
// phase is for, or nothing in all of the node speaks against it.
func (o *Observed) asThePhaseHasIt() bool {
	if o.Node == nil || o.Node.UUID != o.Host.Status.Provisioning.ID || o.ofOtherMachine() || o.Baseline() != BaselineKnown {
		return false
	}
	_, read := o.InFull()
	return read || slices.Contains(o.phase().running, o.Node.ProvisionState)
}

// seenAtWork reports whether this process has seen a node of the host's machine in the host's phase.
func (o *Observed) seenAtWork() bool {
	return o.SeenIn == o.State() && o.SeenOf == nodespec.MachineText(o.Host)
}

// endedUnheard reports a machine that is not in use by its host's status, and whose node holds an instance: the work has
// ended, which cannot be heeded, as of a host that is held or has no Secret, or is yet to begin.
func (o *Observed) endedUnheard() bool {
	return o.Node != nil && !nodespec.InUse(o.Host) && slices.Contains(inUse, o.Node.ProvisionState)
}

// Keep is what the next pass is to know. failed means that this pass has recorded an error;
// stored is the phase that the API server has, where the next pass begins: what this one has come
// to since could not be written.
func (o *Observed) Keep(failed bool, stored State) Kept {
	k := o.Kept
	k.Fresh = k.Fresh && !o.Steady()
	k.Verifying = time.Time{}
	if o.Node != nil && o.Node.ProvisionState == ironic.StateVerifying {
		k.Verifying = cmp.Or(o.Verifying, o.Now)
	}
	if o.Node == nil || fulfilled(o.Node, k.PowerAsked) || failed {
		k.PowerAsked = "" // its failure counts once
	}
	k.Off, k.Heard = o.nextOff(), o.heard()
	switch {
	case o.endedUnheard():
		k.SeenIn = ""
	case o.asThePhaseHasIt():
		k.SeenIn, k.SeenOf = o.State(), nodespec.MachineText(o.Host)
		if !nodespec.InUse(o.Host) {
			k.SeenIn = stored
		}
	}
	if _, read := o.InFull(); read {
		k.Wish, k.WishTold = "", ""
		if slices.Contains(inUse, o.Node.ProvisionState) && !o.holdsOther() {
			k.Wish, k.WishTold = o.Node.Wish, nodespec.Deployed(o.Host).Digest()
		}
	}
	return k
}

// Holder is who had a node locked.
type Holder struct {
	// Text is Ironic's answer.
	Text string
	// Since is when the node was first found locked; zero for not at all.
	Since time.Time
}
