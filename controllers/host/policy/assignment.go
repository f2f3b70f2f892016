package policy

import (
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// Assignment says which Ironic a host belongs to.
type Assignment struct {
	// Name is the endpoint's name, empty while there is only one.
	Name string
	// Unwritten means that the choice was just made, and does not stand on the host yet.
	Unwritten bool
	// Waiting means that no choice can be made before an Ironic answers.
	Waiting bool
	// Unread names the Ironics whose nodes are not known yet, where that is why.
	Unread string
	// Problem is what is wrong with the assignment that stands on the host.
	Problem string
	// Elsewhere means that the problem is the host's node, which is in another Ironic.
	Elsewhere bool
}

// Causes of an assignment to an Ironic that is not configured, or that the host's node is
// not in.
const (
	causeEndpoint  = "UnknownIronic"
	causeElsewhere = "NodeInAnotherIronic"
)

// concernEndpoint stops a host whose Ironic is not known. A detached host has a node
// in none, and can go without.
func concernEndpoint(o *Observed, d *Decision) {
	switch {
	case isDetached(o.Host) && (o.Ironic.Waiting || o.Ironic.Problem != ""):
	case o.Ironic.Unread != "":
		way := "somebody to name one in the annotation " + names.Ironic
		if o.Ironic.Name != "" { // one is named already
			way = "somebody to take it out of the configuration"
		}
		d.wait(0, view.Note{
			Step: "choosing an Ironic", Text: "the host may have a node in one that was not read yet",
			WaitingFor: "Ironic " + o.Ironic.Unread + " to answer, or " + way,
		})
	case o.Ironic.Waiting:
		d.wait(WaitBusy, view.Note{Step: "choosing an Ironic", WaitingFor: "an Ironic that answers"})
	case o.Ironic.Problem == "":
		if stalledBy(o, causeEndpoint) || stalledBy(o, causeElsewhere) {
			clearError(d)
			d.Again = true
		}
	default:
		cause := causeEndpoint
		if o.Ironic.Elsewhere {
			cause = causeElsewhere
		}
		if o.Host.Status.ErrorMessage != o.Ironic.Problem {
			fail(o, d, o.registrationError(), cause, o.Ironic.Problem)
		}
		d.wait(0, view.Note{Step: "looking for the host's Ironic", WaitingFor: "somebody to correct the annotation, or to configure that Ironic"})
	}
}
