package schedule

import (
	"maps"
	"reflect"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// hostChanged lets the updates of hosts through that a person or another controller
// makes. Changes of the status are ours.
var hostChanged = predicate.Or[client.Object](predicate.GenerationChangedPredicate{},
	annotationsChanged{}, predicate.LabelChangedPredicate{}, finalizersChanged{})

// annotationsChanged lets updates through that change an annotation of somebody else's:
// a restart that was turned away is asked for again after a while, not as soon as that is
// written down.
type annotationsChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (annotationsChanged) Update(e event.TypedUpdateEvent[client.Object]) bool {
	before, after := maps.Clone(e.ObjectOld.GetAnnotations()), maps.Clone(e.ObjectNew.GetAnnotations())
	for _, ours := range []string{names.Rebooting, names.Deployed} {
		delete(before, ours)
		delete(after, ours)
	}
	return !maps.Equal(before, after)
}

// finalizersChanged lets updates through that add or remove a finalizer: a host
// whose last other finalizer went may go on to its end.
type finalizersChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (finalizersChanged) Update(e event.TypedUpdateEvent[client.Object]) bool {
	return !slices.Equal(e.ObjectOld.GetFinalizers(), e.ObjectNew.GetFinalizers()) ||
		e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}

// machineChanged lets the updates of hosts through after which the machine of another host
// may be another one's: of the spec, of how much speaks for the host, and of which machine it had.
var machineChanged = predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, was := e.ObjectOld.(*metal3.BareMetalHost)
		after, is := e.ObjectNew.(*metal3.BareMetalHost)
		return was && is && (policy.Standing(before) != policy.Standing(after) ||
			policy.RecordedMachine(&before.Status) != policy.RecordedMachine(&after.Status))
	},
})

// verdictChanged lets the updates of BMCs through whose verdict on the host's wishes is another one.
var verdictChanged = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, was := e.ObjectOld.(*v1alpha1.BMC)
		after, is := e.ObjectNew.(*v1alpha1.BMC)
		return was && is && !reflect.DeepEqual(before.Status.Preflight, after.Status.Preflight)
	},
}
