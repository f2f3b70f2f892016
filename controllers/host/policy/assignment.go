package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

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
}

// causeEndpoint is the cause of an assignment to an Ironic that is not configured.
const causeEndpoint = "UnknownIronic"

// concernEndpoint stops a host whose Ironic is not known. A detached host has a node
// in none, and can go without.
func concernEndpoint(o *Observed, d *Decision) {
	switch {
	case isDetached(o.Host) && (o.Ironic.Waiting || o.Ironic.Problem != ""):
	case o.Ironic.Unread != "":
		d.wait(0, view.Note{
			Step: "choosing an Ironic", Text: "the host may have a node in one that was not read yet",
			WaitingFor: "Ironic " + o.Ironic.Unread + " to answer, or somebody to name one in the annotation " + names.Ironic,
		})
	case o.Ironic.Waiting:
		d.wait(WaitBusy, view.Note{Step: "choosing an Ironic", WaitingFor: "an Ironic that answers"})
	case o.Ironic.Problem == "":
		if stalledBy(o, causeEndpoint) {
			clearError(d)
			d.Again = true
		}
	default:
		if o.Host.Status.ErrorMessage != o.Ironic.Problem {
			fail(o, d, metal3.RegistrationError, causeEndpoint, o.Ironic.Problem)
		}
		d.wait(0, view.Note{Step: "looking for the host's Ironic", WaitingFor: "somebody to correct the annotation, or to configure that Ironic"})
	}
}
