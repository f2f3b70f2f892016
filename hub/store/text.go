package store

import (
	"strings"
	"time"
)

// clean makes a text that every database takes: hosts may send anything.
// PostgreSQL refuses NUL and what is not UTF-8.
func clean(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}

// unix and fromUnix keep times as microseconds; zero stays zero.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromUnix(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}
