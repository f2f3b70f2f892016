package meaning

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// MaxEvents is how many events of a payload are kept. Payload.More counts the others.
const MaxEvents = 64

// Payload is what one delivery says.
type Payload struct {
	// Context is the text that the subscription was made with.
	Context string
	Events  []Event
	// More is how many events were there beyond MaxEvents, or could not be read.
	More int
}

// ErrDamaged is the error of a payload that is no JSON object, or ends early. What
// was read before that is returned with it.
var ErrDamaged = errors.New("the payload is damaged")

// Parse reads a payload. Events may be called Alerts, and any value may have a
// wrong type: then it is left out. Metric reports have no events.
func Parse(body []byte) (Payload, error) {
	var p Payload
	decoder := json.NewDecoder(bytes.NewReader(lenient.Mend(body)))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return p, fmt.Errorf("%w: it is no object", ErrDamaged)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return p, damaged(err)
		}
		switch key, _ := name.(string); strings.ToLower(key) {
		case "context":
			err = p.context(decoder)
		case "events", "alerts":
			err = p.events(decoder)
		default:
			var skipped json.RawMessage
			err = decoder.Decode(&skipped)
		}
		if err != nil {
			return p, damaged(err)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return p, damaged(err)
	}
	return p, nil
}

func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends early", ErrDamaged)
	}
	return fmt.Errorf("%w: it is not JSON", ErrDamaged)
}

func (p *Payload) context(decoder *json.Decoder) error {
	var text lenient.String
	if err := decoder.Decode(&text); err != nil {
		return err
	}
	p.setContext(text)
	return nil
}

// setContext keeps the first that is given: the payload's, or an event's in the
// older form.
func (p *Payload) setContext(text lenient.String) {
	if p.Context == "" {
		p.Context = clean(string(text), maxField)
	}
}

// events reads the list one by one: a body of a megabyte can hold so many empty
// ones that a slice of them all would take a hundred.
func (p *Payload) events(decoder *json.Decoder) error {
	var all, next json.RawMessage
	if err := decoder.Decode(&all); err != nil {
		return err
	}
	if len(all) == 0 || all[0] != '[' {
		return p.one(all)
	}
	list := json.NewDecoder(bytes.NewReader(all))
	if _, err := list.Token(); err != nil {
		return err
	}
	for list.More() {
		next = next[:0]
		if err := list.Decode(&next); err != nil {
			return err
		}
		if err := p.one(next); err != nil {
			return err
		}
	}
	return nil
}

// one reads one event. Null and what is no object are left out.
func (p *Payload) one(raw []byte) error {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	if len(p.Events) == MaxEvents {
		p.More++
		return nil
	}
	var w wire
	if err := json.Unmarshal(raw, &w); err != nil && !lenient.OnlyTypes(err) {
		return err
	}
	p.setContext(w.Context)
	p.Events = append(p.Events, w.event())
	return nil
}
