package policy

import "github.com/ironflow/ironflow/controllers/host/view"

// Media is how a host's virtual media stand before its machine is started. The
// zero value means that nothing stands in the way.
type Media struct {
	// Pending means that the DataImage of the host is not attached (or ejected) yet.
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

// mediaSettled reports whether a machine may be started. If not, it asks for what
// is missing, once, and waits.
func mediaSettled(o *Observed, d *Decision, restart bool) bool {
	switch {
	case !o.Media.Pending:
		return true
	case !o.Media.Asked:
		d.do(SettleMedia{restart})
	default:
		d.wait(lookAgain, view.Note{
			Step: "settling the data image before the machine starts", Text: o.Media.Note, WaitingFor: "the host's DataImage (deleting it lets the machine start without)",
		})
	}
	return false
}
