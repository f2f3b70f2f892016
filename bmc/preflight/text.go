package preflight

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// Bounds of messages: parts of them come from BMCs.
const (
	longestMessage = 800
	longestValue   = 80
	mostValues     = 12
)

func shortened(text string) string { return cut(text, longestMessage) }

func cut(text string, longest int) string {
	runes := []rune(lenient.Printable(text))
	if len(runes) <= longest {
		return string(runes)
	}
	return string(runes[:longest-1]) + "…"
}

// quoted is a value for a message.
func quoted(v any) string { return strconv.Quote(cut(fmt.Sprint(v), longestValue)) }

// known is a text, or that it is not known.
func known(text string) string {
	if text == "" {
		return "an unknown version"
	}
	return cut(text, longestValue)
}

// list names values, the first of them where there are many.
func list(values []string) string {
	shown := make([]string, 0, mostValues)
	for _, v := range values {
		if len(shown) == mostValues {
			return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", len(values)-mostValues)
		}
		shown = append(shown, cut(v, longestValue))
	}
	return strings.Join(shown, ", ")
}

// proof says how it is known that a capability is missing.
func proof(c v1alpha1.Capability) string {
	if c.Proof == "" {
		return "The BMC does not offer it."
	}
	return "The BMC says: " + cut(strings.TrimSuffix(c.Proof, "."), 3*longestValue) + "."
}

// amount is a number of bytes as people read it.
func amount(bytes int64) string {
	const gib, mib = 1 << 30, 1 << 20
	if bytes >= gib {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/gib), ".0") + " GiB"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(bytes)/mib), ".0") + " MiB"
}

// amounts are two sizes in words that differ where they do.
func amounts(a, b int64) (first, second string) {
	if first, second = amount(a), amount(b); first != second || a == b {
		return first, second
	}
	return strconv.FormatInt(a, 10) + " bytes", strconv.FormatInt(b, 10) + " bytes"
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
