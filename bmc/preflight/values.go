package preflight

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
)

// settingValues: the value is one that the attribute takes.
func settingValues(in *Input) []v1alpha1.Mismatch {
	return eachSetting(in, func(name string, wish any, a *bios.Attribute) []v1alpha1.Mismatch {
		if a == nil {
			return nil
		}
		problem := ""
		switch a.Type {
		case bios.Enumeration:
			problem = wrongChoice(a, wish)
		case bios.Boolean:
			if _, is := a.Typed(wish).(bool); !is && !isNumber(wish) {
				problem = `the switch takes "true" and "false"`
			}
		case bios.Integer:
			lower, upper := a.Lower, a.Upper
			if in.state != nil {
				lower, upper = in.state.Bounds(name)
			}
			problem = wrongNumber(a, wish, lower, upper)
		case bios.String:
			problem = wrongText(a, wish)
		case bios.Password, bios.Unknown:
		}
		if problem == "" {
			return nil
		}
		return one(kindSettings, settingField(name), ReasonSettingValue, fmt.Sprintf("%s is asked for %s, and %s.", quoted(wish), quoted(name), problem))
	})
}

func isNumber(wish any) bool {
	_, is := wish.(int)
	return is
}

// wrongChoice compares literally, as Ironic does.
func wrongChoice(a *bios.Attribute, wish any) string {
	names := a.Names()
	if len(names) == 0 {
		return ""
	}
	text := bios.Text(wish)
	if slices.Contains(names, text) {
		return ""
	}
	if near := a.Nearest(text); near != "" {
		return "the machine writes it as " + quoted(near)
	}
	return "it takes one of " + list(names)
}

func wrongNumber(a *bios.Attribute, wish any, lower, upper *float64) string {
	n, is := bios.Number(wish)
	if !is || !whole(wish) {
		return "" // said by settingTypes
	}
	from, to := "", ""
	if lower != nil {
		from = " from " + digits(*lower)
	}
	if upper != nil {
		to = " to " + digits(*upper)
	}
	if lower != nil && n < *lower || upper != nil && n > *upper {
		return "it takes numbers" + from + to
	}
	base := 0.0
	if lower != nil {
		base = *lower
	}
	if a.Step != nil && *a.Step >= 1 && math.Mod(n-base, *a.Step) != 0 {
		return "it takes numbers" + from + to + " in steps of " + digits(*a.Step)
	}
	return ""
}

func digits(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func wrongText(a *bios.Attribute, wish any) string {
	text, is := wish.(string)
	if !is {
		return ""
	}
	length := utf8.RuneCountInString(text)
	switch {
	case a.MinLength != nil && length < *a.MinLength:
		return fmt.Sprintf("it takes texts of at least %s", plural(*a.MinLength, "character"))
	case a.MaxLength != nil && length > *a.MaxLength:
		return fmt.Sprintf("it takes texts of at most %s", plural(*a.MaxLength, "character"))
	case !a.Fits(text):
		return "it takes texts that meet the expression " + quoted(a.Expression)
	}
	return ""
}

// settingForced: a dependency gives the setting another value while another one has its.
func settingForced(in *Input) []v1alpha1.Mismatch {
	if in.state == nil {
		return nil
	}
	return eachSetting(in, func(name string, wish any, a *bios.Attribute) []v1alpha1.Mismatch {
		if a == nil {
			return nil
		}
		if what, _ := in.state.Locked(name); what != "" {
			return nil // said already
		}
		forced, because, ok := in.state.Forced(name)
		if !ok || bios.Same(forced, a.Typed(wish)) {
			return nil
		}
		return one(kindSettings, settingField(name), ReasonSettingDependency, fmt.Sprintf(
			"%s is asked for %s, which is %s while %s: change one of the two.", quoted(wish), quoted(name), quoted(bios.Text(forced)), cut(because, 4*longestValue)))
	})
}

// bootModeSettings are the names of the boot mode, without what vendors add to them.
var bootModeSettings = []string{"bootmode", "bootmodeselect", "bootmodes_systembootmode", "systembootmode"}

// settingBootMode: the boot mode and secure boot are spec.bootMode's.
func settingBootMode(in *Input) []v1alpha1.Mismatch {
	mode := in.Wishes.BootMode
	if mode == "" {
		mode = "UEFI"
	}
	return eachSetting(in, func(name string, wish any, _ *bios.Attribute) []v1alpha1.Mismatch {
		lower, value := strings.ToLower(name), strings.ToLower(bios.Text(wish))
		var asks string
		switch {
		case isBootMode(lower) && (strings.Contains(value, "legacy") || value == "bios"):
			asks = legacy
		case isBootMode(lower) && strings.Contains(value, "uefi") && mode == legacy:
			asks = "UEFI"
		case lower == "secureboot" && strings.HasPrefix(value, "disab") && mode == uefiSecureBoot:
			asks = "UEFI without secure boot"
		default:
			return nil
		}
		if asks == mode {
			return nil
		}
		return one(kindSettings, settingField(name), ReasonSettingBootMode, fmt.Sprintf(
			"%s is asked for %s, which is %s, and spec.bootMode of the host is %s: remove the setting, as Ironic sets the boot mode.", quoted(wish), quoted(name), asks, mode))
	})
}

func isBootMode(lower string) bool {
	for _, name := range bootModeSettings {
		if lower == name || strings.HasPrefix(lower, name+"_0") { // Supermicro adds a number
			return true
		}
	}
	return false
}

// firmwareSwitch is a member of spec.firmware, with the names that vendors have for it.
type firmwareSwitch struct {
	field    string
	settings []string
}

var firmwareSwitchNames = []firmwareSwitch{
	{"simultaneousMultithreadingEnabled", []string{"LogicalProc", "ProcHyperthreading", "Processors_HyperThreading", "HyperThreading", "Hyper-Threading"}},
	{"sriovEnabled", []string{"SriovGlobalEnable", "Sriov", "DevicesandIOPorts_SRIOV", "SR-IOVSupport"}},
	{"virtualizationEnabled", []string{"ProcVirtualization", "Processors_IntelVirtualizationTechnology", "Processors_SVMMode", "IntelVirtualizationTechnology"}},
}

// firmwareSwitches: no driver of Ironic carries out spec.firmware. A wish that the machine
// fulfils already is none.
func firmwareSwitches(in *Input) []v1alpha1.Mismatch {
	var mismatches []v1alpha1.Mismatch
	for _, s := range firmwareSwitchNames {
		on, wished := in.Wishes.Firmware[s.field]
		if !wished {
			continue
		}
		for _, name := range s.settings {
			current, there := in.current(name)
			if !there {
				continue
			}
			if is, known := switchedOn(current); known && is != on && in.Wishes.Settings[name] == nil {
				mismatches = append(mismatches, mismatch(kindHost, "spec.firmware."+s.field, ReasonFirmwareSwitch, fmt.Sprintf(
					"%v is asked for, %s is %s, and nobody carries out spec.firmware: remove it, and write the setting %s into HostFirmwareSettings.",
					on, name, quoted(bios.Text(current)), name)))
			}
			break
		}
	}
	return mismatches
}

// switchedOn reads a value that is a switch by its words.
func switchedOn(v any) (on, known bool) {
	switch strings.ToLower(bios.Text(v)) {
	case "enabled", "enable", "on", "true":
		return true, true
	case "disabled", "disable", "off", "false":
		return false, true
	}
	return false, false
}
