package reconcile

import (
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Waiting ends a pass without an error: somebody else has to move first, and a
// watch will tell. After is the upper bound of the wait; zero means that only
// watches wake the object.
type Waiting struct { //nolint:errname // an outcome, not a failure
	// For names what is waited for, and who can end it, as part of a sentence.
	For string
	// After is when to look again if nothing has woken the object, zero for never.
	After time.Duration
}

// Error implements error.
func (w *Waiting) Error() string { return "waiting for " + w.For }

// WaitFor returns a [Waiting] with a formatted subject.
func WaitFor(after time.Duration, format string, args ...any) error {
	return &Waiting{For: fmt.Sprintf(format, args...), After: after}
}

// Stalled ends a pass that a person has to help on: nothing is tried again until
// the object or something it refers to changes.
type Stalled struct { //nolint:errname // an outcome of a pass, named like the condition
	// Reason is a condition reason: one word in CamelCase.
	Reason string
	// Message says what is wrong, where, and what to do next.
	Message string
	// Err is the cause, if there is one.
	Err error
}

// Error implements error.
func (s *Stalled) Error() string { return s.Message }

// Unwrap returns the cause.
func (s *Stalled) Unwrap() error { return s.Err }

// Stall returns a [Stalled] with a formatted message. A cause that is formatted
// with %w can be found with errors.As.
func Stall(reason, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	return &Stalled{Reason: reason, Message: err.Error(), Err: errors.Unwrap(err)}
}

// Unavailable ends a pass because something that we depend on does not answer.
// The object keeps its state; the pass is repeated after After.
type Unavailable struct { //nolint:errname // an outcome of a pass
	// What names the party that does not answer: "Ironic", "the hub's store".
	What string
	// Err is its last answer.
	Err error
	// After is when to try again; zero means [DefaultUnavailable].
	After time.Duration
}

// DefaultUnavailable is the delay before an absent party is asked again.
const DefaultUnavailable = 15 * time.Second

// Error implements error.
func (u *Unavailable) Error() string { return fmt.Sprintf("%s is not available: %v", u.What, u.Err) }

// Unwrap returns the last answer.
func (u *Unavailable) Unwrap() error { return u.Err }

// Resolve turns the outcome of a pass into what the queue is told. Only an
// error of no known type is passed on, so that the queue's rate limiter slows
// it down; the three typed outcomes never go through the limiter.
func Resolve(err error) (ctrl.Result, error) {
	if err == nil {
		return ctrl.Result{}, nil
	}
	if w, ok := errors.AsType[*Waiting](err); ok {
		return ctrl.Result{RequeueAfter: w.After}, nil
	}
	if _, ok := errors.AsType[*Stalled](err); ok {
		return ctrl.Result{}, nil
	}
	if u, ok := errors.AsType[*Unavailable](err); ok {
		after := u.After
		if after == 0 {
			after = DefaultUnavailable
		}
		return ctrl.Result{RequeueAfter: after}, nil
	}
	return ctrl.Result{}, err
}
