package network

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// KernelNames matches the names that the kernel or udev give a card: one of them needs no
// address to be found.
const KernelNames = `^((eth|em|ib|usb|wlan)[0-9]+|(en|ib|wl|ww|sl)[abcdopsuvxP][0-9A-Za-z_]*|p[0-9]+p[0-9]+(_[0-9]+)?)$`

var kernelNames = regexp.MustCompile(KernelNames)

// Card is one entry of a map of addresses.
type Card struct {
	// Name is the card's in the document, Address its MAC address.
	Name, Address string
}

// CardsByName makes the map that [Translate] takes. Errors wrap [ErrUnsupported]: a name
// that appears twice would be one card or the other.
func CardsByName(cards []Card) (map[string]string, error) {
	r := &reader{}
	byName := map[string]string{}
	for n, c := range cards {
		if _, twice := byName[c.Name]; twice {
			r.refuse(fmt.Sprintf("interfaces[%d].name of the map of addresses", n), "%s appears twice", c.Name)
		}
		byName[c.Name] = c.Address
	}
	return byName, r.err()
}

// TranslateLogical translates an nmstate document whose names of cards are logical, with
// its map of addresses. A document that says nothing is refused, and so is a map: the
// host would have DHCP, which nobody has to describe.
func (l Live) TranslateLogical(nmstate []byte, cards []Card) (Settings, error) {
	byName, err := CardsByName(cards)
	if err != nil {
		return Settings{}, err
	}
	r := &reader{}
	if len(cards) == 0 {
		r.refuse("interfaces of the map of addresses", "is empty: nobody could tell which host it is for")
	}
	if text := strings.TrimSpace(string(nmstate)); text == "" || text == "null" {
		r.refuse("document", "is empty; leave it out, and the host has DHCP")
	}
	if err := r.err(); err != nil {
		return Settings{}, err
	}
	return l.Translate(nmstate, byName)
}

// meet brings a document and its map of addresses together: the names of its cards
// are logical, and their addresses say which are meant. Where the two contradict
// each other, both are refused.
func (d *document) meet(r *reader, cards map[string]string) {
	owners := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(cards)) {
		mac := strings.ToUpper(cards[name])
		switch {
		case !macAddress.MatchString(mac):
			r.refuse("interfaces", "%s has the address %q in the map of addresses, which is none", name, cards[name])
		case owners[mac] != "":
			r.refuse("interfaces", "%s and %s have the address %s in the map of addresses", owners[mac], name, mac)
		}
		owners[mac] = name
	}
	for _, p := range d.allPorts() {
		if cards[p] != "" && d.find(p) == nil {
			d.add(undeclared(port{path: "interfaces", name: p}))
		}
	}
	for _, i := range d.interfaces {
		i.meet(r, strings.ToUpper(cards[i.name]), owners)
	}
	for _, i := range slices.Clone(d.interfaces) {
		for _, p := range i.members() {
			if d.find(p.name) == nil && !p.checkFunction(r) && !kernelNames.MatchString(p.name) {
				r.refuse(p.path, "%s", noAddress(p.name))
			}
		}
		if base := i.vlan.base; base != "" && !i.gone() && d.find(base) == nil && !kernelNames.MatchString(base) {
			r.refuse(i.path+".vlan.base-iface", "%s", noAddress(base))
		}
	}
}

// checkFunction tells that the name is that of a virtual function. Its card must have the
// kernel's name, by which nmstatectl finds it: that there is an address counts for itself only.
func (p port) checkFunction(r *reader) bool {
	card := functionCard(p.name)
	if card != "" && !kernelNames.MatchString(card) {
		r.refuse(p.path, "nmstatectl finds the card of a virtual function by the kernel's name only, and %s is none that a kernel gives", card)
	}
	return card != ""
}

func (i *iface) meet(r *reader, mac string, owners map[string]string) {
	owner := owners[i.matchMAC]
	switch {
	case mac == "" && i.matchMAC == "" && i.kind == "ethernet" && (port{path: i.path + ".name", name: i.name}).checkFunction(r):
	case mac != "" && i.kind != "ethernet":
		r.refuse(i.path+".type", "%s is a card in the map of addresses", i.name)
	case mac != "" && i.matchMAC != "" && i.matchMAC != mac:
		r.refuse(i.path+".mac-address", "is %s, and the map of addresses says %s", i.matchMAC, mac)
	case mac == "" && i.matchMAC != "" && owner != "":
		r.refuse(i.path+".mac-address", "is that of %s in the map of addresses", owner)
	case mac == "" && i.matchMAC == "" && i.kind == "ethernet" && i.up && !kernelNames.MatchString(i.name):
		r.refuse(i.path+".name", "%s", noAddress(i.name))
	}
	if mac == "" || i.kind != "ethernet" {
		return
	}
	i.matchMAC = mac
	if i.setMAC == mac {
		i.setMAC = "" // it has that one already
	}
}

func noAddress(name string) string {
	return name + " has no address in the map of addresses, and is no name that a kernel gives; add it to the map"
}
