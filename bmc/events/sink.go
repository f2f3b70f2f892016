package events

import (
	"time"

	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// Wake says that something about a host is to be read anew.
type Wake struct {
	// Host is the name that the host was registered under.
	Host string
	// Kind says what, by meaning.Reads.
	Kind meaning.Kind
	// System is the path of the system that it is about, of [meaning.SystemOf]; empty where
	// nobody says. A BMC with several tells each subscriber of them all.
	System string
}

// Alert is what a BMC says to people.
type Alert struct {
	Host     string
	Severity meaning.Severity
	Message  string
	// Time is the BMC's, or ours where it gives none.
	Time time.Time
	// ID is the BMC's number of the event, empty where it gives none.
	ID string
	// System is the path of the system that it is about, as in [Wake].
	System string
}

// Sink takes what BMCs tell. Its methods are called one after the other by each
// source, from several sources at the same time; none may block.
type Sink interface {
	Wake(wake Wake)
	Alert(alert Alert)
}

// hand gives the events of one payload to a sink: each kind once, for each system.
func hand(sink Sink, host string, events []meaning.Event, more bool, now time.Time) {
	if more {
		sink.Wake(Wake{Host: host, Kind: meaning.Look})
	}
	seen := map[Wake]bool{}
	for _, e := range events {
		w := Wake{Host: host, Kind: meaning.Of(e), System: meaning.SystemOf(e.Origin)}
		if w.Kind != meaning.Other && !seen[w] {
			seen[w] = true
			sink.Wake(w)
		}
	}
	for _, e := range events {
		if !meaning.Tells(e) {
			continue
		}
		at := e.Time
		if at.IsZero() {
			at = now
		}
		sink.Alert(Alert{Host: host, Severity: e.Severity, Message: e.Message, Time: at, ID: e.ID, System: meaning.SystemOf(e.Origin)})
	}
}
