package host

import (
	"errors"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// endpoint is the Ironic that a host is managed through.
type endpoint struct {
	gateway Gateway
	watch   NodeWatch
}

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
