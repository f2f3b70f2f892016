package schedule

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// hostChanged lets the updates of hosts through that a person or another controller
// makes. Changes of the status are ours.
var hostChanged = predicate.Or[client.Object](predicate.GenerationChangedPredicate{},
	predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}, finalizersChanged{})

// finalizersChanged lets updates through that add or remove a finalizer: a host
// whose last other finalizer went may go on to its end.
type finalizersChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (finalizersChanged) Update(e event.TypedUpdateEvent[client.Object]) bool {
	return !slices.Equal(e.ObjectOld.GetFinalizers(), e.ObjectNew.GetFinalizers()) ||
		e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}
