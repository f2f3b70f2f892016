package preflight

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// settingField is the path of a setting.
func settingField(name string) string { return fieldSettings + "." + name }

// settingNamesSorted are the names of the wishes, in order.
func (in *Input) settingNamesSorted() []string {
	return slices.Sorted(maps.Keys(in.Wishes.Settings))
}

// eachSetting calls check with each wish that the machine does not fulfil already;
// a is nil where the registry does not describe it.
func eachSetting(in *Input, check func(name string, wish any, a *bios.Attribute) []v1alpha1.Mismatch) []v1alpha1.Mismatch {
	if !in.Wishes.Address.Redfish {
		return nil
	}
	var mismatches []v1alpha1.Mismatch
	for _, name := range in.settingNamesSorted() {
		wish := in.Wishes.Settings[name]
		if current, there := in.current(name); there && current != nil && bios.Text(current) == bios.Text(wish) {
			continue
		}
		mismatches = append(mismatches, check(name, wish, in.Registry.Attribute(name))...)
	}
	return mismatches
}

// current is a setting's value now.
func (in *Input) current(name string) (any, bool) {
	if in.Settings == nil {
		return nil, false
	}
	v, there := in.Settings.Current[name]
	return v, there
}

// typedSettings are the wishes in the types of their attributes.
func (in *Input) typedSettings() map[string]any {
	typed := map[string]any{}
	for name, wish := range in.Wishes.Settings {
		if a := in.Registry.Attribute(name); a != nil {
			typed[name] = a.Typed(wish)
		}
	}
	return typed
}

// settingsOffered: the BMC has to let settings be changed.
func settingsOffered(in *Input) []v1alpha1.Mismatch {
	if len(in.Wishes.Settings) == 0 || !in.Wishes.Address.Redfish {
		return nil
	}
	because, reason, refused := in.refused(quirks.BIOSSettings, ReasonSettings)
	if !refused {
		return nil
	}
	return one(kindSettings, fieldSettings, reason,
		plural(len(in.Wishes.Settings), "BIOS setting")+is(len(in.Wishes.Settings))+" asked for, and they cannot be changed through this BMC. "+because+" Remove them, and set them by hand.")
}

// settingNames: the machine has the settings.
func settingNames(in *Input) []v1alpha1.Mismatch {
	if in.Settings == nil || len(in.Settings.Current) == 0 {
		return nil
	}
	return eachSetting(in, func(name string, _ any, _ *bios.Attribute) []v1alpha1.Mismatch {
		if _, there := in.current(name); there {
			return nil
		}
		instead := "write one of the names in status.settings"
		if near := in.nearestSetting(name); near != "" {
			instead = "write " + near
		}
		return one(kindSettings, settingField(name), ReasonSettingUnknown, fmt.Sprintf("This machine has no setting %s: %s, or remove it.", quoted(name), instead))
	})
}

// nearestSetting is a name that differs by case, or by the suffix that some vendors add.
func (in *Input) nearestSetting(name string) string {
	lower := strings.ToLower(name)
	var near string
	for _, candidate := range in.Settings.Names() {
		have := strings.ToLower(candidate)
		if have == lower {
			return cut(candidate, longestValue)
		}
		if near == "" && (strings.HasPrefix(have, lower+"_") || strings.HasPrefix(lower, have+"_")) {
			near = cut(candidate, longestValue)
		}
	}
	return near
}

// ofTheTPM matches names of the TPM's settings, and not "FastPMode".
var ofTheTPM = regexp.MustCompile(`Tpm|TPM|(?:^|[^A-Za-z])tpm`)

// settingProtected: passwords and the TPM are changed by hand, with a person's presence.
func settingProtected(in *Input) []v1alpha1.Mismatch {
	return eachSetting(in, func(name string, _ any, a *bios.Attribute) []v1alpha1.Mismatch {
		var what string
		switch {
		case a != nil && a.Type == bios.Password, strings.Contains(strings.ToLower(name), "password"):
			what = "is a password, and those are never shown or compared"
		case ofTheTPM.MatchString(name):
			what = "is one of the TPM: it may ask for a person at the machine, and may lose keys"
		default:
			return nil
		}
		return one(kindSettings, settingField(name), ReasonSettingProtected, fmt.Sprintf("The setting %s %s: change it by hand, and remove it here.", quoted(name), what))
	})
}

// settingLocks: read only, immutable, greyed out or hidden settings are refused. What
// the other wishes open or lock counts.
func settingLocks(in *Input) []v1alpha1.Mismatch {
	return eachSetting(in, func(name string, wish any, a *bios.Attribute) []v1alpha1.Mismatch {
		if a == nil {
			return nil
		}
		what, because := "", ""
		switch {
		case in.state != nil:
			what, because = in.state.Locked(name)
		case a.ReadOnly:
			what = "read only"
		case a.Immutable:
			what = "immutable"
		}
		if what == "" {
			return nil
		}
		message := fmt.Sprintf("%s is asked for %s, which is %s", quoted(wish), quoted(name), what)
		if because == "" {
			return one(kindSettings, settingField(name), ReasonSettingLocked, message+": remove it.")
		}
		return one(kindSettings, settingField(name), ReasonSettingLocked, message+" while "+cut(because, 4*longestValue)+": change that as well, or remove this one.")
	})
}

// settingTypes: Ironic sends numbers as numbers and all else as texts, and the BMC
// takes the type of the present value.
func settingTypes(in *Input) []v1alpha1.Mismatch {
	return eachSetting(in, func(name string, wish any, a *bios.Attribute) []v1alpha1.Mismatch {
		_, number := wish.(int)
		field, kind := settingField(name), bios.Unknown
		if a != nil {
			kind = a.Type
		}
		current, there := in.current(name)
		_, numeric := current.(json.Number)
		switch {
		case number && kind == bios.Boolean:
			return one(kindSettings, field, ReasonSettingType, fmt.Sprintf("The number %v is asked for %s, which is a switch: write \"true\" or \"false\".", wish, quoted(name)))
		case number && (kind == bios.Enumeration || kind == bios.String):
			return one(kindSettings, field, ReasonSettingType, fmt.Sprintf("The number %v is asked for %s, which is a text: write it in quotes, as \"%v\".", wish, quoted(name), wish))
		case !number && kind == bios.Integer && !whole(wish):
			return one(kindSettings, field, ReasonSettingType, fmt.Sprintf("%s is asked for %s, which is a number: write one.", quoted(wish), quoted(name)))
		case kind != bios.Unknown || !there || current == nil:
			return nil
		case number && !numeric:
			return one(kindSettings, field, ReasonSettingType, fmt.Sprintf("The number %v is asked for %s, which has the text %s now: write it in quotes.", wish, quoted(name), quoted(bios.Text(current))))
		case !number && numeric:
			return one(kindSettings, field, ReasonSettingType, fmt.Sprintf("The text %s is asked for %s, which has the number %s now: write a number without quotes.", quoted(wish), quoted(name), quoted(bios.Text(current))))
		}
		return nil
	})
}

// whole reports whether a wish is a whole number, or a text that is one.
func whole(wish any) bool {
	_, number := (&bios.Attribute{Type: bios.Integer}).Typed(wish).(json.Number)
	return number
}

// settingReadable: Ironic confirms a setting by reading it back.
func settingReadable(in *Input) []v1alpha1.Mismatch {
	return eachSetting(in, func(name string, _ any, a *bios.Attribute) []v1alpha1.Mismatch {
		if a == nil || !a.WriteOnly || a.Type == bios.Password {
			return nil
		}
		return one(kindSettings, settingField(name), ReasonSettingUnreadable,
			fmt.Sprintf("The setting %s cannot be read back, so that its change would count as failed: set it by hand, and remove it here.", quoted(name)))
	})
}
