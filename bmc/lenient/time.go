package lenient

import (
	"strings"
	"time"
)

// Time is a point in time; the zero time where it cannot be read. Vendors write
// 0000-00-00 for "never", offsets without a colon, blanks for the T, and leave the
// offset out: then it is UTC.
type Time struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (t *Time) UnmarshalJSON(raw []byte) error { t.parse(raw); return nil }

// layouts are the forms that occur, with T for the blank. Fractions of a second are
// read by all of them.
var layouts = []string{
	time.RFC3339,
	"2006-01-02T15:04:05Z0700",
	"2006-01-02T15:04:05Z07",
	"2006-01-02T15:04:05",
	"2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"2006-01-02",
}

func (t *Time) parse(raw []byte) bool {
	t.Time = time.Time{}
	text, ok := unquote(raw)
	if !ok {
		return false
	}
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) > len("2006-01-02") && text[len("2006-01-02")] == ' ' {
		text = text[:len("2006-01-02")] + "T" + text[len("2006-01-02 "):]
	}
	if strings.HasPrefix(text, "0000-") || strings.HasPrefix(text, "00:00") {
		return false
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, text); err == nil && writable(at) {
			t.Time = at
			return true
		}
	}
	return false
}

// writable reports whether a time can be written as RFC 3339 in UTC, where an offset
// may lead out of the years that it knows: an object with such a time is refused whole.
func writable(at time.Time) bool {
	year := at.UTC().Year()
	return year >= 1 && year <= 9999
}
