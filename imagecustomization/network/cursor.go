package network

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ErrUnsupported is wrapped by every refusal; its text names the field.
var ErrUnsupported = errors.New("network settings cannot be translated")

// reader collects what is wrong while a document is read.
type reader struct{ problems []error }

func (r *reader) refuse(path, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s: "+format, append([]any{path}, args...)...))
}

func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnsupported, errors.Join(r.problems...))
}

// object is one mapping of the document with its path. Every member that is
// read is taken out; what is left at the end is refused, so that nothing that
// the user wrote is ever dropped silently.
type object struct {
	*reader
	path string
	m    map[string]any
}

// newObject makes an object of a value; anything but a mapping is refused.
func (r *reader) newObject(path string, value any) *object {
	o := &object{reader: r, path: path, m: map[string]any{}}
	switch v := value.(type) {
	case nil:
	case map[string]any:
		o.m = maps.Clone(v)
	default:
		r.refuse(path, "want a mapping")
	}
	return o
}

func (o *object) take(key string) (any, string, bool) {
	v, ok := o.m[key]
	delete(o.m, key)
	return v, o.at(key), ok && v != nil
}

func (o *object) at(key string) string {
	if o.path == "" {
		return key
	}
	return o.path + "." + key
}

// child takes a member that is a mapping; an absent one is empty.
func (o *object) child(key string) *object {
	v, path, _ := o.take(key)
	return o.newObject(path, v)
}

// list takes a member that is a sequence.
func (o *object) list(key string) []any {
	v, path, ok := o.take(key)
	if !ok {
		return nil
	}
	l, ok := v.([]any)
	if !ok {
		o.refuse(path, "want a list")
	}
	return l
}

// objects takes a member that is a sequence of mappings.
func (o *object) objects(key string) []*object {
	path := o.at(key)
	var out []*object
	for i, v := range o.list(key) {
		out = append(out, o.newObject(fmt.Sprintf("%s[%d]", path, i), v))
	}
	return out
}

// strings takes a member that is a sequence of strings.
func (o *object) strings(key string) []string {
	path := o.at(key)
	var out []string
	for i, v := range o.list(key) {
		s, ok := v.(string)
		if !ok || !oneLine(s) {
			o.refuse(fmt.Sprintf("%s[%d]", path, i), "want a string of one line")
			continue
		}
		out = append(out, s)
	}
	return out
}

// text takes a string or a number as text.
func (o *object) text(key string) string {
	v, path, ok := o.take(key)
	if !ok {
		return ""
	}
	switch v := v.(type) {
	case string:
		if !oneLine(v) {
			o.refuse(path, "must be a single line")
		}
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	o.refuse(path, "want text")
	return ""
}

func oneLine(s string) bool { return !strings.ContainsAny(s, "\n\r\x00") }

// flag takes a boolean.
func (o *object) flag(key string, otherwise bool) bool {
	v, path, ok := o.take(key)
	if !ok {
		return otherwise
	}
	b, ok := v.(bool)
	if !ok {
		o.refuse(path, "want true or false")
	}
	return b
}

// number takes an integer within bounds; absent is -1.
func (o *object) number(key string, low, high int) int {
	v, path, ok := o.take(key)
	if !ok {
		return -1
	}
	f, ok := v.(float64)
	if s, isText := v.(string); isText {
		n, err := strconv.Atoi(s)
		f, ok = float64(n), err == nil
	}
	if !ok || f != float64(int(f)) || int(f) < low || int(f) > high {
		o.refuse(path, "want a number from %d to %d", low, high)
		return -1
	}
	return int(f)
}

// only refuses a text that is not one of those that can be translated.
func (o *object) only(key, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) {
		o.refuse(o.at(key), "%q is not supported, there are %s", value, strings.Join(allowed, ", "))
	}
}

// done refuses every member that nobody took.
func (o *object) done() {
	for _, key := range slices.Sorted(maps.Keys(o.m)) {
		o.refuse(o.at(key), "not supported")
	}
}
