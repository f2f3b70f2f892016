package client

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

const (
	extendedInfo = "@Message.ExtendedInfo"
	maxMessages  = 16
	maxArgs      = 16
	maxText      = 1024
)

// wireMessage is a message as BMCs send it.
type wireMessage struct {
	MessageID         lenient.String               `json:"MessageId"`
	Message           lenient.String               `json:"Message"`
	Resolution        lenient.String               `json:"Resolution"`
	Severity          lenient.String               `json:"Severity"`
	MessageSeverity   lenient.String               `json:"MessageSeverity"`
	MessageArgs       lenient.List[lenient.String] `json:"MessageArgs"`
	RelatedProperties lenient.List[lenient.String] `json:"RelatedProperties"`
}

// messagesOf reads the messages of a body, wherever they are: in the error object,
// at the top, or beside a property; as a list or as one object. Where there are
// none, the error's own code and message are one.
func messagesOf(body []byte) []Message {
	var top lenient.Map[json.RawMessage]
	if json.Unmarshal(body, &top) != nil || top == nil {
		return nil
	}
	var inner lenient.Map[json.RawMessage]
	var text lenient.String
	if raw, ok := top["error"]; ok {
		// The error is an object, or an old service's text.
		_ = json.Unmarshal(raw, &inner)
		_ = json.Unmarshal(raw, &text)
	}
	messages := collect(nil, inner)
	messages = collect(messages, top)
	if len(messages) > 0 {
		return messages
	}
	one := Message{ID: bare(inner["code"]), Text: bare(inner["message"])}
	if one.Text == "" {
		one.Text = line(string(text))
	}
	if one.ID == "" && one.Text == "" {
		return nil
	}
	return []Message{one}
}

// collect adds the messages of an object: its own before those of its properties.
func collect(messages []Message, object lenient.Map[json.RawMessage]) []Message {
	var names []string
	for name := range object {
		if strings.HasSuffix(name, extendedInfo) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if a == extendedInfo || b == extendedInfo {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		var list lenient.List[wireMessage]
		_ = json.Unmarshal(object[name], &list) // lenient values never fail
		for _, m := range list {
			if len(messages) == maxMessages {
				return messages
			}
			if message := m.message(); message.ID != "" || message.Text != "" {
				messages = append(messages, message)
			}
		}
	}
	return messages
}

func (m wireMessage) message() Message {
	severity := m.Severity
	if severity == "" {
		severity = m.MessageSeverity
	}
	return Message{
		ID: line(string(m.MessageID)), Text: line(string(m.Message)), Resolution: line(string(m.Resolution)), Severity: line(string(severity)),
		Args: lines(m.MessageArgs), Properties: lines(m.RelatedProperties),
	}
}

func lines(list lenient.List[lenient.String]) []string {
	if len(list) == 0 {
		return nil
	}
	texts := make([]string, 0, min(len(list), maxArgs))
	for _, text := range list[:min(len(list), maxArgs)] {
		texts = append(texts, line(string(text)))
	}
	return texts
}

// bare is a text, or the value of {"lang": …, "value": …} as OData once had it.
func bare(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	var text lenient.String
	_ = json.Unmarshal(raw, &text) // lenient values never fail
	if text != "" {
		return line(string(text))
	}
	var in struct {
		Value lenient.String `json:"value"`
	}
	if json.Unmarshal(raw, &in) != nil {
		return ""
	}
	return line(string(in.Value))
}

// line makes one short line of a BMC's text: it gets into logs and conditions.
func line(text string) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return strings.TrimSpace(lenient.Printable(text))
}

// shortID is a message's key without its registry and version.
func shortID(id string) string { return id[strings.LastIndexByte(id, '.')+1:] }
