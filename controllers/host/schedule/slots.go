package schedule

import (
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// Slots gives out the slots that limits on hosts at work leave. Without a limit there
// is one for everybody.
type Slots struct {
	Queue   *capacity.Queue
	Ironics ironics.Set
}

// working are the phases in which hosts take slots.
var working = []policy.State{
	metal3.StateInspecting, metal3.StatePreparing, metal3.StateProvisioning, metal3.StateDeprovisioning,
}

// Observe reads how a host stands.
func (s *Slots) Observe(o *policy.Observed) {
	o.Slot.Needed = s.Queue.Limited(policy.Place(o))
	o.Slot.Granted = o.Slot.Needed && s.Queue.Holds(client.ObjectKeyFromObject(o.Host))
}

// Take asks for a slot.
func (s *Slots) Take(o *policy.Observed) {
	o.Slot.Asked = true
	o.Slot.Verdict = s.Queue.Ask(client.ObjectKeyFromObject(o.Host), policy.Place(o))
	o.Slot.Granted = o.Slot.Verdict.Granted
}

// Resume gives the hosts of an Ironic what they had before this process began, now that
// its nodes are known: a slot to those at work, their places in line to those that wait.
func (s *Slots) Resume(name string, hosts []metal3.BareMetalHost) {
	for i := range hosts {
		h := &hosts[i]
		e, assigned := s.Ironics.Of(h)
		working := atWork(e, h)
		if assigned.Name != name || !working && h.Status.OperationalStatus != metal3.OperationalStatusDelayed {
			continue
		}
		key, o := client.ObjectKeyFromObject(h), &policy.Observed{Host: h, Ironic: assigned}
		o.BMC.Access, _ = nodespec.AccessOf(h) // an address that cannot be read counts as network boot
		if !working {
			s.Queue.Restore(key, policy.Place(o), waitsSince(h))
			continue
		}
		s.Queue.Hold(key, policy.Place(o))
		if !atWork(e, h) {
			s.Queue.Leave(key) // it has ended meanwhile, and was told of that
		}
	}
	s.Queue.Open(name)
}

// waitsSince is since when a host waits for a slot, by what is stored: since its phase
// began, or since it failed in it. Who has had a slot has a later time afterwards, so that
// nobody is overtaken again and again over restarts.
func waitsSince(h *metal3.BareMetalHost) time.Time {
	since := view.Since(h)
	if c := meta.FindStatusCondition(h.Status.Conditions, view.StalledCondition); c != nil && c.LastTransitionTime.After(since) {
		return c.LastTransitionTime.Time
	}
	return since
}

// atWork reports whether the watch shows a host at work. One whose status does not name a
// node, since that is lost or comes with the next pass, has the node of its name.
func atWork(e ironics.Endpoint, h *metal3.BareMetalHost) bool {
	row, known := e.Watch.Row(h.Status.Provisioning.ID)
	if h.Status.Provisioning.ID == "" {
		row, known, _ = e.Watch.Named(nodespec.NodeName(h))
	}
	return known && works(row.ProvisionState)
}

// works reports whether a node's machine is at work, which counts in each phase of its host:
// that may not be stored yet when the process ends, and a host that is serviced is in use. To
// be verified or adopted is no work: else hosts of an Ironic that has lost its nodes would get
// slots by being registered again, all at once.
func works(node ironic.ProvisionState) bool {
	return node.Busy() && node != ironic.StateVerifying && node != ironic.StateAdopting
}

// Pause ends the wait of a host that is not looked at, and its work once its node is
// not busy any more: the change of that brings it here.
func (s *Slots) Pause(h *metal3.BareMetalHost) {
	key := client.ObjectKeyFromObject(h)
	if e, _ := s.Ironics.Of(h); !s.Queue.Holds(key) || !atWork(e, h) {
		s.Queue.Leave(key)
	}
}

// Ending is how a pass ended.
type Ending int

const (
	// Complete means that the pass has shown what the host wants.
	Complete Ending = iota
	// Unanswered means that Ironic did not answer, or that the host has changed meanwhile
	// and is looked at again at once: it may be at work or not.
	Unanswered
	// CutShort means that an error ended the pass before it was seen what the host wants.
	CutShort
)

// Settle ends a host's work, or its wait, when a pass has shown so. A place in line is
// given up by the host alone: it has got its slot, wants none any more, or is gone.
func (s *Slots) Settle(o *policy.Observed, ending Ending) {
	key := client.ObjectKeyFromObject(o.Host)
	if !o.Slot.Needed {
		s.Queue.Leave(key) // its label or address may have changed
		return
	}
	busy := o.Node != nil && works(o.Node.ProvisionState)
	mayWork := busy || slices.Contains(working, o.State())
	atWork := busy || !o.Busy.Since.IsZero() || ending == Unanswered
	switch {
	case !mayWork:
		s.Queue.Leave(key)
	case o.Slot.Granted && !atWork:
		s.Queue.Leave(key)
	case !o.Slot.Granted && busy:
		s.Queue.Hold(key, policy.Place(o))
	case !o.Slot.Granted && !o.Slot.Asked && ending == Complete:
		s.Queue.Leave(key) // does not want any more
	}
}
