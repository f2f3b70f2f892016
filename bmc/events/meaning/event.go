package meaning

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Event is one event, cut to what is used of it.
type Event struct {
	// ID is the BMC's number for it, empty where it gives none.
	ID string
	// Type is the EventType, as StatusChange or Alert; empty on newer services.
	Type string
	// MessageID is the key in a message registry, as ResourceEvent.1.3.ResourceChanged.
	MessageID string
	Severity  Severity
	Message   string
	// Origin is the path of the resource that it is about.
	Origin string
	// Time is the BMC's, zero where it gives none.
	Time time.Time
}

// wire is an event as BMCs send it.
type wire struct {
	EventID           lenient.String               `json:"EventId"`
	MemberID          lenient.String               `json:"MemberId"`
	EventType         lenient.String               `json:"EventType"`
	MessageID         lenient.String               `json:"MessageId"`
	Severity          lenient.String               `json:"Severity"`
	MessageSeverity   lenient.String               `json:"MessageSeverity"`
	Message           lenient.String               `json:"Message"`
	MessageArgs       lenient.List[lenient.String] `json:"MessageArgs"`
	Context           lenient.String               `json:"Context"`
	OriginOfCondition lenient.Link                 `json:"OriginOfCondition"`
	EventTimestamp    lenient.Time                 `json:"EventTimestamp"`
}

const (
	// maxMessage and maxField bound the texts of an event, in bytes.
	maxMessage = 1024
	maxField   = 256
)

func (w *wire) event() Event {
	id := w.EventID
	if id == "" {
		id = w.MemberID
	}
	message := string(w.Message)
	if message == "" {
		message = spell(string(w.MessageID), w.MessageArgs)
	}
	return Event{
		ID: clean(string(id), maxField), Type: clean(string(w.EventType), maxField), MessageID: clean(string(w.MessageID), maxField),
		Severity: worse(severity(string(w.Severity)), severity(string(w.MessageSeverity))),
		Message:  clean(message, maxMessage), Origin: clean(w.OriginOfCondition.Path, maxField), Time: w.EventTimestamp.Time,
	}
}

// spell is a message for an event that brings none: its key and arguments.
func spell(id string, args []lenient.String) string {
	var b strings.Builder
	b.WriteString(id)
	for i, arg := range args {
		if b.Len() > maxMessage {
			break
		}
		b.WriteString([]string{": ", ", "}[min(i, 1)])
		b.WriteString(string(arg))
	}
	return b.String()
}

func severity(text string) Severity {
	if s, known := severities[strings.ToLower(strings.TrimSpace(text))]; known {
		return s
	}
	return OK
}

func worse(a, b Severity) Severity {
	rank := map[Severity]int{OK: 0, Warning: 1, Critical: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// clean makes a text fit for logs and terminals, and copies it, so that it does not
// keep the whole body in memory.
func clean(text string, most int) string {
	if len(text) > most {
		for most > 0 && !utf8.RuneStart(text[most]) {
			most--
		}
		text = text[:most]
	}
	return strings.Clone(strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)))
}
