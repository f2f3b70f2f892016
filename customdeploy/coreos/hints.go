package coreos

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
)

// minimumGiB is what a disk must have to be chosen without hints.
const minimumGiB = 4

// hintFields are the root device hints, with the value of a disk that each is
// compared with: those of several values fit when one of them does. Sizes are GiB
// with their fraction, as Ironic compares them.
var hintFields = map[string]func(blockdev.Disk) any{
	"name":                 func(d blockdev.Disk) any { return append([]string{d.Path, "/dev/" + d.KernelName}, d.Links...) },
	"hctl":                 func(d blockdev.Disk) any { return d.HCTL },
	"model":                func(d blockdev.Disk) any { return d.Model },
	"vendor":               func(d blockdev.Disk) any { return d.Vendor },
	"serial":               func(d blockdev.Disk) any { return append([]string{d.Serial}, d.Serials...) },
	"wwn":                  func(d blockdev.Disk) any { return append([]string{d.WWN}, d.WWNs...) },
	"wwn_with_extension":   func(d blockdev.Disk) any { return d.WWNWithExtension },
	"wwn_vendor_extension": func(d blockdev.Disk) any { return d.WWNVendorExtension },
	"by_path":              func(d blockdev.Disk) any { return d.Links },
	"size":                 func(d blockdev.Disk) any { return float64(d.SizeBytes) / (1 << 30) },
	"tran":                 func(d blockdev.Disk) any { return d.Transport },
	"rotational":           func(d blockdev.Disk) any { return d.Rotational },
}

// Hints are the root device hints of a node; all must fit.
type Hints map[string]any

// Check refuses unknown hints and values that cannot be compared.
func (h Hints) Check() error {
	for name, value := range h {
		field, ok := hintFields[name]
		if !ok {
			return fmt.Errorf("root device hint %q is not known; known are: %s", name, knownHints())
		}
		if _, err := matches(field(blockdev.Disk{}), value); err != nil {
			return fmt.Errorf("root device hint %s: %w", name, err)
		}
	}
	return nil
}

func knownHints() string {
	names := make([]string, 0, len(hintFields))
	for name := range hintFields {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Choose returns the disk to install on and why: the first that fits the hints, in
// the order of the list, as Ironic does it; without hints the smallest disk of at
// least 4 GiB, and of equal ones the first by name.
func (h Hints) Choose(disks []blockdev.Disk) (blockdev.Disk, string, error) {
	if err := h.Check(); err != nil {
		return blockdev.Disk{}, "", err
	}
	if len(h) == 0 {
		return smallest(disks)
	}
	i := slices.IndexFunc(disks, h.fits)
	if i < 0 {
		return blockdev.Disk{}, "", fmt.Errorf("no disk fits the root device hints %s; there are: %s", h, list(disks))
	}
	return disks[i], fmt.Sprintf("the first that fits the hints %s", h), nil
}

func smallest(disks []blockdev.Disk) (blockdev.Disk, string, error) {
	disks = slices.Clone(disks)
	slices.SortFunc(disks, func(a, b blockdev.Disk) int {
		return cmp.Or(cmp.Compare(a.SizeBytes, b.SizeBytes), strings.Compare(cmp.Or(a.KernelName, a.Path), cmp.Or(b.KernelName, b.Path)))
	})
	i := slices.IndexFunc(disks, func(d blockdev.Disk) bool { return d.SizeBytes >= minimumGiB<<30 })
	if i < 0 {
		return blockdev.Disk{}, "", fmt.Errorf("no disk has %d GiB; there are: %s", minimumGiB, list(disks))
	}
	return disks[i], fmt.Sprintf("the smallest disk of at least %d GiB; there are no hints", minimumGiB), nil
}

// fits tells whether all hints fit the disk, or one of the paths to it: a person who
// sees one path and names it means the disk.
func (h Hints) fits(d blockdev.Disk) bool {
	return h.fit(d) || slices.ContainsFunc(d.Paths, h.fit)
}

func (h Hints) fit(d blockdev.Disk) bool {
	for name, want := range h {
		if ok, err := matches(hintFields[name](d), want); err != nil || !ok {
			return false
		}
	}
	return true
}

// String lists the hints in a fixed order.
func (h Hints) String() string {
	parts := make([]string, 0, len(h))
	for name, value := range h {
		parts = append(parts, fmt.Sprintf("%s=%v", name, value))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

func list(disks []blockdev.Disk) string {
	if len(disks) == 0 {
		return "none"
	}
	texts := make([]string, len(disks))
	for i, d := range disks {
		texts[i] = fmt.Sprintf("%s (%d GiB, %s)", d.Path, d.SizeBytes>>30, strings.TrimSpace(d.Vendor+" "+d.Model))
	}
	return strings.Join(texts, "; ")
}

// matches compares one value of a disk with a hint in Ironic's notation.
func matches(have, want any) (bool, error) {
	switch have := have.(type) {
	case bool:
		b, err := boolean(want)
		return b == have, err
	case float64:
		return compareNumber(have, want)
	case []string:
		return compareTexts(have, want)
	default:
		return compareTexts([]string{have.(string)}, want)
	}
}

func boolean(want any) (bool, error) {
	switch want := want.(type) {
	case bool:
		return want, nil
	case string:
		switch text := strings.ToLower(strings.TrimSpace(want)); { // the words of oslo.utils
		case slices.Contains([]string{"1", "t", "true", "on", "y", "yes"}, text):
			return true, nil
		case slices.Contains([]string{"0", "f", "false", "off", "n", "no"}, text):
			return false, nil
		}
		return false, fmt.Errorf("%q is not true or false", want)
	default:
		return false, fmt.Errorf("%v is not true or false", want)
	}
}

// operators of Ironic's hints; the longer ones first, where one begins another.
var operators = []string{"s==", "s!=", "s>=", "s<=", "s>", "s<", "<in>", "<all-in>", ">=", "<=", "==", "!=", "=", ">", "<"}

func split(text string) (op, value string) {
	text = strings.TrimSpace(text)
	for _, op := range operators {
		if rest, ok := strings.CutPrefix(text, op); ok {
			return op, strings.TrimSpace(rest)
		}
	}
	return "", text
}

// alternatives splits "<or> a <or> b".
func alternatives(text string) ([]string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "<or>")
	if !ok {
		return nil, false
	}
	var all []string
	for part := range strings.SplitSeq(rest, "<or>") {
		all = append(all, strings.TrimSpace(part))
	}
	return all, true
}

func compareNumber(have float64, want any) (bool, error) {
	text := fmt.Sprint(want)
	if f, ok := want.(float64); ok {
		text = strconv.FormatFloat(f, 'f', -1, 64)
	}
	if all, ok := alternatives(text); ok {
		found := false
		for _, one := range all {
			n, err := number(one)
			if err != nil {
				return false, err
			}
			found = found || n == have
		}
		return found, nil
	}
	op, value := split(text)
	n, err := number(value)
	if err != nil {
		return false, err
	}
	switch op {
	case "", "==":
		return have == n, nil
	case "=", ">=": // Ironic's "=" means at least
		return have >= n, nil
	case "<=":
		return have <= n, nil
	case ">":
		return have > n, nil
	case "<":
		return have < n, nil
	case "!=":
		return have != n, nil
	}
	return false, fmt.Errorf("operator %s does not compare numbers", op)
}

// number reads a hint's number; Ironic takes whole ones only.
func number(text string) (float64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return float64(n), nil
}

// compareTexts holds when one of the disk's values fits; case does not count.
func compareTexts(have []string, want any) (bool, error) {
	text, ok := want.(string)
	if !ok {
		return false, fmt.Errorf("%v is not a text", want)
	}
	text = strings.ToLower(text)
	all, or := alternatives(text)
	op, value := split(text)
	if value == "" && !or {
		return false, errors.New("the value is empty, every disk would fit")
	}
	fits := func(h string) bool {
		h = strings.ToLower(strings.TrimSpace(h))
		switch {
		case or:
			return slices.Contains(all, h)
		case op == "<in>":
			return strings.Contains(h, value)
		case op == "<all-in>":
			return !slices.ContainsFunc(strings.Fields(value), func(w string) bool { return !strings.Contains(h, w) })
		case op == "s!=":
			return h != value
		default:
			return h == value
		}
	}
	if !or && !slices.Contains([]string{"", "s==", "s!=", "<in>", "<all-in>"}, op) {
		return false, fmt.Errorf("operator %s does not compare texts", op)
	}
	have = slices.DeleteFunc(slices.Clone(have), func(h string) bool { return strings.TrimSpace(h) == "" })
	if len(have) == 0 { // a disk that does not say it
		return false, nil
	}
	if op == "s!=" && !or {
		return !slices.ContainsFunc(have, func(h string) bool { return !fits(h) }), nil
	}
	return slices.ContainsFunc(have, fits), nil
}
