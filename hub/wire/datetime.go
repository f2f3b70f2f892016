package wire

import (
	"fmt"
	"time"
)

// dateTimeFormat is RFC 3339 with milliseconds, as the protocol prints times.
const dateTimeFormat = "2006-01-02T15:04:05.000Z07:00"

// DateTime is a point in time that prints RFC 3339 with milliseconds, in UTC;
// the zero value prints the zero time, which is how the protocol says "unset".
type DateTime struct{ time.Time }

// At returns t as a protocol time.
func At(t time.Time) DateTime { return DateTime{t} }

// MarshalJSON implements [json.Marshaler].
func (d DateTime) MarshalJSON() ([]byte, error) {
	return []byte(`"` + d.UTC().Format(dateTimeFormat) + `"`), nil
}

// UnmarshalJSON accepts any RFC 3339 time, null and the empty string.
func (d *DateTime) UnmarshalJSON(raw []byte) error {
	switch string(raw) {
	case "null", `""`:
		d.Time = time.Time{}
		return nil
	}
	if len(raw) < 2 || raw[0] != '"' {
		return fmt.Errorf("time %s: want RFC 3339 text", raw)
	}
	t, err := time.Parse(time.RFC3339Nano, string(raw[1:len(raw)-1]))
	if err != nil {
		return err
	}
	d.Time = t
	return nil
}
