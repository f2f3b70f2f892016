package host

import (
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// notEcho drops the updates that this program has made itself; see echoes. It passes
// on to written what the watch shows.
type notEcho struct {
	echoes  *echoes
	written *written
}

// Create implements predicate.Predicate.
func (n notEcho) Create(e event.CreateEvent) bool {
	n.written.show(e.Object)
	return true
}

// Delete implements predicate.Predicate.
func (notEcho) Delete(event.DeleteEvent) bool { return true }

// Generic implements predicate.Predicate.
func (notEcho) Generic(event.GenericEvent) bool { return true }

// Update implements predicate.Predicate.
func (n notEcho) Update(e event.UpdateEvent) bool {
	n.written.show(e.ObjectNew)
	return !n.echoes.ofHost(client.ObjectKeyFromObject(e.ObjectNew), e.ObjectNew.GetResourceVersion())
}

// finalizersChanged lets updates through that add or remove a finalizer: a host
// whose last other finalizer went may go on to its end.
type finalizersChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (finalizersChanged) Update(e event.TypedUpdateEvent[client.Object]) bool {
	return !slices.Equal(e.ObjectOld.GetFinalizers(), e.ObjectNew.GetFinalizers()) ||
		e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}
