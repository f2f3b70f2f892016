package qmp

import (
	"encoding/json"
	"fmt"
	"time"
)

// maxMessage bounds one line of the protocol.
const maxMessage = 4 << 20

// Event is something that happened in the machine.
type Event struct {
	// Name is QEMU's name of the event, such as SHUTDOWN.
	Name string
	// Data is the event's own data, or nil.
	Data json.RawMessage
	// Time is when QEMU says that it happened.
	Time time.Time
}

// Decode reads the event's data.
func (e Event) Decode(into any) error {
	if len(e.Data) == 0 {
		return nil
	}
	if err := json.Unmarshal(e.Data, into); err != nil {
		return fmt.Errorf("data of the event %s: %w", e.Name, err)
	}
	return nil
}

// Error is what QEMU answers to a command that it could not do.
type Error struct {
	// Command is the command.
	Command string `json:"-"`
	// Class is QEMU's class of the error, mostly GenericError.
	Class string `json:"class"`
	// Description is a text for people.
	Description string `json:"desc"`
}

// Error names the command and what QEMU says of it.
func (e *Error) Error() string { return fmt.Sprintf("QEMU's %s: %s", e.Command, e.Description) }

// request is a command with its number.
type request struct {
	Execute   string `json:"execute"`
	Arguments any    `json:"arguments,omitempty"`
	ID        int    `json:"id"`
}

// message is any line that QEMU writes: a greeting, an answer or an event.
type message struct {
	Greeting  json.RawMessage `json:"QMP"`
	ID        *int            `json:"id"`
	Return    json.RawMessage `json:"return"`
	Error     *Error          `json:"error"`
	Event     string          `json:"event"`
	Data      json.RawMessage `json:"data"`
	Timestamp struct {
		Seconds      int64 `json:"seconds"`
		Microseconds int64 `json:"microseconds"`
	} `json:"timestamp"`
}

// parse reads one line.
func parse(line []byte) (message, error) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("not a message of QEMU's machine protocol: %w", err)
	}
	return m, nil
}

// event is the event in the message.
func (m message) event() Event {
	return Event{Name: m.Event, Data: m.Data, Time: time.Unix(m.Timestamp.Seconds, m.Timestamp.Microseconds*int64(time.Microsecond))}
}
