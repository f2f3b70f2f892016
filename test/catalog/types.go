package catalog

import "iter"

// Condition is one thing that a condition can say.
type Condition struct {
	// Kind is the resource's kind.
	Kind string
	// Type is the condition's type.
	Type string
	// Status is True, False or Unknown.
	Status string
	// Reason is the condition's reason.
	Reason string
	// Means says in one sentence when this is so, and what to do if something is.
	Means string
}

// Event is one reason of events.
type Event struct {
	// Kind is the resource's kind.
	Kind string
	// Reason is the event's reason.
	Reason string
	// Warning tells that it is a warning.
	Warning bool
	// Means says in one sentence when it is told.
	Means string
}

// Has reports whether a condition of a kind may say this.
func Has(kind, condition, status, reason string) bool {
	for c := range Of(kind) {
		if c.Type == condition && c.Status == status && c.Reason == reason {
			return true
		}
	}
	return false
}

// Of yields everything that the conditions of a kind can say.
func Of(kind string) iter.Seq[Condition] {
	return func(yield func(Condition) bool) {
		for _, c := range Conditions {
			if c.Kind == kind && !yield(c) {
				return
			}
		}
	}
}

// HasEvent reports whether events of a kind may have this reason.
func HasEvent(kind, reason string) bool {
	for _, e := range Events {
		if e.Kind == kind && e.Reason == reason {
			return true
		}
	}
	return false
}
