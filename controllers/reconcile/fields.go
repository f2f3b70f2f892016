package reconcile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
)

// mergeStruct writes the JSON merge patch (RFC 7386) from one struct with these
// fields to another, and reports whether there is a difference. Most of a status,
// and the largest part of it, stays as it is: only what differs is put into JSON.
func mergeStruct(patch *bytes.Buffer, fields []field, from, to reflect.Value) (differ bool, err error) {
	patch.WriteByte('{')
	for _, f := range fields {
		start := patch.Len()
		if differ {
			patch.WriteByte(',')
		}
		patch.WriteString(f.key)
		changed, err := f.merge(patch, from.Field(f.index), to.Field(f.index))
		if err != nil {
			return false, err
		}
		if changed {
			differ = true
		} else {
			patch.Truncate(start)
		}
	}
	patch.WriteByte('}')
	return differ, nil
}

// field is one of a struct that is a member of its JSON object.
type field struct {
	index     int
	key       string // with its quotes and the colon
	omitEmpty bool
	omitZero  bool
}

// merge writes the patch from one value of the field to another. No list and an
// empty one are told apart where they are written differently: they may ask for
// different things.
func (f field) merge(patch *bytes.Buffer, from, to reflect.Value) (differ bool, err error) {
	if from.Kind() == reflect.Pointer && !from.IsNil() && !to.IsNil() { // then it is not left out, whatever it points to
		return field{}.merge(patch, from.Elem(), to.Elem())
	}
	if fields := layoutOf(from.Type()); fields != nil && !f.omitZero {
		return mergeStruct(patch, fields, from, to)
	}
	if equality.Semantic.DeepEqualWithNilDifferentFromEmpty(from.Interface(), to.Interface()) {
		return false, nil
	}
	before, err := f.json(from)
	if err != nil {
		return false, err
	}
	after, err := f.json(to)
	if err != nil || bytes.Equal(before, after) { // times may differ by less than what is written of them
		return false, err
	}
	change, err := difference(before, after)
	if err != nil {
		return false, err
	}
	patch.Write(change)
	return true, nil
}

// json is a value of the field in JSON; null if it is left out.
func (f field) json(v reflect.Value) ([]byte, error) {
	if f.omitZero && v.IsZero() || f.omitEmpty && empty(v) {
		return []byte("null"), nil
	}
	return json.Marshal(v.Interface())
}

// empty reports what encoding/json leaves out as empty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}

// layouts are the fields of struct types that were met, nil for those that are not plain.
var layouts sync.Map

// layoutOf are the fields of a plain struct type, one that encoding/json writes field
// by field; nil for any other type.
func layoutOf(t reflect.Type) []field {
	if t.Kind() != reflect.Struct {
		return nil
	}
	known, found := layouts.Load(t)
	if !found {
		known, _ = layouts.LoadOrStore(t, layOut(t))
	}
	fields, _ := known.([]field)
	return fields
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// layOut finds out the fields of a struct type.
func layOut(t reflect.Type) (fields []field) {
	if t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || strings.Contains(options, "string") {
			return nil
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		key, _ := json.Marshal(name) //nolint:errchkjson // a string
		fields = append(fields, field{
			index: i, key: string(key) + ":", omitEmpty: strings.Contains(options, "omitempty"), omitZero: strings.Contains(options, "omitzero"),
		})
	}
	return fields
}
