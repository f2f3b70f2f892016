package verify

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/preflight"
)

// Volume is a volume that is there. Zero parts are not known.
type Volume struct {
	// Level is the level in the words of the spec ("1+0"), of Redfish ("RAID10"), or
	// of older services ("SpannedMirrors").
	Level string
	Bytes int64
	// Drives are the ids of its drives.
	Drives []string
}

const (
	gib = 1 << 30
	// rawDevice is what some services call a single disk among their volumes.
	rawDevice = "rawdevice"
)

// IronicVolumes reads a node's raid_config; nil if it has none.
func IronicVolumes(raidConfig map[string]any) []Volume {
	disks, _ := raidConfig["logical_disks"].([]any)
	var volumes []Volume
	for _, one := range disks {
		disk, ok := one.(map[string]any)
		if !ok {
			continue
		}
		v := Volume{}
		v.Level, _ = disk["raid_level"].(string)
		switch size := disk["size_gb"].(type) {
		case float64:
			if size > 0 && size < math.MaxInt64/gib {
				v.Bytes = int64(size * gib)
			}
		case int:
			if size > 0 && size < math.MaxInt64/gib {
				v.Bytes = int64(size) * gib
			}
		}
		physical, _ := disk["physical_disks"].([]any)
		for _, id := range physical {
			if id, ok := id.(string); ok {
				v.Drives = append(v.Drives, id)
			}
		}
		volumes = append(volumes, v)
	}
	return volumes
}

// volumes compares the volumes. Who shows none, is off, or has a list with gaps says nothing.
func volumes(want []preflight.Volume, ironic []Volume, report *v1alpha1.BMCReport) []Drift {
	if want == nil {
		return nil
	}
	var drifts []Drift
	if len(ironic) > 0 {
		drifts = append(drifts, unmatched(want, ironic, ByIronic)...)
	}
	if seen, complete := volumesOf(report); complete {
		drifts = append(drifts, unmatched(want, seen, ByBMC)...)
	}
	return drifts
}

// volumesOf are the report's volumes; complete says that they are all.
func volumesOf(report *v1alpha1.BMCReport) (volumes []Volume, complete bool) {
	if report == nil || len(report.Storage) == 0 {
		return nil, false
	}
	for _, c := range report.Capabilities {
		complete = complete || c.Name == "StorageDiscovered" && c.State == v1alpha1.Yes
	}
	listed := false
	for _, s := range report.Storage {
		unread := s.Controllers == 0 && len(s.Drives) == 0 && s.CreatesVolumes == v1alpha1.Unknown
		complete = complete && !unread
		listed = listed || s.CreatesVolumes != v1alpha1.No && (s.RAIDTypes == nil || len(*s.RAIDTypes) > 0)
		for _, v := range s.Volumes {
			if s.RAIDTypes != nil && len(*s.RAIDTypes) == 0 || squeezed(v.RAIDType) == rawDevice {
				continue // a disk that is shown as it is
			}
			volumes = append(volumes, Volume{Level: v.RAIDType, Bytes: v.CapacityBytes, Drives: v.Drives})
		}
	}
	return volumes, complete && listed
}

// unmatched pairs wishes with volumes; what is left of either is drift. The choosy
// wishes, those with disks and sizes, choose first.
func unmatched(want []preflight.Volume, seen []Volume, by string) []Drift {
	order := make([]int, len(want))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return choosiness(want[b]) - choosiness(want[a]) })
	left := slices.Clone(seen)
	var drifts []Drift
	for _, i := range order {
		if at := slices.IndexFunc(left, func(v Volume) bool { return fits(want[i], v) }); at >= 0 {
			left = slices.Delete(left, at, at+1)
			continue
		}
		drifts = append(drifts, Drift{
			Kind: kindHost, Field: fmt.Sprintf("spec.raid.hardwareRAIDVolumes[%d]", i), Wanted: wish(want[i]), Seen: shown(seen), By: by,
		})
	}
	left = slices.DeleteFunc(left, func(v Volume) bool { return v.Level == "" }) // nothing is known of it
	if len(drifts) == 0 && len(left) > 0 {
		drifts = append(drifts, Drift{
			Kind: kindHost, Field: "spec.raid.hardwareRAIDVolumes", Wanted: strconv.Itoa(len(want)) + " in all", Seen: "besides: " + shown(left), By: by,
		})
	}
	return drifts
}

func choosiness(v preflight.Volume) int {
	n := 0
	if len(v.Disks) > 0 {
		n += 2
	}
	if v.SizeGiB > 0 {
		n++
	}
	return n
}

// fits reports whether a volume can be the one that was wished for.
func fits(want preflight.Volume, v Volume) bool {
	if kinds := levelsOf(v.Level); len(kinds) > 0 && !slices.Contains(kinds, want.Level) {
		return false
	}
	// Controllers round sizes and keep room for themselves.
	if size := float64(want.SizeGiB) * gib; want.SizeGiB > 0 && v.Bytes > 0 && math.Abs(float64(v.Bytes)-size) > max(size/20, gib) {
		return false
	}
	if len(v.Drives) == 0 {
		return true
	}
	if len(want.Disks) > 0 {
		return sameSet(want.Disks, v.Drives)
	}
	return want.Count == 0 || want.Count == len(v.Drives)
}

func sameSet(a, b []string) bool {
	first, second := slices.Clone(a), slices.Clone(b)
	slices.Sort(first)
	slices.Sort(second)
	return slices.Equal(first, second)
}

// spellings are the levels behind the words of Redfish, old and new.
var spellings = map[string][]string{
	"raid0": {"0"}, "raid1": {"1"}, "raid5": {"5"}, "raid6": {"6"}, "raid10": {"1+0"}, "raid50": {"5+0"}, "raid60": {"6+0"},
	"nonredundant": {"0"}, "mirrored": {"1"}, "stripedwithparity": {"5", "6"}, "spannedmirrors": {"1+0"},
	"spannedstripeswithparity": {"5+0", "6+0"}, "10": {"1+0"}, "50": {"5+0"}, "60": {"6+0"},
}

// levelsOf are the levels that a word can mean; none is not known.
func levelsOf(text string) []string {
	text = squeezed(text)
	if text == "" {
		return nil
	}
	if levels, ok := spellings[text]; ok {
		return levels
	}
	return []string{text}
}

func wish(v preflight.Volume) string {
	text := "level " + v.Level
	if v.SizeGiB > 0 {
		text += fmt.Sprintf(", %d GiB", v.SizeGiB)
	}
	if len(v.Disks) > 0 {
		text += ", on " + strings.Join(v.Disks, " ")
	} else if v.Count > 0 {
		text += fmt.Sprintf(", on %d disks", v.Count)
	}
	return text
}

// shown names volumes, the first of them where there are many.
func shown(volumes []Volume) string {
	const most = 4
	if len(volumes) == 0 {
		return "no volume"
	}
	var parts []string
	for i, v := range volumes {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(volumes)-most))
			break
		}
		text := v.Level
		if text == "" {
			text = "a volume of unknown level"
		}
		if v.Bytes > 0 {
			text += fmt.Sprintf(" of %d GiB", v.Bytes/gib)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}
