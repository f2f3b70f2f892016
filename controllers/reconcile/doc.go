// Package reconcile is the fixed skeleton that every controller of Ironflow
// shares: get the object, ask whether it may be touched, remember it, delete branch,
// finalizer, then an ordered list of small steps, and at the end one summary and one status patch.
//
// A step reports what happened by the type of its error: nil goes on to the next
// step, [Waiting] stops without being an error, [Stalled] needs a person,
// [Unavailable] says that something we depend on does not answer, and everything
// else is retried by the queue. [Resolve] turns that into a requeue, so no step
// ever builds a ctrl.Result.
//
// The package knows nothing about any kind of object, but for the annotations by
// which people keep every controller off a host ([KeptOff]). The main type is
// [Reconciler]; [Saver], [SetCondition] and [Recorder] are of use alone, too.
package reconcile
