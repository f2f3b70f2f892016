package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// Capabilities of the report that are no wish's own.
const (
	capabilityRAID              = "RAID"
	capabilityStorageDiscovered = "StorageDiscovered"
	capabilityUpdateLicence     = "UpdateLicence"
)

// mostDrives is where a report's list of drives may have been cut.
const mostDrives = 128

// storageComplete reports whether the report has all controllers and disks: only
// then is what it does not have not there.
func (in *Input) storageComplete() bool {
	if in.capability(capabilityStorageDiscovered).State != v1alpha1.Yes || len(in.Report.Storage) == 0 {
		return false
	}
	return !slices.ContainsFunc(in.Report.Storage, cutShort)
}

// cutShort reports whether a controller was not read, or has more disks than a report lists.
func cutShort(s v1alpha1.StorageReport) bool {
	unread := s.Controllers == 0 && len(s.Drives) == 0 && s.CreatesVolumes == v1alpha1.Unknown
	return unread || len(s.Drives) >= mostDrives
}

// skipped reports whether Ironic passes a controller over.
func skipped(s *v1alpha1.StorageReport) bool { return s.RAIDTypes != nil && len(*s.RAIDTypes) == 0 }

func driveOf(s *v1alpha1.StorageReport, id string) *v1alpha1.DriveReport {
	i := slices.IndexFunc(s.Drives, func(d v1alpha1.DriveReport) bool { return d.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Drives[i]
}

// chosen is the controller that Ironic takes for named disks: the first that has one
// of them and makes volumes. nil is none that is known.
func (in *Input) chosen(v *Volume) *v1alpha1.StorageReport {
	for i := range in.Report.Storage {
		s := &in.Report.Storage[i]
		if !skipped(s) && slices.ContainsFunc(v.Disks, func(id string) bool { return driveOf(s, id) != nil }) {
			return s
		}
	}
	return nil
}

// candidates are the controllers that a volume can come to lie on.
func (in *Input) candidates(v *Volume) []*v1alpha1.StorageReport {
	if len(v.Disks) > 0 {
		if s := in.chosen(v); s != nil {
			return []*v1alpha1.StorageReport{s}
		}
		return nil
	}
	var list []*v1alpha1.StorageReport
	for i := range in.Report.Storage {
		if s := &in.Report.Storage[i]; !skipped(s) {
			list = append(list, s)
		}
	}
	return list
}

// named is a disk that a volume names, with its controller; drive is nil if no
// controller has it.
type named struct {
	id      string
	storage *v1alpha1.StorageReport
	drive   *v1alpha1.DriveReport
}

// namedDisks looks the disks of a volume up, first at the controller that Ironic takes.
func (in *Input) namedDisks(v *Volume) []named {
	chosen := in.chosen(v)
	var disks []named
	for _, id := range v.Disks {
		n := named{id: id}
		if chosen != nil {
			n.storage, n.drive = chosen, driveOf(chosen, id)
		}
		for i := range in.Report.Storage {
			if s := &in.Report.Storage[i]; n.drive == nil && driveOf(s, id) != nil {
				n.storage, n.drive = s, driveOf(s, id)
			}
		}
		disks = append(disks, n)
	}
	return disks
}

// volumeDisks: named disks exist, can be used, and are of one kind.
func volumeDisks(in *Input) []v1alpha1.Mismatch {
	return eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		var mismatches []v1alpha1.Mismatch
		field := at + ".physicalDisks"
		kinds := map[string]string{}
		for _, n := range in.namedDisks(v) {
			if n.drive == nil {
				if in.storageComplete() {
					mismatches = append(mismatches, mismatch(kindHost, field, ReasonRAIDDiskUnknown,
						fmt.Sprintf("No controller has a disk %s: write ids of %s.", quoted(n.id), in.diskIDs(v.Controller))))
				}
				continue
			}
			if problem := unusable(n.drive); problem != "" {
				mismatches = append(mismatches, mismatch(kindHost, field, ReasonRAIDDiskUnusable,
					fmt.Sprintf("The disk %s is %s: fix that, or name another one.", quoted(n.id), problem)))
			}
			if d := n.drive; d.MediaType != "" && d.Protocol != "" {
				kinds[d.Protocol+" "+d.MediaType] = n.id
			}
		}
		if len(kinds) > 1 {
			var seen []string
			for kind, id := range kinds {
				seen = append(seen, fmt.Sprintf("%s (%s)", id, kind))
			}
			slices.Sort(seen)
			mismatches = append(mismatches, mismatch(kindHost, field, ReasonRAIDDisksMixed,
				fmt.Sprintf("A volume has disks of one kind, and these are of %d: %s. Name disks of one kind.", len(kinds), list(seen))))
		}
		return mismatches
	})
}

// unusable says why a volume cannot use a disk; empty if it can, or if that is not known.
func unusable(d *v1alpha1.DriveReport) string {
	if d.Problem != "" {
		return cut(d.Problem, longestValue)
	}
	if d.Health == v1alpha1.HealthCritical {
		return "in a critical state"
	}
	return ""
}

// diskIDs are the ids that a wish can choose from.
func (in *Input) diskIDs(controller string) string {
	var ids []string
	for i := range in.Report.Storage {
		s := &in.Report.Storage[i]
		if skipped(s) || in.controllerKnown(controller) && !called(s, controller) {
			continue
		}
		for _, d := range s.Drives {
			if unusable(&d) == "" {
				ids = append(ids, d.ID)
			}
		}
	}
	if len(ids) == 0 {
		return "disks behind a controller that makes volumes; there is none"
	}
	return list(ids)
}

// called reports whether a controller is meant by a name: its id, or what it is.
func called(s *v1alpha1.StorageReport, name string) bool {
	return name != "" && (strings.EqualFold(s.ID, name) || strings.EqualFold(s.Name, name))
}

func (in *Input) controllerKnown(name string) bool {
	return slices.ContainsFunc(in.Report.Storage, func(s v1alpha1.StorageReport) bool { return called(&s, name) })
}

// volumeControllers: Ironic does not compare the controller, and sends disks of
// several in one request, which the BMC refuses.
func volumeControllers(in *Input) []v1alpha1.Mismatch {
	return eachVolume(in, func(v *Volume, at string) []v1alpha1.Mismatch {
		if v.Controller != "" && !in.controllerKnown(v.Controller) && in.storageComplete() {
			var ids []string
			for _, s := range in.Report.Storage {
				ids = append(ids, s.ID)
			}
			return one(kindHost, at+".controller", ReasonRAIDController, fmt.Sprintf("There is no controller %s: write one of %s.", quoted(v.Controller), list(ids)))
		}
		behind := map[string][]string{}
		var order []string
		for _, n := range in.namedDisks(v) {
			if n.drive == nil {
				continue
			}
			if behind[n.storage.ID] == nil {
				order = append(order, n.storage.ID)
			}
			behind[n.storage.ID] = append(behind[n.storage.ID], n.id)
			if skipped(n.storage) {
				return one(kindHost, at+".physicalDisks", ReasonRAIDController,
					fmt.Sprintf("The disk %s is behind %s, which makes no volumes: name disks of %s.", quoted(n.id), n.storage.ID, in.diskIDs("")))
			}
		}
		if len(order) > 1 {
			return one(kindHost, at+".physicalDisks", ReasonRAIDController, fmt.Sprintf(
				"The disks are behind %d controllers: %s has %s, %s has %s. Name disks of one.", len(order), order[0], list(behind[order[0]]), order[1], list(behind[order[1]])))
		}
		if chosen := in.chosen(v); chosen != nil && v.Controller != "" && in.controllerKnown(v.Controller) && !called(chosen, v.Controller) {
			return one(kindHost, at+".controller", ReasonRAIDController, fmt.Sprintf(
				"The controller is %s, and Ironic finds the disks %s behind %s: write %s, or name other disks.", quoted(v.Controller), list(v.Disks), chosen.ID, chosen.ID))
		}
		return nil
	})
}
