package probe

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// Bounds of what is read of storage.
const (
	mostControllers = 2
	// mostSubsystems bounds how many a report lists, with those that were not read.
	mostSubsystems = 64
	// keptForLater is what storage leaves of the budget to what comes after it, once
	// the first subsystem is known.
	keptForLater = 6
	// forStorage is what the first subsystem takes: the lists of subsystems, controllers
	// and volumes, the subsystem, and a controller.
	forStorage = 5
)

// keepForStorage sees to it that the first subsystem of the system that was found is
// read, whatever the parts before it take: without it nobody can say which wishes for
// RAID cannot come true.
func (p *probe) keepForStorage() {
	if p.system.value.Storage.Path != "" {
		p.budget.kept = forStorage
	}
}

// storage reads the storage subsystems with their controllers, and whether volumes
// can be made. The drives and volumes themselves come later.
func (p *probe) storage() {
	p.budget.kept = 0
	p.set(discovered(p.system))
	listed := getList(p, p.system.value.Storage, false) // each is read by itself, for its drives
	if !listed.read() {
		for _, name := range []string{RAID, VolumeCreation, Drives} {
			p.set(listed.missing(name, "Storage of the system"))
		}
		return
	}
	all := links[storage](listed.value.members)
	p.storages = all[:min(len(all), mostSubsystems)]
	fillBy(p, p.storages, inOrder(min(len(p.storages), 1)), 1, 0, p.expandQuery(), nil)
	n := fillBy(p, p.storages, inOrder(len(p.storages)), len(p.storages), keptForLater, p.expandQuery(), nil)
	total := max(listed.value.total, len(all))
	if n += total - len(p.storages); n > 0 {
		p.remark(fmt.Sprintf("%d of %d storage subsystems were not read, to spare the BMC.", n, total))
	}
	for i, f := range p.storages {
		if f.read() {
			p.report.Storage = append(p.report.Storage, p.subsystem(f, reserve(i)))
		} else if f.err != nil {
			p.report.Storage = append(p.report.Storage, v1alpha1.StorageReport{ID: idOf("", f.path), CreatesVolumes: v1alpha1.Unknown})
			if !errors.Is(f.err, errBudget) {
				p.remark("Storage " + idOf("", f.path) + " cannot be read: " + why(f.err))
			}
		}
	}
	p.report.Storage = uniqueStorage(p.report.Storage)
	p.whole = n == 0 && p.verdicts[StorageDiscovered].State == v1alpha1.Yes
	p.set(judgeRAID(listed.path, p.report.Storage, p.whole), judgeVolumes(listed.path, p.report.Storage, p.whole))
}

// discovered judges whether the list of storage is complete: some BMCs learn it from
// the firmware while the host starts.
func discovered(s found[system]) v1alpha1.Capability {
	for _, hp := range []systemOfHPE{s.value.Oem.Hpe, s.value.Oem.Hp} {
		switch state := string(hp.DeviceDiscoveryComplete.DeviceDiscovery); state {
		case "":
		case "vMainDeviceDiscoveryComplete":
			return yes(StorageDiscovered, "", at(s.path, "DeviceDiscovery is "+state))
		default:
			return no(StorageDiscovered, at(s.path, "DeviceDiscovery is "+state+": switch the host on and wait for the end of its self-test"))
		}
	}
	switch stage := inSelfTest(s.value); {
	case s.value.PowerState.Text != "On":
	case stage != "":
		return unknown(StorageDiscovered, at(s.path, "the host is in its self-test ("+stage+"), and some BMCs know its devices only after it"))
	default:
		return yes(StorageDiscovered, "", at(s.path, "PowerState is On"))
	}
	return unknown(StorageDiscovered, at(s.path, "the host is not on, and some BMCs know its devices only then"))
}

// early are the stages of a boot in which the firmware still looks for devices, in the
// words of the standard and of HPE.
var early = []string{
	"PrimaryProcessorInitializationStarted", "BusInitializationStarted", "MemoryInitializationStarted",
	"SecondaryProcessorInitializationStarted", "PCIResourceConfigStarted", "Reset", "InPost",
}

// inSelfTest is the stage of a host that still looks for its devices; empty for others,
// and for those that say nothing of it.
func inSelfTest(s system) string {
	for _, stage := range []lenient.String{s.BootProgress.Value.LastState, s.Oem.Hpe.PostState, s.Oem.Hp.PostState} {
		if slices.Contains(early, string(stage)) {
			return string(stage)
		}
	}
	return ""
}

// reserve is what a subsystem leaves of the budget, by its place in the list.
func reserve(i int) int {
	if i == 0 {
		return 0
	}
	return keptForLater
}

// subsystem is what one storage offers; it leaves a reserve of the budget.
func (p *probe) subsystem(f found[storage], reserve int) v1alpha1.StorageReport {
	controllers := present(f.value.StorageControllers)
	count, unread := len(controllers), 0
	if f.value.Controllers.Path != "" && !saysRAID(controllers) && p.budget.left() > reserve+1 {
		listed := getList(p, f.value.Controllers, true)
		all := links[controller](listed.value.members)
		fill(p, all, inOrder(min(len(all), 1)), 1, reserve, nil)
		unread = fill(p, all, inOrder(len(all)), p.budget.most(mostControllers)-1, keptForLater, nil) + max(0, listed.value.total-len(all))
		apart := unread
		for _, c := range all {
			switch {
			case c.read() && !c.value.Status.absent():
				controllers, apart = append(controllers, c.value), apart+1
			case c.err != nil && !errors.Is(c.err, errBudget):
				unread, apart = unread+1, apart+1
			}
		}
		count = max(count, apart)
	}
	out := v1alpha1.StorageReport{ID: idOf(f.value.ID, f.path), Controllers: count, RAIDTypes: raidTypes(controllers)}
	if unread > 0 && out.RAIDTypes != nil && len(*out.RAIDTypes) == 0 {
		out.RAIDTypes = nil // one that was not read may have some
	}
	for _, c := range controllers {
		if out.Name = firstOf(c.Model, c.Name); out.Name != "" {
			break
		}
	}
	if out.Name == "" {
		out.Name = firstOf(f.value.Name)
	}
	out.CreatesVolumes = p.createsVolumes(f, out.RAIDTypes, reserve)
	return out
}

// present are the controllers that are there.
func present(all []controller) []controller {
	return slices.DeleteFunc(slices.Clone(all), func(c controller) bool { return c.Status.absent() })
}

func saysRAID(controllers []controller) bool {
	return slices.ContainsFunc(controllers, func(c controller) bool { return c.SupportedRAIDTypes.Set })
}

// raidTypes are those of all controllers; nil if none says any.
func raidTypes(controllers []controller) *[]string {
	if !saysRAID(controllers) {
		return nil
	}
	all := []string{}
	for _, c := range controllers {
		for _, kind := range plain(c.SupportedRAIDTypes.Value) {
			if !slices.Contains(all, kind) {
				all = append(all, kind)
			}
		}
	}
	return &all
}

// createsVolumes reads whether a storage takes new volumes. Those that make none
// have the collection too, so the controller is asked first.
func (p *probe) createsVolumes(f found[storage], types *[]string, reserve int) v1alpha1.CapabilityState {
	switch {
	case f.value.Volumes.Path == "", types != nil && len(*types) == 0:
		return v1alpha1.No
	case p.budget.left() <= reserve:
		return v1alpha1.Unknown
	}
	listed := getList(p, f.value.Volumes, true)
	if listed.err != nil {
		p.remark("The volumes of " + idOf(f.value.ID, f.path) + " are not known: " + why(listed.err))
	}
	p.volumeLists = append(p.volumeLists, volumeList{idOf(f.value.ID, f.path), listed})
	return takesVolumes(listed)
}

// volumeList are the volumes of a storage, by its Id.
type volumeList struct {
	storage string
	list    found[list]
}

func takesVolumes(listed found[list]) v1alpha1.CapabilityState {
	switch {
	case !listed.read():
		return v1alpha1.Unknown
	case listed.value.annotated || strings.Contains(strings.ToUpper(listed.allow), "POST"):
		return v1alpha1.Yes
	case listed.allow == "":
		return v1alpha1.Unknown
	}
	return v1alpha1.No
}

// judgeRAID is the verdict over all storage. What is not there yet is not "none".
func judgeRAID(listPath string, all []v1alpha1.StorageReport, complete bool) v1alpha1.Capability {
	var kinds []string
	said := true
	for _, s := range all {
		if s.RAIDTypes == nil {
			said = false
			continue
		}
		kinds = append(kinds, *s.RAIDTypes...)
	}
	switch {
	case len(kinds) > 0:
		return yes(RAID, strings.Join(distinct(kinds), ", "), at(listPath, "SupportedRAIDTypes"))
	case !said:
		return unknown(RAID, at(listPath, "a controller does not say SupportedRAIDTypes"))
	case !complete:
		return unknown(RAID, at(listPath, "no controller is shown, but the list may not be complete yet"))
	}
	return no(RAID, at(listPath, "no controller has RAID types"))
}

func judgeVolumes(listPath string, all []v1alpha1.StorageReport, complete bool) v1alpha1.Capability {
	var able []string
	sure := complete
	for _, s := range all {
		switch s.CreatesVolumes {
		case v1alpha1.Yes:
			able = append(able, s.ID)
		case v1alpha1.Unknown:
			sure = false
		case v1alpha1.No:
		}
	}
	switch {
	case len(able) > 0:
		return yes(VolumeCreation, strings.Join(able, ", "), at(listPath, "Allow of Volumes"))
	case !sure:
		return unknown(VolumeCreation, at(listPath, "no storage shows that it takes new volumes, and one does not say"))
	}
	return no(VolumeCreation, at(listPath, "no storage takes new volumes"))
}

// idOf is a resource's Id; by convention it is the end of its path.
func idOf(id lenient.String, resource string) string {
	if id != "" {
		return bounded(string(id))
	}
	return bounded(path.Base(strings.TrimRight(resource, "/")))
}

// firstOf is the first text that says something.
func firstOf(values ...lenient.String) string {
	for _, value := range values {
		if text := cleaned(string(value)); text != "" {
			return bounded(text)
		}
	}
	return ""
}

// uniqueStorage keeps the first of those with one Id, which the report's lists ask for.
func uniqueStorage(all []v1alpha1.StorageReport) []v1alpha1.StorageReport {
	return unique(all, func(s v1alpha1.StorageReport) string { return s.ID })
}

func uniqueDrives(all []v1alpha1.DriveReport) []v1alpha1.DriveReport {
	return unique(all, func(d v1alpha1.DriveReport) string { return d.ID })
}

func unique[T any](all []T, key func(T) string) []T {
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(one T) bool {
		k := key(one)
		double := seen[k]
		seen[k] = true
		return double
	})
}
