package model

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// doubt is what has happened in a history by which nobody can tell what is on a machine. Where
// nothing of it has, no machine is left alone until a person says what to do.
type doubt struct {
	// Restored means that a host's status was put back, or was lost.
	Restored bool
	// NodeLost means that a node has gone while its host is there.
	NodeLost bool
	// Unseen means that the process has lost, with a node, what it knew of it.
	Unseen bool
	// Pressed means that somebody has switched a machine by hand.
	Pressed bool
	// Unheard means that the phase which a host has is stored, and that the process does not know of that.
	Unheard bool
	// Claimed means that somebody has said that a machine is installed by somebody else, which Ironic
	// may have been told.
	Claimed bool
	// Unshown means that a node has gone, be it by a detachment, of a free machine that was on, which its
	// host's status did not show yet.
	Unshown bool
	// Readdressed means that a host was given another machine, of which nobody knows what is on it.
	Readdressed bool
	// Undeployed means that somebody has had a machine work in Ironic, which asks for no slot.
	Undeployed bool
}

// grounds reports whether a machine may be left alone.
func (d doubt) grounds() bool {
	return d.Restored || d.Unshown || d.Readdressed || d.NodeLost && (d.Unseen || d.Pressed)
}

// nodeLost takes down that the node of hosts has gone.
func (w *World) nodeLost(owners []types.NamespacedName) {
	w.doubt.NodeLost = true
	w.doubt.Unseen = w.doubt.Unseen || w.doubt.Unheard
	for _, key := range owners {
		w.doubt.Unseen = w.doubt.Unseen || w.memories[key].SeenIn == ""
		h := w.host(key)
		w.doubt.Unshown = w.doubt.Unshown || w.machineOf(h).On && !h.Status.PoweredOn && !nodespec.Worked(h) && !nodespec.InUse(h)
	}
}

// leavesAlone are the reasons of hosts that leave their machines alone because of what may be on them.
var leavesAlone = []string{"MachineMayBeInUse", "OtherInstance", "UnknownInstance"}

// checkDoubt finds a machine that is left alone, and needs a person, where nothing was wrong: nothing
// is installed on it.
func (w *World) checkDoubt(h *metal3.BareMetalHost) {
	if w.machineOf(h).installed() {
		return
	}
	c := meta.FindStatusCondition(h.Status.Conditions, view.StalledCondition)
	if c == nil || c.Status != metav1.ConditionTrue || !slices.Contains(leavesAlone, c.Reason) || c.Reason == "UnknownInstance" && w.doubt.Claimed {
		return
	}
	if !w.doubt.grounds() {
		w.breaks("LEFT ALONE FOR NOTHING: host %s is in state %q and says: %s", h.Name, h.Status.Provisioning.State, h.Status.ErrorMessage)
	}
}
