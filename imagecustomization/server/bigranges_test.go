package server

import "testing"

// A client that asks "to the end" by the largest number it has gets the range, not
// 200 with the whole file from byte 0 (RFC 9110, 14.1.2: a last position beyond the
// end counts as the end; numbers have no bound). Names of units have no case (14.1).
func TestRangesThatBigNumbersEnd(t *testing.T) {
	const size = 1000
	for _, c := range []struct {
		header      string
		kind        rangeKind
		off, length int64
	}{
		{"bytes=500-9223372036854775807", rangeOne, 500, 500},
		{"bytes=500-18446744073709551615", rangeOne, 500, 500},
		{"bytes=500-99999999999999999999", rangeOne, 500, 500},
		{"bytes=18446744073709551615-", rangeOutside, 0, 0},
		{"bytes=-18446744073709551615", rangeOne, 0, size},
		{"Bytes=500-", rangeOne, 500, 500},
		{"BYTES=-1", rangeOne, 999, 1},
		{"bytes=99999999999999999999-5", rangeNone, 0, size},
		{"bytes=99999999999999999999-99999999999999999998", rangeOutside, 0, 0},
		{"bytes=500-+9", rangeNone, 0, size},
		{"byte=500-", rangeNone, 0, size},
		{"bytes500-", rangeNone, 0, size},
	} {
		if kind, off, length := parseRange(c.header, size); kind != c.kind || off != c.off || length != c.length {
			t.Errorf("%s: kind %d, offset %d, length %d; want %d, %d, %d", c.header, kind, off, length, c.kind, c.off, c.length)
		}
	}
}
