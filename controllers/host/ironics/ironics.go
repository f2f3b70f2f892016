// Package ironics knows which Ironic a host is managed through. The main type is
// [Set]; an [Endpoint] is one Ironic: its gateway for requests, and its node watch.
//
// The interfaces say what the host controller needs of an Ironic. [ironic.Gateway] and
// [ironic.Watch] implement them.
package ironics

import (
	"cmp"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
)

// Endpoint is one Ironic.
type Endpoint struct {
	Gateway Gateway
	Watch   Watch
}

// Set is one Ironic, or several among which hosts are divided.
type Set struct {
	// Several are the endpoints, in the place of One; nil for one.
	Several *ironic.Endpoints
	// One is the only Ironic.
	One Endpoint
}

// Of finds a host's Ironic. Where there are several, the choice is made once and
// written on the host before anything is done: a host that one of them knows belongs
// there, any other goes to the one with the fewest nodes, once all were read.
func (s Set) Of(h *metal3.BareMetalHost) (Endpoint, policy.Assignment) {
	if s.Several == nil {
		return s.One, policy.Assignment{}
	}
	name := h.Annotations[names.Ironic]
	list := s.Several.All()
	fallback := Endpoint{list[0].Gateway, list[0].Watch}
	if name != "" || len(list) == 1 {
		e, err := s.Several.Get(name)
		if err != nil {
			return fallback, policy.Assignment{Problem: "the annotation " + names.Ironic + " cannot be followed: " + err.Error()}
		}
		return checked(s.Several, e, h)
	}
	e, unread := choose(s.Several, h)
	if e == nil {
		return fallback, policy.Assignment{Waiting: true, Unread: unread}
	}
	return Endpoint{e.Gateway, e.Watch}, policy.Assignment{Name: e.Name(), Unwritten: true}
}

// checked is the assignment that stands on a host, unless the host's node is in another
// Ironic: that one would keep it, and a machine must not have two. A host that is being
// deleted belongs where its node is; one that is detached has none to leave behind.
func checked(all *ironic.Endpoints, e *ironic.Endpoint, h *metal3.BareMetalHost) (Endpoint, policy.Assignment) {
	at, a := Endpoint{e.Gateway, e.Watch}, policy.Assignment{Name: e.Name()}
	_, there := nodeOf(e.Watch, h)
	if !mayHaveNode(h) || there {
		return at, a
	}
	var missing []string
	for _, other := range all.All() {
		if other == e {
			continue
		}
		if node, there := nodeOf(other.Watch, h); there && h.DeletionTimestamp != nil {
			return Endpoint{other.Gateway, other.Watch}, policy.Assignment{Name: other.Name()}
		} else if there {
			a.Elsewhere, a.Problem = true, elsewhere(e.Name(), other.Name(), node, h)
			return at, a
		}
		if !isRead(other.Watch) {
			missing = append(missing, other.Name())
		}
	}
	if len(missing) > 0 && h.Status.Provisioning.ID != "" {
		a.Waiting, a.Unread = true, strings.Join(missing, ", ")
	}
	return at, a
}

// mayHaveNode reports whether a host has a node, or may have one whose id was not stored
// because the program was killed at that moment.
func mayHaveNode(h *metal3.BareMetalHost) bool {
	return h.Status.OperationalStatus != metal3.OperationalStatusDetached &&
		(h.Status.Provisioning.ID != "" || h.Status.Provisioning.State == metal3.StateRegistering)
}

// nodeOf finds a host's node among those of an Ironic: by its id or, while that is not
// stored, by its full name.
func nodeOf(w Watch, h *metal3.BareMetalHost) (id string, there bool) {
	if id = h.Status.Provisioning.ID; id != "" {
		_, there = w.Row(id)
		return id, there
	}
	row, there, _ := w.Named(nodespec.NodeName(h))
	return row.UUID, there
}

// OtherAtBMC is the id of a node that has a host's BMC and that the host's status does not name;
// empty for none, as far as is known. Nodes that were enrolled by others tell of it once the host
// controller has changed them.
func OtherAtBMC(t Table, h *metal3.BareMetalHost) string {
	for _, id := range t.OfMachine(nodespec.SameBMCKeys(h)...) {
		if id != h.Status.Provisioning.ID {
			return id
		}
	}
	return ""
}

// elsewhere says what is wrong and what to do. A host can be detached when it is registered.
func elsewhere(said, is, node string, h *metal3.BareMetalHost) string {
	way := "detach the host first (annotation " + names.Detached + ")"
	if h.Status.Provisioning.State == metal3.StateRegistering {
		way = "delete the host, which removes that node, and create it anew"
	}
	return "the annotation " + names.Ironic + " says " + said + ", but the host's node " + node + " is in " + is + ": set it back, or " + way
}

// choose assigns a host that carries no assignment; to none, while its node may be in
// an Ironic whose nodes are not known yet: those are named. The id of a node counts
// before its name, which a node of before may have in another Ironic.
func choose(all *ironic.Endpoints, h *metal3.BareMetalHost) (chosen *ironic.Endpoint, unread string) {
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
func isRead(w Watch) bool {
	select {
	case <-w.Synced():
		return true
	default:
		return false
	}
}

// Assigns reports whether hosts are assigned to Ironics.
func (s Set) Assigns() bool { return s.Several != nil && len(s.Several.All()) > 1 }

// Watches are the watches of all Ironics, by the names that assignments have.
func (s Set) Watches() map[string]Watch {
	if s.Several == nil {
		return map[string]Watch{"": s.One.Watch}
	}
	all := map[string]Watch{}
	for _, e := range s.Several.All() {
		all[e.Name()] = e.Watch
	}
	return all
}
