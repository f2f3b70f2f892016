package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/view"
)

// Preflight is what the hardware says of the host's wishes. The zero value is that
// nobody asks it.
type Preflight struct {
	// On means that wishes are checked before a machine is started for them.
	On bool
	// Judged means that the verdict is about the wishes as they are now. There is one also
	// where the BMC does not answer: what is not known is no obstacle.
	Judged bool
	// Mismatch says which wishes cannot work and what to write instead; empty for none.
	Mismatch string
}

// fit reports whether the verdict, where there is to be one, lets the host go on.
func (p Preflight) fit() bool { return !p.On || p.Judged && p.Mismatch == "" }

// fits reports whether the host may go on with its wishes. Before the verdict it
// waits; a wish that cannot work is an error that ends with the wish.
func fits(o *Observed, d *Decision, kind metal3.ErrorType) bool {
	switch {
	case !o.Preflight.On:
		return true
	case !o.Preflight.Judged:
		d.wait(0, view.Note{Step: "checking the wishes against the hardware", WaitingFor: "a report of the BMC"})
		return false
	case o.Preflight.Mismatch != "":
		fail(o, d, kind, causePreflight, o.Preflight.Mismatch)
		return false
	}
	return true
}
