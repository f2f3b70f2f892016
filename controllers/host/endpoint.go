package host

import (
	"cmp"
	"strings"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

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
// belongs there, any other goes to the one with the fewest nodes, once all were read.
func (r *Reconciler) ironicOf(h *metal3.BareMetalHost) (endpoint, policy.Assignment) {
	all := r.options.Ironics
	if all == nil {
		return endpoint{r.options.Gateway, r.options.Watch}, policy.Assignment{}
	}
	name := h.Annotations[names.Ironic]
	list := all.All()
	fallback := endpoint{list[0].Gateway, list[0].Watch}
	if name != "" || len(list) == 1 {
		e, err := all.Get(name)
		if err != nil {
			return fallback, policy.Assignment{Problem: "the annotation " + names.Ironic + " cannot be followed: " + err.Error()}
		}
		return endpoint{e.Gateway, e.Watch}, policy.Assignment{Name: e.Name()}
	}
	e, unread := chooseIronic(all, h)
	if e == nil {
		return fallback, policy.Assignment{Waiting: true, Unread: unread}
	}
	return endpoint{e.Gateway, e.Watch}, policy.Assignment{Name: e.Name(), Unwritten: true}
}

// chooseIronic assigns a host that carries no assignment; to none, while its node may
// be in an Ironic whose nodes are not known yet: those are named. The id of a node
// counts before its name, which a node of before may have in another Ironic.
func chooseIronic(all *ironic.Endpoints, h *metal3.BareMetalHost) (chosen *ironic.Endpoint, unread string) {
	var missing []string
	var named, short *ironic.Endpoint
	id := h.Status.Provisioning.ID
	for _, e := range all.All() {
		if _, known := e.Watch.Row(id); known {
			return e, ""
		}
		if _, found, _ := e.Watch.Named(nodespec.NodeName(h)); found {
			named = cmp.Or(named, e)
		}
		if _, found, _ := e.Watch.Named(ironic.PlainName(nodespec.NodeName(h))); found {
			short = e
		}
		if !isRead(e.Watch) {
			missing = append(missing, e.Name())
		}
	}
	switch {
	case named != nil && (id == "" || len(missing) == 0):
		return named, ""
	case len(missing) > 0:
		return nil, strings.Join(missing, ", ")
	case short != nil:
		return short, ""
	}
	chosen, _ = all.Assign() // new, lost or detached: no Ironic is nearer than another
	return chosen, ""
}

// isRead reports whether a watch has seen all nodes since the start.
func isRead(w NodeWatch) bool {
	select {
	case <-w.Synced():
		return true
	default:
		return false
	}
}

// several reports whether hosts are assigned to Ironics.
func (o Options) several() bool { return o.Ironics != nil && len(o.Ironics.All()) > 1 }

// watches are the watches of all Ironics, by the names that assignments have.
func (r *Reconciler) watches() map[string]NodeWatch {
	if r.options.Ironics == nil {
		return map[string]NodeWatch{"": r.options.Watch}
	}
	all := map[string]NodeWatch{}
	for _, e := range r.options.Ironics.All() {
		all[e.Name()] = e.Watch
	}
	return all
}
