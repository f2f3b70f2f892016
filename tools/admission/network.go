package admission

import "github.com/ironflow/ironflow/imagecustomization/network"

// networkRules are about the map of addresses of an NMStateConfig: what contradicts it in
// the document would configure another card, or none.
func networkRules() []Rule {
	entries, interfaces := list("spec.interfaces"), list("spec.config.interfaces")
	const (
		name     = `i.?name.orValue("")`
		kind     = `i.?type.orValue("ethernet")`
		byMAC    = `i.?identifier.orValue("") == "mac-address"`
		off      = `i.?state.orValue("up") in ["down", "absent"]`
		inOthers = `c.macAddress.lowerAscii() != i[?"mac-address"].orValue("").lowerAscii()`
	)
	mapped := entries + ".exists(c, c.name == " + name + ")"
	every := func(holds string) string { return interfaces + ".all(i, " + holds + ")" }
	return []Rule{
		{
			Name:    "one entry for a card",
			Holds:   entries + ".all(a, " + entries + ".filter(b, b.name == a.name || b.macAddress.lowerAscii() == a.macAddress.lowerAscii()).size() == 1)",
			Message: "spec.interfaces has a name or an address twice: give every card one entry",
		},
		{
			Name:    "cards have addresses",
			Holds:   every(either(kind+` != "ethernet"`, byMAC, off, mapped, matches(name, network.KernelNames))),
			Message: "a card in spec.config.interfaces is not in spec.interfaces, and its name is none that a kernel gives: add it to spec.interfaces with its address",
			Rest:    "ports and bases that only their bond, bridge or VLAN names",
		},
		{
			Name: "cards are cards", Holds: every(either(kind+` == "ethernet"`, "!"+mapped)),
			Message: "an interface in spec.config.interfaces that is no ethernet card has the name of one in spec.interfaces: choose another name",
		},
		{
			Name:    "one address",
			Holds:   every(either("!("+byMAC+")", "!"+entries+".exists(c, c.name == "+name+" && "+inOthers+")")),
			Message: "a card in spec.config.interfaces has another mac-address than in spec.interfaces: correct one of them",
		},
	}
}
