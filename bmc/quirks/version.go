package quirks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Version is a version as dotted numbers. Numbers that are missing count as zero.
type Version []string

// dotted finds the number of a version in the forms of vendors: "6.10.30.00",
// "iLO 5 v2.72", "TGBT42S 2.83 2023-07-05", "GB200Nvl-24.12-8".
var dotted = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)+`)

// whole is a version of one number.
var whole = regexp.MustCompile(`^[vV]?([0-9]+)$`)

// longestVersion bounds what is looked at: a version comes out of a BMC.
const longestVersion = 256

// ParseVersion reads the first dotted number of a text; ok is false if there is none.
func ParseVersion(text string) (v Version, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) > longestVersion {
		text = text[:longestVersion]
	}
	found := dotted.FindString(text)
	if found == "" {
		one := whole.FindStringSubmatch(text)
		if one == nil {
			return nil, false
		}
		found = one[1]
	}
	for part := range strings.SplitSeq(found, ".") {
		v = append(v, strings.TrimLeft(part, "0"))
	}
	return v, true
}

// Compare is negative, zero or positive as the version is older than, equal to or
// newer than the other one.
func (v Version) Compare(other Version) int {
	for i := range max(len(v), len(other)) {
		if c := compareNumbers(v.number(i), other.number(i)); c != 0 {
			return c
		}
	}
	return 0
}

func (v Version) number(i int) string {
	if i < len(v) {
		return v[i]
	}
	return ""
}

// compareNumbers compares numbers of any length that have no zeros in front.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Older reports whether a version is older than another one; false when either
// cannot be read.
func Older(version, than string) bool {
	v, readable := ParseVersion(version)
	other, too := ParseVersion(than)
	return readable && too && v.Compare(other) < 0
}

// firmwareRange is a list of bounds that all hold, as ">=6.00 <6.10.30.00".
type firmwareRange []bound

type bound struct {
	operator string
	version  Version
}

// operators of a range, the longer ones first.
var operators = []string{">=", "<=", ">", "<", "="}

func parseRange(text string) (firmwareRange, error) {
	var r firmwareRange
	for _, term := range strings.FieldsFunc(text, func(c rune) bool { return c == ' ' || c == ',' }) {
		i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(term, op) })
		if i < 0 {
			return nil, fmt.Errorf("%q has no sign: write it as >=6.00 or <6.10.30.00 (%s)", term, strings.Join(operators, " "))
		}
		number := strings.TrimPrefix(term, operators[i])
		version, ok := ParseVersion(number)
		if !ok || number[0] < '0' || number[0] > '9' {
			return nil, fmt.Errorf("%q names no version: write dotted numbers, as %s6.10.30.00", term, operators[i])
		}
		r = append(r, bound{operator: operators[i], version: version})
	}
	return r, nil
}

// contains reports whether a version is within the range. A version that cannot be
// read is in no range but the one without bounds.
func (r firmwareRange) contains(text string) bool {
	if len(r) == 0 {
		return true
	}
	version, ok := ParseVersion(text)
	return ok && !slices.ContainsFunc(r, func(b bound) bool { return !b.holds(version) })
}

func (b bound) holds(v Version) bool {
	c := v.Compare(b.version)
	switch b.operator {
	case ">=":
		return c >= 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	case "<":
		return c < 0
	default:
		return c == 0
	}
}
