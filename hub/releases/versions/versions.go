// Package versions orders the versions of releases.
package versions

import (
	"slices"
	"strconv"
	"strings"
)

// Older tells that version a is before version b, by their numbers: 4.9 is older
// than 4.20.1. What comes after a dash does not count.
func Older(a, b string) bool { return slices.Compare(Numbers(a), Numbers(b)) < 0 }

// Numbers are those that a version begins with; none for a text that is no version.
func Numbers(version string) []int {
	version, _, _ = strings.Cut(version, "-")
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		out = append(out, n)
	}
	return out
}
