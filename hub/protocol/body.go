package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Bodies holds what users send against the models: nothing of it is to be forgotten
// without a word. Agents are another matter: newer ones say more than the hub knows.
type Bodies struct {
	models map[string]*Model
	// types are those of the bodies of users' operations, by the operation's id.
	types map[string]string
}

// BodyError is a body, or a query, that is none of the operation's.
type BodyError struct {
	// Member is where it is wrong; empty for the body itself.
	Member string
	// Want says what is wrong and what is wanted.
	Want string
}

// Error implements error.
func (e *BodyError) Error() string {
	if e.Member == "" {
		return "the body " + e.Want
	}
	return e.Member + " " + e.Want
}

// NewBodies reads the tables.
func NewBodies() (*Bodies, error) {
	models, err := Models()
	if err != nil {
		return nil, err
	}
	operations, err := Operations()
	if err != nil {
		return nil, err
	}
	b := &Bodies{models: models, types: map[string]string{}}
	for _, op := range operations {
		if slices.ContainsFunc(op.Access, func(a Access) bool { return a.Scheme == AgentAuth }) {
			continue
		}
		for _, p := range op.Params {
			if p.In == "body" {
				b.types[op.ID] = p.Type
			}
		}
	}
	return b, nil
}

// Holds tells that bodies of the operation are held against its model.
func (b *Bodies) Holds(operationID string) bool { return b.types[operationID] != "" }

// Check returns a [BodyError] for members that the operation's model does not have, for
// values of another kind, outside of an enumeration or beyond a limit, and for objects in
// the body without a member that they need. Whether a member of the body itself is there,
// and what forms of texts mean, is said by those who use them. Members that are null are
// as those that are left out.
func (b *Bodies) Check(operationID string, raw []byte) error {
	kind := b.types[operationID]
	if kind == "" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return &BodyError{Want: fmt.Sprintf("is not the JSON that this operation takes: %v", err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &BodyError{Want: "is not the JSON that this operation takes: something follows its end"}
	}
	if err := b.value("", Field{Type: kind}, value); err != nil {
		return err
	}
	return nil
}

// value holds one value against its field.
func (b *Bodies) value(at string, f Field, v any) *BodyError {
	if v == nil {
		return nil
	}
	if items, found := strings.CutPrefix(f.Type, "array:"); found {
		list, ok := v.([]any)
		if !ok {
			return &BodyError{at, "is not the JSON that is wanted: want a list"}
		}
		f.Type = items
		for i, item := range list {
			if err := b.value(fmt.Sprintf("%s[%d]", at, i), f, item); err != nil {
				return err
			}
		}
		return nil
	}
	if name, found := strings.CutPrefix(f.Type, "ref:"); found {
		return b.model(at, b.models[name], v)
	}
	switch f.Type {
	case "string", "uuid", "date-time":
		return text(at, f, v)
	case "integer", "int64", "number":
		return number(at, f, v)
	case "boolean":
		if _, ok := v.(bool); !ok {
			return &BodyError{at, "is not the JSON that is wanted: want true or false"}
		}
	}
	return nil
}

// model holds a value against a model; one that the table does not have allows anything.
func (b *Bodies) model(at string, m *Model, v any) *BodyError {
	switch {
	case m == nil:
		return nil
	case m.Self != nil:
		return b.value(at, *m.Self, v)
	}
	members, ok := v.(map[string]any)
	if !ok {
		return &BodyError{at, "is not the JSON that is wanted: want an object"}
	}
	fields := b.fields(m)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		path := name
		if at != "" {
			path = at + "." + name
		}
		f, known := fields[name]
		if !known {
			return &BodyError{fmt.Sprintf("%.200s", path), fmt.Sprintf("is unknown: %s has no such member; leave it out, or see %s in %s/v2/openapi", m.Name, m.Name, Base)}
		}
		if err := b.value(path, f, members[name]); err != nil {
			return err
		}
	}
	if at != "" {
		return b.needed(at, m.Name, fields, members)
	}
	return nil
}

// needed refuses an object in a body without a member that it means nothing without.
func (b *Bodies) needed(at, model string, fields map[string]Field, members map[string]any) *BodyError {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f := fields[name]
		if m := b.models[strings.TrimPrefix(f.Type, "ref:")]; m != nil && m.Self != nil && f.Enum == nil {
			f.Enum = m.Self.Enum
		}
		switch value := members[name]; {
		case !f.Required || strings.HasPrefix(f.Type, "array:"): // clients send null for no items
		case value == nil:
			return &BodyError{at + "." + name, fmt.Sprintf("is required: %s has to have it", model)}
		case value == "" && f.Enum != nil:
			return &BodyError{at + "." + name, fmt.Sprintf("is required: want one of %s", strings.Join(f.Enum, "; "))}
		}
	}
	return nil
}

// fields are those of the model and of those that it takes in.
func (b *Bodies) fields(m *Model) map[string]Field {
	out := map[string]Field{}
	for _, f := range m.Fields {
		name, isModel := strings.CutPrefix(f.Type, "ref:")
		if f.Inline && isModel && b.models[name] != nil {
			maps.Copy(out, b.fields(b.models[name]))
			continue
		}
		out[f.JSON] = f
	}
	return out
}

// text checks texts; an empty one is as one that is left out.
func text(at string, f Field, v any) *BodyError {
	value, ok := v.(string)
	switch {
	case !ok:
		return &BodyError{at, "is not the JSON that is wanted: want a text in quotes"}
	case value == "":
		return nil
	case f.Type == "uuid" && (len(value) != len(uuid.Nil.String()) || uuid.Validate(value) != nil):
		return &BodyError{at, fmt.Sprintf("%.80q is not a UUID", value)}
	case f.Enum != nil && !slices.Contains(f.Enum, value):
		return &BodyError{at, fmt.Sprintf("%.80q: want one of %s", value, strings.Join(f.Enum, "; "))}
	}
	if most, err := strconv.Atoi(f.MaxLength); err == nil && len([]rune(value)) > most {
		return &BodyError{at, fmt.Sprintf("has %d characters: want at most %d", len([]rune(value)), most)}
	}
	return nil
}

func number(at string, f Field, v any) *BodyError {
	n, ok := v.(json.Number)
	if !ok {
		return &BodyError{at, "is not the JSON that is wanted: want a number"}
	}
	if _, err := n.Int64(); err != nil && f.Type != "number" {
		return &BodyError{at, fmt.Sprintf("%.80s: want a whole number", n)}
	}
	value, err := n.Float64()
	if err != nil {
		return &BodyError{at, fmt.Sprintf("%.80s: want a number", n)}
	}
	if least, err := strconv.ParseFloat(f.Min, 64); err == nil && value < least {
		return &BodyError{at, fmt.Sprintf("%.80s: want at least %s", n, f.Min)}
	}
	if most, err := strconv.ParseFloat(f.Max, 64); err == nil && value > most {
		return &BodyError{at, fmt.Sprintf("%.80s: want at most %s", n, f.Max)}
	}
	return nil
}
