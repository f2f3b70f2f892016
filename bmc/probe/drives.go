package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// Bounds of what a report lists of each storage.
const (
	mostDrives  = 128
	mostVolumes = 32
)

// drives reads drives: those that somebody has wishes about, then a sample of the
// others. All are listed by their Id.
func (p *probe) drives() {
	var all bays
	if len(p.storages) == 0 {
		if _, said := p.verdicts[Drives]; !said {
			p.set(judgeDrives(p.system.value.Storage.Path, all, p.whole))
		}
		return
	}
	complete := p.whole
	for _, f := range p.storages {
		i := slices.IndexFunc(p.report.Storage, func(s v1alpha1.StorageReport) bool { return s.ID == idOf(f.value.ID, f.path) })
		complete = complete && f.read()
		if !f.read() || i < 0 {
			continue
		}
		list := links[drive](f.value.Drives)
		fill(p, list, p.driveOrder(list), mostDrives, p.volumesWaiting(), nil)
		all.count(list)
		for _, d := range list[:min(len(list), mostDrives)] {
			if report, there := driveReport(d); there {
				p.report.Storage[i].Drives = append(p.report.Storage[i].Drives, report)
			}
		}
	}
	for i := range p.report.Storage {
		p.report.Storage[i].Drives = uniqueDrives(p.report.Storage[i].Drives)
	}
	if all.unread > 0 {
		p.remark(fmt.Sprintf("%d of %d drives were not read, to spare the BMC: they are listed by their Id.", all.unread, all.there+all.empty+all.unread))
	}
	p.set(judgeDrives(p.system.value.Storage.Path, all, complete))
}

// bays are the places for drives: with a drive, or one that cannot be read; without one;
// and not looked at.
type bays struct{ there, empty, unread int }

func (b *bays) count(list []found[drive]) {
	for _, d := range list {
		switch {
		case errors.Is(d.err, errBudget):
			b.unread++
		case d.read() && d.value.Status.absent():
			b.empty++
		default:
			b.there++
		}
	}
}

// mostReserved bounds what drives leave to volumes.
const mostReserved = 2

// volumesWaiting is what drives leave of the budget, so that a few volumes are read.
func (p *probe) volumesWaiting() int {
	n := 0
	for _, of := range p.volumeLists {
		n += len(of.list.value.members)
	}
	return min(n, mostReserved)
}

// driveOrder is the order in which drives are read.
func (p *probe) driveOrder(all []found[drive]) []int {
	wanted := func(i int) int { return boolRank(slices.Contains(p.o.Drives, idOf("", all[i].path))) }
	order := spread(len(all))
	slices.SortStableFunc(order, func(a, b int) int { return wanted(b) - wanted(a) })
	return order
}

// judgeDrives says Yes where a drive was seen: bays of which none was looked at may all be
// empty.
func judgeDrives(listPath string, all bays, complete bool) v1alpha1.Capability {
	switch n := all.there + all.unread; {
	case all.there > 0:
		detail := fmt.Sprintf("%d", n)
		if !complete {
			detail = "at least " + detail
		}
		return yes(Drives, detail, at(listPath, "Drives"))
	case all.unread > 0:
		return unknown(Drives, at(listPath, fmt.Sprintf("%d bays are empty, and %d were not read", all.empty, all.unread)))
	case !complete:
		return unknown(Drives, at(listPath, "none is shown, but the list may not be complete yet"))
	case all.empty > 0:
		return no(Drives, at(listPath, fmt.Sprintf("%d bays, all of them empty", all.empty)))
	}
	return no(Drives, at(listPath, "there is none"))
}

// driveReport is a drive for the report; an empty bay is none.
func driveReport(f found[drive]) (v1alpha1.DriveReport, bool) {
	if !f.read() {
		return v1alpha1.DriveReport{ID: idOf("", f.path)}, true
	}
	d := f.value
	if d.Status.absent() {
		return v1alpha1.DriveReport{}, false
	}
	return v1alpha1.DriveReport{
		ID: idOf(d.ID, f.path), Name: cleaned(string(d.Name)), CapacityBytes: max(0, int64(d.CapacityBytes)),
		MediaType: bounded(string(d.MediaType)), Protocol: bounded(string(d.Protocol)), Health: healthOf(string(d.Status.Health)), Problem: problem(d),
	}, true
}

// problem says why a volume cannot use a drive.
func problem(d drive) string {
	switch raid := strings.ToLower(string(d.Oem.Dell.DellPhysicalDisk.RaidStatus)); {
	case d.Status.Health == "Critical":
		return "in a critical state"
	case bool(d.FailurePredicted):
		return "predicted to fail"
	case raid == "foreign":
		return "foreign"
	case raid == "nonraid":
		return "not in RAID mode"
	case raid == "failed" || raid == "blocked":
		return raid
	case d.Status.State == "Disabled" || d.Status.State == "UnavailableOffline":
		return "disabled"
	}
	return ""
}

func healthOf(text string) v1alpha1.HealthState {
	switch state := v1alpha1.HealthState(text); state {
	case v1alpha1.HealthOK, v1alpha1.HealthWarning, v1alpha1.HealthCritical:
		return state
	case v1alpha1.HealthUnknown:
	}
	return v1alpha1.HealthUnknown
}

// volumes reads the volumes that exist.
func (p *probe) volumes() {
	total, unread := 0, 0
	for _, of := range p.volumeLists {
		i := slices.IndexFunc(p.report.Storage, func(s v1alpha1.StorageReport) bool { return s.ID == of.storage })
		if !of.list.read() || i < 0 {
			continue
		}
		all := links[volume](of.list.value.members)
		total += len(all)
		unread += fill(p, all, inOrder(len(all)), mostVolumes, 0, nil)
		if n := of.list.value.total - len(all); n > 0 {
			p.remark(fmt.Sprintf("Volumes of storage %s that the BMC counts and does not list: %d.", of.storage, n))
		}
		for _, v := range all[:min(len(all), mostVolumes)] {
			if v.value.Status.absent() {
				continue
			}
			p.report.Storage[i].Volumes = append(p.report.Storage[i].Volumes, volumeReport(v))
		}
	}
	if unread > 0 {
		p.remark(fmt.Sprintf("%d of %d volumes were not read, to spare the BMC: they are listed by their Id.", unread, total))
	}
}

func volumeReport(f found[volume]) v1alpha1.VolumeReport {
	v := f.value
	out := v1alpha1.VolumeReport{ID: idOf(v.ID, f.path), RAIDType: firstOf(v.RAIDType, v.VolumeType), CapacityBytes: max(0, int64(v.CapacityBytes))}
	for _, link := range v.Links.Drives {
		if link.Path != "" && len(out.Drives) < mostDrives {
			out.Drives = append(out.Drives, idOf("", link.Path))
		}
	}
	return out
}
