package host

import (
	"errors"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// endpoint is the Ironic that a host is managed through.
type endpoint struct {
	gateway Gateway
	watch   NodeWatch
}

// Assignment says which Ironic a host belongs to.
type Assignment struct {
	// Name is the endpoint's name, empty while there is only one.
	Name string
	// Unwritten means that the choice was just made, and does not stand on the host yet.
	Unwritten bool
	// Waiting means that no choice can be made before an Ironic answers.
	Waiting bool
	// Problem is what is wrong with the assignment that stands on the host.
	Problem string
}

// causeEndpoint is the cause of an assignment to an Ironic that is not configured.
const causeEndpoint = "UnknownIronic"

// ironicOf finds a host's Ironic. Where there are several, the choice is made once
// and written on the host before anything is done: a host that one of them knows
// belongs there, any other goes to the one with the fewest nodes.
func (r *Reconciler) ironicOf(h *metal3.BareMetalHost) (endpoint, Assignment) {
	all := r.options.Ironics
	if all == nil {
		return endpoint{r.options.Gateway, r.options.Watch}, Assignment{}
	}
	name := h.Annotations[names.Ironic]
	list := all.All()
	fallback := endpoint{list[0].Gateway, list[0].Watch}
	if name != "" || len(list) == 1 {
		e, err := all.Get(name)
		if err != nil {
			return fallback, Assignment{Problem: "the annotation " + names.Ironic + " cannot be followed: " + err.Error()}
		}
		return endpoint{e.Gateway, e.Watch}, Assignment{Name: e.Name()}
	}
	e, err := chooseIronic(all, h)
	if err != nil {
		return fallback, Assignment{Waiting: true}
	}
	return endpoint{e.Gateway, e.Watch}, Assignment{Name: e.Name(), Unwritten: true}
}

// errUnclear means that a host's node may be known to an Ironic that was not read yet.
var errUnclear = errors.New("not all Ironics have been read")

// chooseIronic assigns a host that carries no assignment.
func chooseIronic(all *ironic.Endpoints, h *metal3.BareMetalHost) (*ironic.Endpoint, error) {
	unread := false
	for _, e := range all.All() {
		row, found, complete := e.Watch.Named(nodeName(h))
		if _, known := e.Watch.Row(h.Status.Provisioning.ID); known || found && row.UUID != "" {
			return e, nil
		}
		unread = unread || !complete
	}
	if unread && h.Status.Provisioning.ID != "" {
		return nil, errUnclear
	}
	return all.Assign() // a new host, or one whose node is lost or detached: no Ironic is nearer than another
}

// concernEndpoint stops a host whose Ironic is not known. A detached host has a node
// in none, and can go without.
func concernEndpoint(o *Observed, d *Decision) {
	switch {
	case isDetached(o.Host) && (o.Ironic.Waiting || o.Ironic.Problem != ""):
	case o.Ironic.Waiting:
		d.wait(waitBusy, view.Note{Step: "choosing an Ironic", WaitingFor: "an Ironic that answers"})
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
