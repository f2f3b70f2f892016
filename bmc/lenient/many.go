package lenient

import (
	"bytes"
	"encoding/json"
)

// MaxElements bounds what a List or a Map is read of: in an answer of a few megabytes
// is room for a million empty objects, and as values these take a hundred times as
// much. Who has to know that there were more sets a lower bound of his own.
const MaxElements = 1 << 15

// List is a list of values. One object or one text instead of a list is a list of
// one; elements that are null or cannot be read are left out, as are those behind the
// first MaxElements.
type List[T any] []T

// Map is an object of values by name. Members that cannot be read are left out, as are
// those behind the first MaxElements; anything but an object is an empty map.
type Map[T any] map[string]T

// Optional is a value that may be missing. Set is false where the property is
// absent, null, or of a type that cannot be read.
type Optional[T any] struct {
	Value T
	Set   bool
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	*l = nil
	add := func(element []byte) {
		if value, ok := read[T](element); ok {
			*l = append(*l, value)
		}
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '[' {
		add(raw)
		return nil
	}
	for element := range parts(raw) {
		add(element)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *Map[T]) UnmarshalJSON(raw []byte) error {
	*m = nil
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	for member := range parts(raw) {
		name, element := named(member)
		value, ok := read[T](element)
		switch {
		case !ok:
			delete(*m, name) // the last of several with one name counts
		case *m == nil:
			*m = Map[T]{name: value}
		default:
			(*m)[name] = value
		}
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	o.Value, o.Set = read[T](raw)
	return nil
}

// read reads one value. An object of which only some fields have the wrong type is
// one; null is none.
func read[T any](raw []byte) (T, bool) {
	var value, none T
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return none, false
	}
	if own, is := any(&value).(parser); is {
		return value, own.parse(raw)
	}
	err := json.Unmarshal(raw, &value)
	if err != nil && (raw[0] != '{' || !OnlyTypes(err)) {
		return none, false
	}
	return value, true
}
