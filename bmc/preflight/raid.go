package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// level is what Ironic makes of a RAID level.
type level struct {
	redfish string // the type in a controller's list
	spans   int    // 0: half of the disks
	minimum int
	maximum int // 0: any
	parity  int // disks of each span that hold no data
}

// levels are those that Ironic knows. The API lets more through.
var levels = map[string]level{
	"0":   {redfish: "RAID0", spans: 1, minimum: 1},
	"1":   {redfish: "RAID1", spans: 1, minimum: 2, maximum: 2, parity: 1},
	"5":   {redfish: "RAID5", spans: 1, minimum: 3, parity: 1},
	"6":   {redfish: "RAID6", spans: 1, minimum: 4, parity: 2},
	"1+0": {redfish: "RAID10", spans: 0, minimum: 4, parity: 1},
	"5+0": {redfish: "RAID50", spans: 2, minimum: 6, parity: 1},
	"6+0": {redfish: "RAID60", spans: 2, minimum: 8, parity: 2},
}

var levelNames = []string{"0", "1", "5", "6", "1+0", "5+0", "6+0"}

// takes reports whether a volume of the level can have a number of disks.
func (l level) takes(disks int) bool {
	even := l.spans == 1 || disks%2 == 0
	return disks >= l.minimum && (l.maximum == 0 || disks <= l.maximum) && even
}

// data is how many disks of a number hold data.
func (l level) data(disks int) int {
	spans := l.spans
	if spans == 0 {
		spans = disks / 2
	}
	return disks - spans*l.parity
}

// counts says in words how many disks a level takes.
func (l level) counts() string {
	switch {
	case l.maximum == l.minimum:
		return fmt.Sprintf("exactly %d", l.minimum)
	case l.spans != 1:
		return fmt.Sprintf("an even number of at least %d", l.minimum)
	default:
		return fmt.Sprintf("at least %d", l.minimum)
	}
}

// disks is how many disks are asked for; 0 is as few as possible.
func (v *Volume) disks() int {
	if len(v.Disks) > 0 {
		return len(v.Disks)
	}
	return v.Count
}

// eachVolume calls check with each volume and its field.
func eachVolume(in *Input, check func(v *Volume, at string) []v1alpha1.Mismatch) []v1alpha1.Mismatch {
	var mismatches []v1alpha1.Mismatch
	for i := range in.Wishes.Volumes {
		mismatches = append(mismatches, check(&in.Wishes.Volumes[i], fmt.Sprintf("%s[%d]", fieldHardware, i))...)
	}
	return mismatches
}

// oneKindOfVolumes: a host has hardware or software RAID.
func oneKindOfVolumes(in *Input) []v1alpha1.Mismatch {
	if len(in.Wishes.Volumes) == 0 || len(in.Wishes.SoftwareVolumes) == 0 {
		return nil
	}
	return one(kindHost, fieldRAID, ReasonRAIDInvalid, "Both hardware and software RAID are asked for: write hardwareRAIDVolumes or softwareRAIDVolumes.")
}

// volumesOffered: the BMC has to make volumes.
func volumesOffered(in *Input) []v1alpha1.Mismatch {
	if len(in.Wishes.Volumes) == 0 || !in.Wishes.Address.Redfish {
		return nil
	}
	because, reason, refused := in.refused(quirks.VolumeCreation, ReasonVolumes)
	if !refused && in.capability(capabilityRAID).State == v1alpha1.No {
		because, reason, refused = proof(in.capability(capabilityRAID)), ReasonVolumes, true
	}
	if !refused {
		return nil
	}
	return one(kindHost, fieldHardware, reason, fmt.Sprintf(
		"%s of hardware RAID asked for, and none can be made. %s Write softwareRAIDVolumes, or leave hardwareRAIDVolumes out to keep what is there.",
		plural(len(in.Wishes.Volumes), "volume")+is(len(in.Wishes.Volumes)), because))
}

func is(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// volumesValid: what the API's schema cannot say.
func volumesValid(in *Input) []v1alpha1.Mismatch {
	var names []string
	return eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		again := v.Name != "" && slices.Contains(names, v.Name)
		names = append(names, v.Name)
		switch {
		case again:
			return one(kindHost, at+".name", ReasonRAIDInvalid, fmt.Sprintf("The name %s is used twice: give each volume its own.", quoted(v.Name)))
		case len(v.Disks) > 0 && v.Controller == "":
			return one(kindHost, at+".controller", ReasonRAIDInvalid, "physicalDisks are named without their controller: name it.")
		case len(v.Disks) > 0 && v.Count != 0 && v.Count != len(v.Disks):
			return one(kindHost, at+".numberOfPhysicalDisks", ReasonRAIDInvalid,
				fmt.Sprintf("It is %d, and %d physicalDisks are named: leave it out.", v.Count, len(v.Disks)))
		case duplicate(v.Disks) != "":
			return one(kindHost, at+".physicalDisks", ReasonRAIDInvalid, fmt.Sprintf("The disk %s is named twice: name each once.", quoted(duplicate(v.Disks))))
		}
		return nil
	})
}

func duplicate(values []string) string {
	for i, v := range values {
		if slices.Contains(values[:i], v) {
			return v
		}
	}
	return ""
}

// volumeLevels: Ironic has to know the level, and the controller too.
func volumeLevels(in *Input) []v1alpha1.Mismatch {
	return eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		l, known := levels[v.Level]
		if !known {
			return one(kindHost, at+".level", ReasonRAIDLevel, fmt.Sprintf("Ironic knows no level %s: write one of %s.", quoted(v.Level), strings.Join(levelNames, ", ")))
		}
		var offered []string
		for _, s := range in.wanted(v) {
			types := supported(s)
			if types == nil || hasType(*types, l.redfish) {
				return nil
			}
			for _, t := range *types {
				if !slices.Contains(offered, t) {
					offered = append(offered, t)
				}
			}
		}
		if len(offered) == 0 || len(v.Disks) == 0 && !in.controllerKnown(v.Controller) && !in.levelsKnown() {
			return nil
		}
		return one(kindHost, at+".level", ReasonRAIDLevel, fmt.Sprintf(
			"Level %s (%s) is asked for, and the controller offers %s: write %s.", v.Level, l.redfish, list(offered), levelsOf(offered)))
	})
}

// wanted are the controllers that a volume may lie on: the one that is named, also where
// Ironic would take another one; else those that Ironic can choose.
func (in *Input) wanted(v *Volume) []*v1alpha1.StorageReport {
	if len(v.Disks) == 0 {
		for i := range in.Report.Storage {
			if s := &in.Report.Storage[i]; !skipped(s) && called(s, v.Controller) {
				return []*v1alpha1.StorageReport{s}
			}
		}
	}
	return in.candidates(v)
}

// levelsKnown reports whether the report has all controllers that make volumes. A BMC
// that shows what is behind a RAID controller while the machine is off keeps what it has
// learnt, of all of them; one that has just been switched on may show more in a minute.
func (in *Input) levelsKnown() bool {
	if in.storageComplete() {
		return true
	}
	if in.Report.PowerState != "Off" || in.capability(capabilityStorageDiscovered).State != v1alpha1.Unknown || slices.ContainsFunc(in.Report.Storage, cutShort) {
		return false
	}
	return slices.ContainsFunc(in.Report.Storage, func(s v1alpha1.StorageReport) bool {
		seen := slices.ContainsFunc(s.Drives, func(d v1alpha1.DriveReport) bool { return capacity(&d) > 0 })
		return seen && s.RAIDTypes != nil && len(*s.RAIDTypes) > 0
	})
}

// supported are the types of a controller; nil is not said.
func supported(s *v1alpha1.StorageReport) *[]string {
	if strings.Contains(s.Name, fixedMirror) {
		return &[]string{"RAID1"}
	}
	return s.RAIDTypes
}

// fixedMirror is HPE's boot device, which is a mirror whatever it says.
const fixedMirror = "NS204i"

func hasType(types []string, want string) bool {
	return slices.ContainsFunc(types, func(t string) bool { return strings.EqualFold(t, want) })
}

// levelsOf are the levels that are spelled by types.
func levelsOf(types []string) string {
	var names []string
	for _, name := range levelNames {
		if hasType(types, levels[name].redfish) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no volume, as Ironic makes none of these"
	}
	return strings.Join(names, " or ")
}

// volumeDiskCounts: the number of disks has to go with the level.
func volumeDiskCounts(in *Input) []v1alpha1.Mismatch {
	return eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		l, known := levels[v.Level]
		n := v.disks()
		if !known || n == 0 || l.takes(n) {
			return nil
		}
		field := at + ".numberOfPhysicalDisks"
		if len(v.Disks) > 0 {
			field = at + ".physicalDisks"
		}
		return one(kindHost, field, ReasonRAIDDiskCount, fmt.Sprintf("%s asked for, and level %s takes %s: change the number or the level.", plural(n, "disk")+is(n), v.Level, l.counts()))
	})
}

// volumeSizes: Ironic finds the largest size for named disks only.
func volumeSizes(in *Input) []v1alpha1.Mismatch {
	return eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		if v.SizeGiB != 0 || len(v.Disks) > 0 {
			return nil
		}
		return one(kindHost, at+".sizeGibibytes", ReasonRAIDSize,
			"As large as possible needs named disks, else Ironic fails after the old volumes are gone: set sizeGibibytes, or name controller and physicalDisks.")
	})
}

// softwareVolumes: what Ironic's live image makes.
func softwareVolumes(in *Input) []v1alpha1.Mismatch {
	volumes := in.Wishes.SoftwareVolumes
	var mismatches []v1alpha1.Mismatch
	add := func(field, message string) {
		mismatches = append(mismatches, mismatch(kindHost, fieldSoftware+field, ReasonSoftwareRAID, message))
	}
	if len(volumes) > 2 {
		add("", fmt.Sprintf("%d volumes are asked for: at most 2 can be made.", len(volumes)))
	}
	open := 0
	for i, v := range volumes {
		at := fmt.Sprintf("[%d]", i)
		switch {
		case i == 0 && v.Level != "1":
			add(at+".level", fmt.Sprintf("Level %s is asked for the first volume, from which the machine boots: write 1.", quoted(v.Level)))
		case !slices.Contains([]string{"0", "1", "1+0"}, v.Level):
			add(at+".level", fmt.Sprintf("Level %s is asked for: write 0, 1 or 1+0.", quoted(v.Level)))
		}
		if v.Disks == 1 {
			add(at+".physicalDisks", "One disk is named: name two or more, or none to take all.")
		}
		if v.SizeGiB == 0 && v.Disks == 0 {
			open++
		}
	}
	if open > 1 {
		add("[0].sizeGibibytes", "Two volumes on the same disks are both as large as possible: set the size of the first.")
	}
	return mismatches
}
