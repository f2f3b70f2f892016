package vm

import (
	"context"
	"slices"
	"time"
)

// EventKind is what an [Event] is about.
type EventKind string

// The kinds of events.
const (
	// EventStart is a start of the machine: the firmware begins. The detail has
	// firmware and boot order.
	EventStart EventKind = "start"
	// EventReset is a reset by the guest, EventOff the end of the power. The
	// detail of an end says why.
	EventReset EventKind = "reset"
	EventOff   EventKind = "off"
	// EventAsked is a request of the BMC that the machine follows.
	EventAsked EventKind = "asked"
	// EventInserted and EventEjected are about the virtual medium. A guest that
	// opens the drive's tray ejects it, too.
	EventInserted EventKind = "medium inserted"
	EventEjected  EventKind = "medium ejected"
	// EventMediumError is an address that cannot be read.
	EventMediumError EventKind = "medium error"
	// EventDiskError is an error that a disk has answered with.
	EventDiskError EventKind = "disk error"
	// EventFault is a fault that somebody ordered.
	EventFault EventKind = "fault"
	// EventTrouble is something that should not have happened.
	EventTrouble EventKind = "trouble"
)

// Event is something that happened to a machine.
type Event struct {
	Time   time.Time
	Kind   EventKind
	Detail string
}

// maxEvents bounds what a machine remembers; later events are told, and not kept.
const maxEvents = 10_000

// record tells and keeps an event.
func (m *Machine) record(kind EventKind, detail string) {
	m.recording.Lock()
	defer m.recording.Unlock()
	event := Event{Time: time.Now(), Kind: kind, Detail: detail}
	if len(m.events) < maxEvents {
		m.events = append(m.events, event)
	}
	close(m.news)
	m.news = make(chan struct{})
	m.config.Log.Info("machine", "machine", m.config.Name, "event", kind, "detail", detail)
	if m.config.OnEvent != nil {
		m.config.OnEvent(event)
	}
}

// Events are all events so far, the oldest first.
func (m *Machine) Events() []Event {
	m.recording.Lock()
	defer m.recording.Unlock()
	return slices.Clone(m.events)
}

// WaitEvent returns the first event of the kind after the time, and waits for it
// if there is none yet.
func (m *Machine) WaitEvent(ctx context.Context, kind EventKind, after time.Time) (Event, error) {
	for {
		m.recording.Lock()
		events, news := m.events, m.news
		m.recording.Unlock()
		for _, event := range events {
			if event.Kind == kind && event.Time.After(after) {
				return event, nil
			}
		}
		select {
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		case <-news:
		}
	}
}
