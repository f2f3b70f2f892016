package preflight

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// pendingChanges: what others left at the BMC blocks our changes, or is applied with
// them. On Dell a job blocks all kinds of changes, elsewhere settings block settings.
func pendingChanges(in *Input) []v1alpha1.Mismatch {
	w := in.Wishes
	if !w.Address.Redfish {
		return nil
	}
	changes := slices.ContainsFunc(in.settingNamesSorted(), func(name string) bool {
		current, there := in.current(name)
		return !there || !bios.Same(current, w.Settings[name])
	})
	const next = " Restart the machine, or clear them at the BMC, then ask for a new probe."
	if foreign := in.foreignSettings(); changes && len(foreign) > 0 {
		return one(kindSettings, fieldSettings, ReasonPending, "BIOS settings of somebody else wait for a restart and would be applied with these: "+list(foreign)+"."+next)
	}
	if n := in.pendingCount(); changes && n > 0 {
		wait := " wait"
		if n == 1 {
			wait = " waits"
		}
		return one(kindSettings, fieldSettings, ReasonPending, plural(n, "BIOS setting")+" of somebody else"+wait+" for a restart, and would be applied with these."+next)
	}
	jobs := in.Report.PendingJobs
	if !in.vendor("Dell") || len(jobs) == 0 {
		return nil
	}
	message := "Jobs wait at the BMC, which takes no other change until they are done: " + list(jobs) + "." + next
	switch {
	case w.Volumes != nil:
		return one(kindHost, fieldHardware, ReasonPending, message)
	case changes:
		return one(kindSettings, fieldSettings, ReasonPending, message)
	case len(w.Updates) > 0:
		return one(kindComponents, fieldUpdates, ReasonPending, message)
	}
	return nil
}

// foreignSettings are the settings that wait and are none of the wishes.
func (in *Input) foreignSettings() []string {
	if in.Settings == nil {
		return nil
	}
	var names []string
	for name, v := range in.Settings.Pending {
		if wish, wished := in.Wishes.Settings[name]; !wished || !bios.Same(v, wish) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// pendingCount is the report's number, where the settings themselves are not known.
func (in *Input) pendingCount() int {
	if in.Settings != nil && in.Settings.Pending != nil || in.Report.BIOS == nil {
		return 0
	}
	return in.Report.BIOS.Pending
}

// updatesOffered: the BMC fetches images itself, and has the licence for it.
func updatesOffered(in *Input) []v1alpha1.Mismatch {
	if len(in.Wishes.Updates) == 0 || !in.Wishes.Address.Redfish {
		return nil
	}
	asked := plural(len(in.Wishes.Updates), "update") + is(len(in.Wishes.Updates)) + " asked for, and "
	if because, reason, refused := in.refused(quirks.SimpleUpdate, ReasonUpdates); refused {
		return one(kindComponents, fieldUpdates, reason, asked+"the BMC does not fetch firmware, so that Ironic cannot update it. "+because+" Remove the updates, and use the vendor's tool.")
	}
	if c := in.capability(capabilityUpdateLicence); c.State == v1alpha1.No {
		return one(kindComponents, fieldUpdates, ReasonUpdateLicence, asked+"the licence for it is missing. "+proof(c)+" Install it, or remove the updates.")
	}
	return nil
}

// eachUpdate calls check with each update and its field.
func eachUpdate(in *Input, check func(u *Update, at string) []v1alpha1.Mismatch) []v1alpha1.Mismatch {
	var mismatches []v1alpha1.Mismatch
	for i := range in.Wishes.Updates {
		mismatches = append(mismatches, check(&in.Wishes.Updates[i], fmt.Sprintf("%s[%d]", fieldUpdates, i))...)
	}
	return mismatches
}

// inventoryWords are the parts of names by which an inventory calls a component.
var inventoryWords = map[string][]string{
	"bios": {"bios", "system rom", "uefi"},
	"bmc":  {"bmc", "idrac", "ilo", "xcc", "integrated dell remote access", "lights-out"},
}

// entries are those of the inventory that are a component's.
func (in *Input) entries(component string) []v1alpha1.FirmwareReport {
	var entries []v1alpha1.FirmwareReport
	for _, f := range in.Report.Firmware {
		name := strings.ToLower(f.ID + " " + f.Name)
		if slices.ContainsFunc(inventoryWords[component], func(w string) bool { return strings.Contains(name, w) }) {
			entries = append(entries, f)
		}
	}
	return entries
}

// updateComponents: Ironic knows three kinds of components, and the BMC says of its
// own which it updates.
func updateComponents(in *Input) []v1alpha1.Mismatch {
	return eachUpdate(in, func(u *Update, at string) []v1alpha1.Mismatch {
		id, nic := strings.CutPrefix(u.Component, "nic:")
		if u.Component != "bmc" && u.Component != "bios" && (!nic || id == "") {
			return one(kindComponents, at+".component", ReasonUpdateComponent, fmt.Sprintf("The component %s is not one: write bmc, bios or nic:ID.", quoted(u.Component)))
		}
		entries := in.entries(u.Component)
		fixed := func(f v1alpha1.FirmwareReport) bool { return f.Updateable != nil && !*f.Updateable }
		if len(entries) == 0 || !all(entries, fixed) {
			return nil
		}
		return one(kindComponents, at+".component", ReasonUpdates, fmt.Sprintf("An update of %s is asked for, and the BMC says that %s cannot be updated: remove it, and use the vendor's tool.", u.Component, list(idsOf(entries))))
	})
}

func all[T any](list []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(list, func(t T) bool { return !holds(t) })
}

func idsOf(entries []v1alpha1.FirmwareReport) []string {
	var ids []string
	for _, f := range entries {
		ids = append(ids, f.ID)
	}
	return ids
}

// ofIronic are the schemes that Ironic turns into another address before the BMC sees it.
var ofIronic = []string{"file", "swift"}

// swiftMended is the first iDRAC that fetches from Swift.
const swiftMended = "6.00.00.00"

// updateSchemes: the BMC fetches by the scheme.
func updateSchemes(in *Input) []v1alpha1.Mismatch {
	return eachUpdate(in, func(u *Update, at string) []v1alpha1.Mismatch {
		address, err := url.Parse(u.URL)
		if err != nil || address.Scheme == "" || address.Host == "" && address.Scheme != "file" {
			return one(kindComponents, at+".url", ReasonUpdateScheme, "The address of the image cannot be read: write it as https://HOST/PATH.")
		}
		scheme := strings.ToLower(address.Scheme)
		if scheme == "swift" && in.vendor("Dell") && quirks.Older(in.Report.BMCVersion, swiftMended) {
			return one(kindComponents, at+".url", ReasonUpdateScheme, fmt.Sprintf("The image is in Swift, which an iDRAC before %s cannot read; it has %s: serve it by https.", swiftMended, known(in.Report.BMCVersion)))
		}
		allowed := in.Report.UpdateProtocols
		if len(allowed) == 0 || slices.Contains(ofIronic, scheme) || slices.ContainsFunc(allowed, func(s string) bool { return strings.EqualFold(s, scheme) }) {
			return nil
		}
		return one(kindComponents, at+".url", ReasonUpdateScheme, fmt.Sprintf("The image is served by %s, and the BMC fetches firmware by %s: serve it so.", scheme, list(allowed)))
	})
}

// updateSizes: the BMC has room for the image.
func updateSizes(in *Input) []v1alpha1.Mismatch {
	most := in.Report.MaxImageBytes
	return eachUpdate(in, func(u *Update, at string) []v1alpha1.Mismatch {
		if most <= 0 || u.Bytes <= most {
			return nil
		}
		has, takes := amounts(u.Bytes, most)
		return one(kindComponents, at+".url", ReasonUpdateSize, fmt.Sprintf("The image has %s, and the BMC takes %s: use an image of %s alone.", has, takes, u.Component))
	})
}

// updateVersions: the BMC lets no image in that is older than it says.
func updateVersions(in *Input) []v1alpha1.Mismatch {
	return eachUpdate(in, func(u *Update, at string) []v1alpha1.Mismatch {
		for _, f := range in.entries(u.Component) {
			if f.LowestSupportedVersion != "" && quirks.Older(u.Version, f.LowestSupportedVersion) {
				return one(kindComponents, at+".url", ReasonUpdateVersion, fmt.Sprintf("The image is version %s by its name, and %s takes %s or later: use such an image.", cut(u.Version, longestValue), f.ID, cut(f.LowestSupportedVersion, longestValue)))
			}
		}
		return nil
	})
}
