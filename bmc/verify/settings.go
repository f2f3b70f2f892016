package verify

import (
	"strings"

	"github.com/ironflow/ironflow/bmc/bios"
)

// settings compares BIOS settings. Passwords are never shown, so that nothing can be
// said of them.
func settings(want map[string]any, ironic map[string]string, bmc BMC) []Drift {
	var drifts []Drift
	for name, wish := range want {
		a := bmc.Registry.Attribute(name)
		if a != nil && (a.Type == bios.Password || a.WriteOnly) {
			continue
		}
		d := Drift{Kind: kindSettings, Field: "spec.settings." + name, Wanted: bios.Text(wish)}
		if seen, there := ironic[name]; there && !alike(a, wish, seen) {
			d.Seen, d.By = seen, ByIronic
			drifts = append(drifts, d)
		}
		if bmc.Settings == nil {
			continue
		}
		if seen, there := bmc.Settings.Current[name]; there && seen != nil && !alike(a, wish, seen) {
			d.Seen, d.By = bios.Text(seen), ByBMC
			if pending, waits := bmc.Settings.Pending[name]; waits {
				d.Seen += " until a restart makes it " + bios.Text(pending)
			}
			drifts = append(drifts, d)
		}
	}
	return drifts
}

// alike reports whether two values are the same setting, however they are spelled.
func alike(a *bios.Attribute, wish, seen any) bool {
	if bios.Same(wish, seen) {
		return true
	}
	first, second := canonical(a, wish), canonical(a, seen)
	if first == second {
		return true
	}
	on, known := switched(first)
	alsoOn, alsoKnown := switched(second)
	return known && alsoKnown && on == alsoOn && (a == nil || a.Type != bios.Enumeration || len(a.Names()) <= 2)
}

// canonical is a value as the registry names it, without case and blanks.
func canonical(a *bios.Attribute, v any) string {
	text := squeezed(bios.Text(v))
	if a == nil {
		return text
	}
	for _, value := range a.Values {
		if text == squeezed(value.Name) || text == squeezed(value.DisplayName) {
			if value.Name != "" {
				return squeezed(value.Name)
			}
			return squeezed(value.DisplayName)
		}
	}
	return text
}

func squeezed(text string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(text))
}

// switched reads the words that vendors have for on and off.
func switched(text string) (on, known bool) {
	switch text {
	case "enabled", "enable", "on", "true", "1", "yes":
		return true, true
	case "disabled", "disable", "off", "false", "0", "no":
		return false, true
	}
	return false, false
}
