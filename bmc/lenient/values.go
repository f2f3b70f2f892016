package lenient

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser is what the values of this package have in common.
type parser interface {
	// parse reads a JSON value and reports whether it could be one. If not, the
	// receiver is the zero value.
	parse(raw []byte) bool
}

// String is a text. A number gives its digits as they were written: identifiers
// come as both.
type String string

// Int is a whole number. A text that holds a number counts, a fraction is cut off.
type Int int64

// Float is a number. A text that holds a number counts.
type Float float64

// Bool is a truth value. The texts true and false, in any case, count.
type Bool bool

// Present is true where a property is there, even with the value null.
type Present bool

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (s *String) UnmarshalJSON(raw []byte) error { s.parse(raw); return nil }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (i *Int) UnmarshalJSON(raw []byte) error { i.parse(raw); return nil }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (f *Float) UnmarshalJSON(raw []byte) error { f.parse(raw); return nil }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (b *Bool) UnmarshalJSON(raw []byte) error { b.parse(raw); return nil }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (p *Present) UnmarshalJSON([]byte) error { *p = true; return nil }

func (s *String) parse(raw []byte) bool {
	*s = ""
	raw = bytes.TrimSpace(raw)
	if text, ok := unquote(raw); ok {
		*s = String(text)
		return true
	}
	if number(raw) {
		*s = String(raw)
		return true
	}
	return false
}

func (i *Int) parse(raw []byte) bool {
	*i = 0
	text := digits(raw)
	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		*i = Int(whole)
		return true
	}
	value, ok := float(text)
	// 2^63 itself is a float64, but no int64.
	if !ok || value < math.MinInt64 || value >= math.MaxInt64 {
		return false
	}
	*i = Int(value)
	return true
}

func (f *Float) parse(raw []byte) bool {
	value, ok := float(digits(raw))
	*f = Float(value)
	return ok
}

func (b *Bool) parse(raw []byte) bool {
	text, ok := unquote(raw)
	if !ok {
		text = string(bytes.TrimSpace(raw))
	}
	text = strings.TrimSpace(text)
	*b = Bool(strings.EqualFold(text, "true"))
	return bool(*b) || strings.EqualFold(text, "false")
}

// digits is a number's text, whether it came as a number or as a string.
func digits(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if text, ok := unquote(raw); ok {
		return strings.TrimSpace(text)
	}
	return string(raw)
}

// float reads a finite decimal number. ParseFloat alone takes names, hexadecimal
// digits and underscores too.
func float(text string) (float64, bool) {
	if !number([]byte(strings.TrimPrefix(text, "+"))) {
		return 0, false
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	return value, true
}

// number reports whether a text looks like a decimal number.
func number(raw []byte) bool {
	if len(raw) > 0 && raw[0] == '-' {
		raw = raw[1:]
	}
	if len(raw) == 0 || raw[0] != '.' && (raw[0] < '0' || raw[0] > '9') {
		return false
	}
	for _, c := range raw {
		if (c < '0' || c > '9') && !strings.ContainsRune(".eE+-", rune(c)) {
			return false
		}
	}
	return true
}

func unquote(raw []byte) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	if plain(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// plain reports whether a JSON string stands for the bytes between its quotes. Nearly all
// of a BMC's do, and an answer has dozens: a decoder for each takes longer than the rest.
func plain(raw []byte) bool {
	if len(raw) < 2 || raw[len(raw)-1] != '"' {
		return false
	}
	for _, c := range raw[1 : len(raw)-1] {
		if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
