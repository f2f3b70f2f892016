package probe

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The vendors with a name of their own in reports.
const (
	dell       = "Dell"
	hpe        = "HPE"
	lenovo     = "Lenovo"
	supermicro = "Supermicro"
	ami        = "AMI"
	nvidia     = "NVIDIA"
	openBMC    = "OpenBMC"
)

// vendors are the words that services begin their vendor's name with.
var vendors = map[string]string{
	"dell": dell, "integrated dell": dell,
	"hpe": hpe, "hp": hpe, "hewlett packard": hpe, "hewlett-packard": hpe, "proliant": hpe,
	"lenovo":     lenovo,
	"supermicro": supermicro, "super micro": supermicro,
	"ami": ami, "american megatrends": ami,
	"nvidia":  nvidia,
	"openbmc": openBMC,
}

// commonName is the vendor's name as reports have it, and whether it is one of
// those. An unknown one stays as it was written.
func commonName(text string) (name string, known bool) {
	text = cleaned(text)
	words := strings.Fields(strings.ToLower(text))
	for n := min(2, len(words)); n > 0; n-- {
		first := strings.Trim(strings.Join(words[:n], " "), ".,")
		if name, known := vendors[first]; known {
			return name, true
		}
	}
	return text, false
}

// vendorOf reads the vendor off a service. The root is believed first: boards with
// AMI's firmware behave as such, whoever made the machine. OpenBMC is what a
// machine of no better known vendor is by its BMC.
func vendorOf(root serviceRoot, s system, m manager, c chassis) string {
	claims := []string{string(root.Vendor)}
	claims = append(claims, slices.Sorted(maps.Keys(root.Oem))...)
	claims = append(claims, string(root.Product), string(s.Manufacturer), string(m.Manufacturer), string(c.Manufacturer))
	for _, claim := range claims {
		if name, known := commonName(claim); known && name != openBMC {
			return name
		}
	}
	if onOpenBMC(m) {
		return openBMC
	}
	for _, claim := range []string{string(root.Vendor), string(s.Manufacturer), string(m.Manufacturer), string(c.Manufacturer)} {
		if name, _ := commonName(claim); name != "" {
			return name
		}
	}
	return ""
}

// onOpenBMC reports whether the BMC's firmware is a kind of OpenBMC.
func onOpenBMC(m manager) bool {
	return bool(m.Oem.OpenBmc) || strings.Contains(strings.ToLower(string(m.Model)), "openbmc")
}

// placeholders are what vendors write for nothing.
var placeholders = []string{"na", "n/a", "none", "null", "unknown", "not specified", "default string", "to be filled by o.e.m."}

// cleaned is a text as people read it, and empty if it stands for nothing.
func cleaned(text string) string {
	text = bounded(text)
	if slices.Contains(placeholders, strings.ToLower(text)) {
		return ""
	}
	return text
}

// serialOf is the serial number that is on the machine's label. Dell's service tag
// is the SKU; its SerialNumber is the board's.
func serialOf(vendor string, s system) string {
	if tag := cleaned(string(s.SKU)); vendor == dell && tag != "" {
		return tag
	}
	return cleaned(string(s.SerialNumber))
}

var (
	// dotted is a version within a text, with the build that OpenBMC hangs on.
	dotted = regexp.MustCompile(`(?:^|[\s_vV(-])([0-9]+(?:\.[0-9]+)+(?:-[0-9]+)?)(?:$|[\s),;+_-]|\.[^0-9])`)
	// generation is how Dell's managers call their machine, as "15G Monolithic".
	generation = regexp.MustCompile(`^([0-9]{2})G\b`)
	// lightsOut is HPE's manager within a text.
	lightsOut = regexp.MustCompile(`(?i)\biLO ?([0-9]+)\b`)
	// clarity is Lenovo's manager.
	clarity = regexp.MustCompile(`(?i)(?:xclarity controller|\bxcc) ?([0-9]*)\b`)
	// drac is Dell's manager where it says so itself.
	drac = regexp.MustCompile(`(?i)\biDRAC ?([0-9]+)\b`)
)

// versionOf is the version within what a manager calls its firmware: "iLO 5 v2.72"
// gives 2.72, "TGBT42S 2.83 2023-07-05" gives 2.83. A form without dots stays.
func versionOf(firmware string) string {
	firmware = cleaned(firmware)
	if found := dotted.FindStringSubmatch(firmware); found != nil {
		return found[1]
	}
	return firmware
}

// managerModelOf is the kind of BMC by its usual name.
func managerModelOf(vendor string, m manager) string {
	model, firmware := cleaned(string(m.Model)), cleaned(string(m.FirmwareVersion))
	switch vendor {
	case dell:
		if found := drac.FindStringSubmatch(model); found != nil {
			return "iDRAC" + found[1]
		}
		if found := generation.FindStringSubmatch(model); found != nil {
			return dracOf(found[1])
		}
	case hpe:
		if found := lightsOut.FindStringSubmatch(model + " " + firmware); found != nil {
			return "iLO " + found[1]
		}
	case lenovo:
		if found := clarity.FindStringSubmatch(model); found != nil {
			return "XCC" + found[1]
		}
	}
	if onOpenBMC(m) {
		return openBMC
	}
	return model
}

// dracOf is the manager of a generation of Dell's machines, a number of two digits.
func dracOf(generation string) string {
	switch {
	case generation <= "11":
		return "iDRAC7"
	case generation <= "13":
		return "iDRAC8"
	case generation <= "16":
		return "iDRAC9"
	default:
		return "iDRAC10"
	}
}
