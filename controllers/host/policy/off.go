package policy

import (
	"time"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// ironicLooks is how long Ironic is given to look at the power of a machine by itself: three times as
// long as it has between two looks as a rule. After as many that failed it says that it has lost sight.
const ironicLooks = 3 * time.Minute

// OffWord is from when on Ironic's word that a machine is off is believed of one that may be in use. A
// machine that comes on by itself, as after a loss of mains, is off for Ironic until it looks, and to ask it
// for a look would have it switch the machine off.
type OffWord struct {
	// Node is whose power it is.
	Node string
	// Told is how often the machine's BMC had told of its power.
	Told uint64
	// From is by our own clock.
	From time.Time
}

// of reports whether the word is that of the present node, and nothing was told since.
func (w OffWord) of(o *Observed) bool { return w.Node == o.Node.UUID && w.Told == o.Told }

// saidOff reports whether Ironic has the machine as off.
func (o *Observed) saidOff() bool { return o.Node != nil && o.Node.PowerState == ironic.PowerOff }

// knownOff reports whether that is so, as far as anybody can know.
func (o *Observed) knownOff() bool { return o.saidOff() && o.offIn() <= 0 }

// offIn is how long it is until Ironic is believed that the machine is off.
func (o *Observed) offIn() time.Duration {
	if !o.Off.of(o) {
		return ironicLooks
	}
	return o.Off.From.Sub(o.Now)
}

// nextOff is what the next pass is to know: a machine that was seen to be anything but off is off
// once Ironic says so, since it has looked by then. Otherwise it may be that Ironic has looked before.
func (o *Observed) nextOff() OffWord {
	switch {
	case o.Node == nil:
		return OffWord{}
	case o.saidOff() && o.Off.of(o):
		return o.Off
	case !o.saidOff() && o.Off.Told == o.Told:
		return OffWord{Node: o.Node.UUID, Told: o.Told, From: o.Now}
	default:
		return OffWord{Node: o.Node.UUID, Told: o.Told, From: o.Now.Add(ironicLooks)}
	}
}

// waitForLook waits for Ironic to look at the power of a machine that it has as off.
func waitForLook(o *Observed, d *Decision) {
	d.wait(o.offIn(), view.Note{
		Step: "making sure that the machine is off", Text: "something may be installed on it, and it may have come on by itself",
		WaitingFor: "Ironic to look at the machine's power, which it does once a minute as a rule",
	})
}
