package lenient

import (
	"bytes"
	"encoding/json"
)

// List is a list of values. One object or one text instead of a list is a list of
// one; elements that are null or cannot be read are left out.
type List[T any] []T

// Map is an object of values by name. Members that cannot be read are left out;
// anything but an object is an empty map.
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
	raw = bytes.TrimSpace(raw)
	var elements []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		elements = []json.RawMessage{raw}
	}
	for _, element := range elements {
		if value, ok := read[T](element); ok {
			*l = append(*l, value)
		}
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (m *Map[T]) UnmarshalJSON(raw []byte) error {
	*m = nil
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil //nolint:nilerr // what cannot be read is the zero value
	}
	for name, member := range members {
		if value, ok := read[T](member); ok {
			if *m == nil {
				*m = make(Map[T], len(members))
			}
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
