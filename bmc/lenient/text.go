package lenient

import (
	"strings"
	"unicode"
)

// Printable is a text that a BMC chose, in one line and without what would command a
// terminal or turn what it shows: such texts get into logs, conditions and reports.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
}
