package preflight

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// Input is what the rules look at.
type Input struct {
	Wishes Wishes
	// Report is the BMC's; the zero value knows nothing.
	Report v1alpha1.BMCReport
	// Registry and Settings are the BIOS's; nil is not known.
	Registry *bios.Registry
	Settings *bios.Settings

	state *bios.State // of the settings with the wishes on top; nil is not known
}

// policy is a rule: it returns the wishes that break it.
type policy func(*Input) []v1alpha1.Mismatch

// policies are all rules, in the order in which a host goes its way.
var policies = []policy{
	needsRedfish,      // RAID, settings, updates and secure boot are not there over IPMI
	addressScheme,     // virtual media of some BMCs need a scheme of their own
	badVersion,        // a fault of the BMC's firmware that spoils everything
	bootKind,          // the BMC has what the way of booting needs
	imageScheme,       // it fetches the live image by its scheme
	imageURL,          // it takes the form of the image's address
	imageSize,         // the image is not too large for it
	bootMode,          // legacy needs a machine and a way of booting that have it
	secureBoot,        // secure boot can be switched
	oneKindOfVolumes,  // hardware and software RAID exclude each other
	volumesOffered,    // the BMC makes volumes at all
	volumesValid,      // the parts of a volume go together
	volumeLevels,      // Ironic knows the level, and so does the controller
	volumeDiskCounts,  // the number of disks goes with the level
	volumeSizes,       // no size needs named disks
	volumeDisks,       // named disks exist, can be used, and are of one kind
	volumeControllers, // they are behind one controller, the one that is named
	volumeCapacities,  // they hold the volume
	volumeGroups,      // there are enough disks of a kind where none is named
	softwareVolumes,   // the live image makes one or two volumes, the first of level 1
	settingsOffered,   // the BMC lets settings be changed
	pendingChanges,    // no change of somebody else waits there
	settingNames,      // the settings exist
	settingProtected,  // none is a password, or of the TPM
	settingLocks,      // none is read only, hidden or greyed out, with the other wishes made true
	settingTypes,      // numbers are numbers, texts are texts
	settingValues,     // the values are in the list, within bounds, and meet the expression
	settingForced,     // no other setting decides the value
	settingReadable,   // the value can be read back
	settingBootMode,   // none contradicts spec.bootMode
	firmwareSwitches,  // nobody carries out spec.firmware
	updatesOffered,    // the BMC fetches firmware, and has the licence for it
	updateComponents,  // Ironic knows the component, and the BMC updates it
	updateSchemes,     // the BMC fetches by the scheme
	updateSizes,       // the image is not too large
	updateVersions,    // the image is not too old
}

// mostMismatches bounds a verdict; who has so many mends the first ones first.
const mostMismatches = 64

// Check returns the wishes that cannot work, by object and in the order of the rules.
// A report, registry or settings that are nil are not known.
func Check(w Wishes, report *v1alpha1.BMCReport, registry *bios.Registry, settings *bios.Settings) []v1alpha1.Mismatch {
	return check(policies, w, report, registry, settings)
}

func check(rules []policy, w Wishes, report *v1alpha1.BMCReport, registry *bios.Registry, settings *bios.Settings) []v1alpha1.Mismatch {
	in := &Input{Wishes: w, Registry: registry, Settings: settings}
	if report != nil {
		in.Report = *report
	}
	if registry != nil && settings != nil {
		in.state = registry.Evaluate(settings.Current, in.typedSettings())
	}
	var mismatches []v1alpha1.Mismatch
	for _, rule := range rules {
		mismatches = append(mismatches, rule(in)...)
	}
	slices.SortStableFunc(mismatches, func(a, b v1alpha1.Mismatch) int {
		return cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind))
	})
	if more := len(mismatches) - mostMismatches; more > 0 {
		mismatches = mismatches[:mostMismatches]
		mismatches[mostMismatches-1].Message += fmt.Sprintf(" (And %d more mismatches.)", more)
	}
	return mismatches
}

// The kinds that wishes are in.
const (
	kindHost       = "BareMetalHost"
	kindSettings   = "HostFirmwareSettings"
	kindComponents = "HostFirmwareComponents"
)

// kinds are the kinds in the order of a verdict.
var kinds = []string{kindHost, kindSettings, kindComponents}

// capability is what the report says of a capability.
func (in *Input) capability(name string) v1alpha1.Capability {
	i := slices.IndexFunc(in.Report.Capabilities, func(c v1alpha1.Capability) bool { return c.Name == name })
	if i < 0 {
		return v1alpha1.Capability{Name: name, State: v1alpha1.Unknown}
	}
	return in.Report.Capabilities[i]
}

// refused says why a capability does not work: a quirk says so, the version has a
// fault, or the BMC does not offer it. The reason is for the first of many that a caller knows.
func (in *Input) refused(name, reason string) (because, as string, refused bool) {
	if q := quirks.NotSupported(in.Report.Quirks, name); q != nil {
		return q.Advice, reason, true
	}
	for _, bad := range quirks.BadVersions(in.Report.Quirks) {
		if bad.Capability == name {
			return fmt.Sprintf("The BMC has %s. %s", known(in.Report.BMCVersion), bad.Advice), ReasonBadVersion, true
		}
	}
	if c := in.capability(name); c.State == v1alpha1.No {
		return proof(c), reason, true
	}
	return "", "", false
}

// vendor reports whether the machine is of a vendor.
func (in *Input) vendor(name string) bool { return in.Report.Vendor == name }

// one is a verdict of one mismatch.
func one(kind, field, reason, message string) []v1alpha1.Mismatch {
	return []v1alpha1.Mismatch{mismatch(kind, field, reason, message)}
}

func mismatch(kind, field, reason, message string) v1alpha1.Mismatch {
	return v1alpha1.Mismatch{Kind: kind, Field: field, Reason: reason, Message: shortened(message)}
}
