package reconcile

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

// maxNote is the longest text that the API server accepts in an event.
const maxNote = 1024

// Event is one thing worth telling about an object.
type Event struct {
	// Warning makes it a warning; the default is a normal event.
	Warning bool
	// Reason is one word in CamelCase.
	Reason string
	// Message is one sentence for a person, without secrets.
	Message string
}

// Recorder publishes events. The zero value drops them.
type Recorder struct {
	// Sink is what the manager's GetEventRecorder returns.
	Sink events.EventRecorder
}

// Record publishes the events about obj. related may be nil.
func (r Recorder) Record(obj, related runtime.Object, list ...Event) {
	if r.Sink == nil {
		return
	}
	for _, e := range list {
		kind := corev1.EventTypeNormal
		if e.Warning {
			kind = corev1.EventTypeWarning
		}
		r.Sink.Eventf(obj, related, kind, e.Reason, e.Reason, "%s", Cut(e.Message, maxNote))
	}
}
