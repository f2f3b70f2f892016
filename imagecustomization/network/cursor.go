package network

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

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
			o.refuse(fmt.Sprintf("%s[%d]", path, i), "want a string of one line, without control characters")
			continue
		}
		out = append(out, s)
	}
	return out
}

// names takes a member that is a sequence of names, of which YAML may take some for
// numbers.
func (o *object) names(key string) []string {
	if list, ok := o.m[key].([]any); ok {
		list = slices.Clone(list)
		for i, v := range list {
			if w, ok := v.(written); ok {
				list[i] = w.text
			}
		}
		o.m[key] = list
	}
	return o.strings(key)
}

// text takes a string, or a number as it is written.
func (o *object) text(key string) string {
	v, path, ok := o.take(key)
	if !ok {
		return ""
	}
	switch v := v.(type) {
	case string:
		if !oneLine(v) {
			o.refuse(path, "must be a single line without control characters")
		}
		return v
	case written:
		return v.text
	case bool:
		return strconv.FormatBool(v)
	}
	o.refuse(path, "want text")
	return ""
}

// name takes a text that is a name: a boolean is none, although YAML makes one of on.
func (o *object) name(key string) string {
	if _, is := o.m[key].(bool); is {
		_, path, _ := o.take(key)
		o.refuse(path, "want text, and YAML reads a boolean here; put it in quotes")
		return ""
	}
	return o.text(key)
}

// remark takes a text for people, which goes nowhere and may have many lines.
func (o *object) remark(key string) {
	if v, path, ok := o.take(key); ok {
		switch v.(type) {
		case string, written, bool:
		default:
			o.refuse(path, "want text")
		}
	}
}

// oneLine tells whether a keyfile gives the text back as it is.
func oneLine(s string) bool { return !strings.ContainsFunc(s, unicode.IsControl) }

// spellings are the words and numbers that nmstate takes for a boolean beside true and false.
var spellings = map[string]bool{
	"true": true, "yes": true, "on": true, "y": true, "1": true,
	"false": false, "no": false, "off": false, "n": false, "0": false,
}

// maybe takes a boolean, which may be quoted, or 0 or 1; given tells whether there is one.
func (o *object) maybe(key string) (value, given bool) {
	v, path, ok := o.take(key)
	if !ok {
		return false, false
	}
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		if b, known := spellings[strings.ToLower(v)]; known {
			return b, true
		}
	case written:
		if v.number == 0 || v.number == 1 {
			return v.number == 1, true
		}
	}
	o.refuse(path, "want true or false")
	return false, false
}

// flag takes a boolean.
func (o *object) flag(key string, otherwise bool) bool {
	if v, given := o.maybe(key); given {
		return v
	}
	return otherwise
}

// absent is what number returns for a member that is not there.
const absent = -1

// number takes an integer within bounds, which may be quoted, also in
// hexadecimal; absent is -1.
func (o *object) number(key string, low, high int) int {
	v, path, ok := o.take(key)
	if !ok {
		return absent
	}
	w, ok := v.(written)
	f := w.number
	if s, isText := v.(string); isText {
		var n int64
		var err error
		if digits, hex := strings.CutPrefix(strings.ToLower(s), "0x"); hex {
			n, err = strconv.ParseInt(digits, 16, 64)
		} else {
			n, err = strconv.ParseInt(s, 10, 64)
		}
		f, ok = float64(n), err == nil
	}
	if !ok || f != float64(int(f)) || int(f) < low || int(f) > high {
		o.refuse(path, "want a number from %d to %d", low, high)
		return absent
	}
	return int(f)
}

// numberOrDefault takes an integer that nmstate writes as -1 or as unset for its
// default.
func (o *object) numberOrDefault(key string, unset int) int {
	if n := o.number(key, -1, maxUint32); n != unset {
		return n
	}
	return absent
}

// only refuses a text that is not one of those that can be translated.
func (o *object) only(key, value string, allowed ...string) {
	if value != "" && !slices.Contains(allowed, value) {
		o.refuse(o.at(key), "%q is not supported, there are %s", value, strings.Join(allowed, ", "))
	}
}

// word takes a text that is one of those that nmstate has, and leaves those to
// nmstatectl that only it can act upon.
func (o *object) word(key string, translated, left []string) string {
	value := o.text(key)
	if slices.Contains(left, value) {
		o.leave(o.at(key), "%q is not translated, there are %s", value, strings.Join(translated, ", "))
	} else {
		o.only(key, value, translated...)
	}
	return value
}

// mac takes a MAC address, in capitals; empty for none.
func (o *object) mac(key string) string {
	mac := strings.ToUpper(o.text(key))
	if mac != "" && !macAddress.MatchString(mac) {
		o.refuse(o.at(key), "%q is not a MAC address", mac)
	}
	return mac
}

// station takes the MAC address of one card; empty for none.
func (o *object) station(key string) string {
	mac := o.mac(key)
	if macAddress.MatchString(mac) && !unicastMAC(mac) {
		o.refuse(o.at(key), "%s is not the address of one card", mac)
	}
	return mac
}

// form is how NetworkManager writes the value of a member.
type form int

const (
	formFlag   form = iota // true or false
	formBit                // 1 or 0
	formNumber             // within bounds
)

// member is one that NetworkManager knows, under the key or, without one, under
// the same name.
type member struct {
	name, key string
	form      form
	low, high int
}

// members takes those that are there, in the order of the table, as settings of a
// keyfile.
func (o *object) members(table []member) (settings [][2]string) {
	for _, m := range table {
		key := m.key
		if key == "" {
			key = m.name
		}
		switch m.form {
		case formNumber:
			if v := o.number(m.name, m.low, m.high); v != absent {
				settings = append(settings, [2]string{key, strconv.Itoa(v)})
			}
		case formFlag, formBit:
			v, given := o.maybe(m.name)
			if !given {
				continue
			}
			text := strconv.FormatBool(v)
			switch {
			case m.form == formBit && v:
				text = "1"
			case m.form == formBit:
				text = "0"
			}
			settings = append(settings, [2]string{key, text})
		}
	}
	return settings
}

// drop leaves out a member that says no more than nothing at all does: nmstatectl shows it
// with one of these values where nobody has set it.
func (o *object) drop(key string, defaults ...string) {
	var said string
	switch v := o.m[key].(type) {
	case string:
		said = strings.ToLower(v)
	case written:
		said = v.text
	case bool:
		said = strconv.FormatBool(v)
	case []any:
		if len(v) > 0 {
			return
		}
		said = empty
	default:
		return
	}
	if slices.Contains(defaults, said) {
		delete(o.m, key)
	}
}

// empty is what [object.drop] calls a list without anything in it.
const empty = "[]"

// done refuses every member that nobody took. What nmstate has, nmstatectl may
// act upon; anything else is a mistake.
func (o *object) done() {
	for _, key := range slices.Sorted(maps.Keys(o.m)) {
		switch {
		case slices.Contains(resultsOnly[indices.ReplaceAllString(o.path, "")], key):
		case slices.Contains(nmstateOnly[indices.ReplaceAllString(o.path, "")], key):
			o.leave(o.at(key), "not translated")
		default:
			o.refuse(o.at(key), "not supported")
		}
	}
}
