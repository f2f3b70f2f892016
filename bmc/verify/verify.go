package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/preflight"
)

// Wanted is what was asked for.
type Wanted struct {
	// Settings are BIOS settings, int or string.
	Settings map[string]any
	// Volumes are those of hardware RAID; nil asks for none and forbids none.
	Volumes []preflight.Volume
	// Versions are the versions that components (bmc, bios, nic:ID) shall have, as far
	// as they are known. Where none is known, Ironic's is taken: it has read it after the update.
	Versions map[string]string
}

// Ironic is what Ironic reports. Nil parts are not known.
type Ironic struct {
	Settings map[string]string
	Volumes  []Volume
	// Versions are the current ones by component.
	Versions map[string]string
}

// BMC is what the BMC reports. Nil parts are not known.
type BMC struct {
	Report   *v1alpha1.BMCReport
	Settings *bios.Settings
	Registry *bios.Registry
}

// Who shows a drift.
const (
	ByIronic = "Ironic"
	ByBMC    = "the BMC"
	ByBoth   = "Ironic and the BMC"
)

// Drift is something that is not as it was asked for.
type Drift struct {
	// Kind and Field name the wish, as in v1alpha1.Mismatch.
	Kind, Field string
	// Wanted and Seen are what was asked for and what is there.
	Wanted, Seen string
	// By is who shows it.
	By string
}

// String says the drift as a sentence.
func (d Drift) String() string {
	return fmt.Sprintf("%s of %s is to be %s, and %s shows %s.", d.Field, d.Kind, shortened(d.Wanted), d.By, shortened(d.Seen))
}

// longest bounds what is shown of a value: it comes out of a BMC.
const longest = 120

func shortened(text string) string {
	runes := []rune(lenient.Printable(text))
	if len(runes) <= longest {
		return string(runes)
	}
	return string(runes[:longest-1]) + "…"
}

// Kinds of the objects that hold the wishes.
const (
	kindHost       = "BareMetalHost"
	kindSettings   = "HostFirmwareSettings"
	kindComponents = "HostFirmwareComponents"
)

// Compare returns what is not as it was asked for, by field. Where Ironic and the BMC
// show the same, that is one drift.
func Compare(want Wanted, ironic Ironic, bmc BMC) []Drift {
	var all []Drift
	all = append(all, settings(want.Settings, ironic.Settings, bmc)...)
	all = append(all, volumes(want.Volumes, ironic.Volumes, bmc.Report)...)
	all = append(all, versions(want.Versions, ironic.Versions, bmc.Report)...)
	slices.SortStableFunc(all, func(a, b Drift) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Field, b.Field), strings.Compare(a.By, b.By))
	})
	return merged(all)
}

// merged joins what both show alike.
func merged(all []Drift) []Drift {
	var out []Drift
	for _, d := range all {
		if n := len(out); n > 0 && d.By != out[n-1].By {
			both := d
			both.By = out[n-1].By
			if both == out[n-1] {
				out[n-1].By = ByBoth
				continue
			}
		}
		out = append(out, d)
	}
	return out
}
