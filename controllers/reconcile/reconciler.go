package reconcile

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Step does one part of a pass on obj. It changes obj's status in memory only;
// the skeleton writes it. See the package comment for the meaning of the error.
type Step[T client.Object] func(ctx context.Context, obj T) error

// Reconciler runs the skeleton for one kind. Only Client, New and Steps are
// required.
type Reconciler[T client.Object] struct {
	// Client reads from the manager's cache and writes to the API server.
	Client client.Client
	// New returns an empty object to read into.
	New func() T
	// Finalizer is added before the first step and removed after Delete; empty for none.
	Finalizer string
	// Gate is asked first whether the object may be touched, by its finalizer and its
	// deletion too: an error ends the pass, and nothing is written. nil for always.
	Gate Step[T]
	// Note returns a change of the object's metadata that is written, with the finalizer, before
	// the first step; nil for none.
	Note func(ctx context.Context, obj T) (func(T), error)
	// Steps run in order until one returns an error.
	Steps []Step[T]
	// Delete undoes what the steps did in the world. It is called again until it returns nil.
	Delete Step[T]
	// Summarise sets conditions from the outcome; nil for none.
	Summarise func(obj T, err error)
}

// Reconcile runs one pass for the object named by req. At most one status patch
// is sent, and none when nothing has changed.
func (r *Reconciler[T]) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	obj := r.New()
	if err := r.Client.Get(ctx, req.NamespacedName, obj); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if r.Gate != nil {
		if err := r.Gate(ctx, obj); err != nil {
			return Resolve(soften(err))
		}
	}
	saver := NewSaver(r.Client, obj)
	if !obj.GetDeletionTimestamp().IsZero() {
		return r.finalize(ctx, saver, obj)
	}
	if err := r.ensureMetadata(ctx, saver, obj); err != nil {
		return Resolve(soften(err))
	}
	return r.finish(ctx, saver, obj, r.run(ctx, obj))
}

// run calls the steps in order.
func (r *Reconciler[T]) run(ctx context.Context, obj T) error {
	for _, step := range r.Steps {
		if err := step(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// finish summarises and saves, then tells the queue.
func (r *Reconciler[T]) finish(ctx context.Context, saver *Saver[T], obj T, err error) (ctrl.Result, error) {
	if r.Summarise != nil {
		r.Summarise(obj, err)
	}
	_, saved := saver.Status(ctx, obj)
	if saved != nil {
		return Resolve(errors.Join(soften(saved), ignoreTyped(err)))
	}
	return Resolve(err)
}

// finalize is the delete branch.
func (r *Reconciler[T]) finalize(ctx context.Context, saver *Saver[T], obj T) (ctrl.Result, error) {
	if r.Finalizer == "" || !controllerutil.ContainsFinalizer(obj, r.Finalizer) {
		return ctrl.Result{}, nil
	}
	if r.Delete != nil {
		if err := r.Delete(ctx, obj); err != nil {
			return r.finish(ctx, saver, obj, err)
		}
	}
	err := saver.Metadata(ctx, obj, func(o T) { controllerutil.RemoveFinalizer(o, r.Finalizer) })
	return Resolve(soften(client.IgnoreNotFound(err)))
}

// ensureMetadata adds the finalizer and what is noted, once.
func (r *Reconciler[T]) ensureMetadata(ctx context.Context, saver *Saver[T], obj T) error {
	note := func(T) {}
	if r.Note == nil && (r.Finalizer == "" || controllerutil.ContainsFinalizer(obj, r.Finalizer)) {
		return nil
	}
	if r.Note != nil {
		var err error
		if note, err = r.Note(ctx, obj); err != nil {
			return err
		}
	}
	return saver.Metadata(ctx, obj, func(o T) {
		if r.Finalizer != "" {
			controllerutil.AddFinalizer(o, r.Finalizer)
		}
		note(o)
	})
}

// soften turns a conflict into a short wait: the copy was stale, and the next
// pass reads a fresh one. It is not worth a line in the log.
func soften(err error) error {
	if apierrors.IsConflict(err) {
		return WaitFor(conflictDelay, "a fresh copy of the object")
	}
	return err
}

// ignoreTyped drops outcomes that are not failures, so that they cannot hide one.
func ignoreTyped(err error) error {
	if _, failure := Resolve(err); failure != nil {
		return err
	}
	return nil
}
