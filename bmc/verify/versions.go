package verify

import (
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// versions compares the versions of components. Ironic's is what others are held
// against where nobody knows the wanted one.
func versions(want, ironic map[string]string, report *v1alpha1.BMCReport) []Drift {
	components := maps.Clone(ironic)
	if components == nil {
		components = map[string]string{}
	}
	maps.Copy(components, want)
	var drifts []Drift
	for _, name := range slices.Sorted(maps.Keys(components)) {
		d := Drift{Kind: kindComponents, Field: "status.components." + name, Wanted: components[name]}
		if d.Wanted == "" {
			continue
		}
		if seen := ironic[name]; seen != "" && !sameVersion(d.Wanted, seen) {
			d.Seen, d.By = seen, ByIronic
			drifts = append(drifts, d)
		}
		if seen := versionOf(report, name); seen != "" && !sameVersion(d.Wanted, seen) {
			d.Seen, d.By = seen, ByBMC
			drifts = append(drifts, d)
		}
	}
	return drifts
}

// versionOf is a component's version in the report; empty is not known.
func versionOf(report *v1alpha1.BMCReport, component string) string {
	switch {
	case report == nil:
		return ""
	case component == "bmc":
		return report.BMCVersion
	case component == "bios":
		return report.BIOSVersion
	}
	id, _ := strings.CutPrefix(component, "nic:")
	if id == "" {
		return ""
	}
	version := ""
	for _, f := range report.Firmware {
		if !strings.Contains(squeezed(f.ID+" "+f.Name), squeezed(id)) || f.Version == "" {
			continue
		}
		if version != "" && version != f.Version {
			return "" // several parts of the card
		}
		version = f.Version
	}
	return version
}

// sameVersion compares dotted numbers where both have them, else the texts; a text
// may have a date or a build beside the version.
func sameVersion(a, b string) bool {
	x, first := quirks.ParseVersion(a)
	y, second := quirks.ParseVersion(b)
	if first && second {
		return x.Compare(y) == 0
	}
	a, b = squeezed(a), squeezed(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}
