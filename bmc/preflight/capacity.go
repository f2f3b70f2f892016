package preflight

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

const (
	gib = 1 << 30
	// stripe is the unit in which Ironic counts.
	stripe = 64 << 20
	// mostDisks bounds how many disks a volume is looked for on.
	mostDisks = 128
)

// capacity is a disk's size in bytes; 0 is not known, as is what no disk has.
func capacity(d *v1alpha1.DriveReport) int64 {
	if d.CapacityBytes < 0 || d.CapacityBytes > 1<<54 {
		return 0
	}
	return d.CapacityBytes
}

// volumeCapacities: named disks hold the volumes, those with a size first, as Ironic counts.
func volumeCapacities(in *Input) []v1alpha1.Mismatch {
	free := map[*v1alpha1.DriveReport]int64{}
	room := func(v *Volume) (least int64, disks []named, known bool) {
		disks = in.namedDisks(v)
		for _, n := range disks {
			if n.drive == nil || capacity(n.drive) == 0 {
				return 0, nil, false
			}
			if _, seen := free[n.drive]; !seen {
				free[n.drive] = capacity(n.drive)
			}
		}
		if l, ok := levels[v.Level]; !ok || len(disks) == 0 || !l.takes(len(disks)) {
			return 0, nil, false
		}
		least = free[slices.MinFunc(disks, func(a, b named) int { return cmp.Compare(free[a.drive], free[b.drive]) }).drive]
		return least / stripe * stripe, disks, true
	}
	var mismatches []v1alpha1.Mismatch
	for _, open := range []bool{false, true} {
		mismatches = append(mismatches, eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
			least, disks, known := room(v)
			if !known || (v.SizeGiB == 0) != open {
				return nil
			}
			data := int64(levels[v.Level].data(len(disks)))
			if open && least == 0 {
				return one(kindHost, at+".physicalDisks", ReasonRAIDCapacity, "Other volumes take all space of these disks: name other disks, or give the volumes sizes.")
			}
			if float64(v.SizeGiB)*gib > float64(least*data) {
				return one(kindHost, at+".sizeGibibytes", ReasonRAIDCapacity, fmt.Sprintf(
					"%d GiB are asked for, and level %s on these %s holds %s: write at most that, or name more disks.",
					v.SizeGiB, v.Level, plural(len(disks), "disk"), amount(least*data)))
			}
			used := least
			if !open {
				used = (int64(v.SizeGiB)*gib/data + stripe - 1) / stripe * stripe
			}
			for _, n := range disks {
				free[n.drive] -= used
			}
			return nil
		})...)
	}
	return mismatches
}

// group are disks that Ironic takes for alike.
type group struct {
	media, protocol string
	capacity        int64
}

func (g group) String() string {
	return strings.Join(strings.Fields(g.protocol+" "+g.media), " ") + " of " + amount(g.capacity)
}

// mediaOf is what a report calls disks that rotate, and others.
func mediaOf(rotational bool) string {
	if rotational {
		return "HDD"
	}
	return "SSD"
}

// fits reports whether a volume may be made of disks of the group, and of how many
// it must at least be; 0 for none.
func (g group) fits(v *Volume, l level) int {
	if v.Count > mostDisks {
		return 0
	}
	if v.Rotational != nil && !strings.EqualFold(g.media, mediaOf(*v.Rotational)) {
		return 0
	}
	holds := func(n int) bool {
		return l.takes(n) && float64(v.SizeGiB)*gib <= float64(g.capacity*int64(l.data(n)))
	}
	if v.Count > 0 {
		if holds(v.Count) {
			return v.Count
		}
		return 0
	}
	for n := l.minimum; n <= mostDisks && (l.maximum == 0 || n <= l.maximum); n++ {
		if holds(n) {
			return n
		}
	}
	return 0
}

// volumeGroups: where no disk is named, Ironic needs disks that are alike and free.
// It is not said whether it will find them, only where there cannot be enough.
func volumeGroups(in *Input) []v1alpha1.Mismatch {
	if !in.storageComplete() || len(in.candidates(&Volume{})) == 0 {
		return nil
	}
	counts, unread := in.groups()
	var free []*Volume
	var fields []string
	mismatches := eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		l, known := levels[v.Level]
		if len(v.Disks) > 0 || !known || v.SizeGiB == 0 || v.Count > 0 && !l.takes(v.Count) {
			return nil
		}
		for g, n := range counts {
			if need := g.fits(v, l); need > 0 && need <= n+unread {
				free, fields = append(free, v), append(fields, at)
				return nil
			}
		}
		if unread > 0 {
			return nil
		}
		return one(kindHost, at, ReasonRAIDDisksTooFew, fmt.Sprintf("%s asked for, and there is: %s. Ask for fewer disks or less space.", wanted(v), shown(counts)))
	})
	steps := 0
	if len(mismatches) == 0 && len(free) > 1 && unread == 0 && !assign(free, counts, &steps) {
		return one(kindHost, fieldHardware, ReasonRAIDDisksTooFew, fmt.Sprintf(
			"Each of %d volumes finds disks, and all of them together do not; there is: %s. Ask for fewer disks or less space.", len(free), shown(counts)))
	}
	return mismatches
}

// groups counts the usable disks behind controllers that make volumes, without those
// that volumes name; unread are disks of which nothing is known.
func (in *Input) groups() (counts map[group]int, unread int) {
	counts = map[group]int{}
	taken := map[*v1alpha1.DriveReport]bool{}
	for i := range in.Wishes.Volumes {
		for _, n := range in.namedDisks(&in.Wishes.Volumes[i]) {
			taken[n.drive] = true
		}
	}
	for i := range in.Report.Storage {
		s := &in.Report.Storage[i]
		for j := range s.Drives {
			d := &s.Drives[j]
			switch {
			case skipped(s) || taken[d] || unusable(d) != "":
			case capacity(d) == 0:
				unread++
			default:
				counts[group{d.MediaType, d.Protocol, capacity(d)}]++
			}
		}
	}
	return counts, unread
}

// mostSteps bounds the search; beyond it the volumes are taken to fit.
const mostSteps = 5000

// assign reports whether all volumes find disks of their own.
func assign(volumes []*Volume, counts map[group]int, steps *int) bool {
	if *steps++; len(volumes) == 0 || *steps > mostSteps {
		return true
	}
	for g, n := range counts {
		if need := g.fits(volumes[0], levels[volumes[0].Level]); need > 0 && need <= n {
			counts[g] -= need
			ok := assign(volumes[1:], counts, steps)
			counts[g] += need
			if ok {
				return true
			}
		}
	}
	return false
}

func wanted(v *Volume) string {
	var b strings.Builder
	fmt.Fprintf(&b, "A volume of level %s with %d GiB", v.Level, v.SizeGiB)
	if v.Count > 0 {
		fmt.Fprintf(&b, " on %s", plural(v.Count, "disk"))
	}
	if v.Rotational != nil {
		kind := ", solid-state,"
		if *v.Rotational {
			kind = ", rotational,"
		}
		b.WriteString(kind)
	}
	return b.String() + " is"
}

// shown names the groups with their numbers.
func shown(counts map[group]int) string {
	var parts []string
	for _, g := range slices.SortedFunc(maps.Keys(counts), func(a, b group) int { return strings.Compare(a.String(), b.String()) }) {
		parts = append(parts, fmt.Sprintf("%d × %s", counts[g], g))
	}
	if len(parts) == 0 {
		return "no usable disk"
	}
	return list(parts)
}
