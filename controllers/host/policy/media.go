package policy

import (
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// Media is how a host's virtual media stand before its machine is started, or used
// again. The zero value means that nothing stands in the way.
type Media struct {
	// Pending means that the DataImage of the host is not attached (or ejected) yet; of a
	// host that is not in use, that what was attached for its former use is not ejected.
	Pending bool
	// Asked means that the media controller knows that the machine waits for it.
	Asked bool
	// Note is what it waits for, empty for no word.
	Note string
}

// SettleMedia asks the media controller to settle the host's virtual media.
type SettleMedia struct {
	// Restart says that the machine stays on: its power must not be cut.
	Restart bool
}

// Name implements Action.
func (SettleMedia) Name() string { return "settle virtual media" }

// emptyDrive has what was attached for an available host's former use ejected, before
// anything else is done with the machine than switching it off.
func emptyDrive(o *Observed, d *Decision) {
	if on, _ := poweredOn(o.Node); on && !o.Host.Spec.Online && !o.Host.Spec.DisablePowerOff {
		stepPower(o, d)
		return
	}
	mediaSettled(o, d, false)
}

// mediaSettled reports whether a machine may be started or used again. If not, it asks for what
// is missing, once, and waits.
func mediaSettled(o *Observed, d *Decision, restart bool) bool {
	switch {
	case !o.Media.Pending:
		return true
	case !o.Media.Asked:
		d.do(SettleMedia{restart})
	case !nodespec.InUse(o.Host):
		d.wait(lookAgain, view.Note{
			Step: "ejecting the data image of the host's former use", Text: o.Media.Note,
			WaitingFor: "the host's DataImage (its annotation " + names.Retry + " tries again at once; ejecting the image at the BMC helps too)",
		})
	default:
		d.wait(lookAgain, view.Note{
			Step: "attaching or ejecting the data image before the machine starts", Text: o.Media.Note, WaitingFor: "the host's DataImage (deleting it lets the machine start without)",
		})
	}
	return false
}
