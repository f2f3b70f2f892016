package network

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// section is one section of a keyfile, in the order in which keys were set.
type section struct {
	name string
	keys [][2]string
}

func (s *section) set(key string, value any) {
	s.keys = append(s.keys, [2]string{key, fmt.Sprint(value)})
}

// setNumber sets the key unless the number is absent.
func (s *section) setNumber(key string, value int) {
	if value != absent {
		s.set(key, value)
	}
}

// connections is the namespace of the keyfiles' UUIDs, so that they are stable.
var connections = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://ironflow.io/network"))

// keyfile renders the connection of one interface.
func (d *document) keyfile(i *iface, p plan) []byte {
	sections := []*section{
		d.connection(i), i.base(), d.options(i), {name: "ethtool", keys: i.ethtool}, {name: "sriov", keys: i.sriov},
	}
	if i.controller != "" && i.portType != "vrf" {
		sections = append(sections, &section{name: i.portType + "-port", keys: i.portOptions})
	} else {
		sections = append(sections, d.address(i, false, p), d.address(i, true, p))
	}
	var out strings.Builder
	for _, s := range sections {
		if s == nil || len(s.keys) == 0 {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString("[" + s.name + "]\n")
		for _, kv := range s.keys {
			out.WriteString(kv[0] + "=" + escape(kv[1]) + "\n")
		}
	}
	return []byte(out.String())
}

// escape follows GLib's key files, where a backslash and leading space mean something.
func escape(value string) string {
	value = strings.ReplaceAll(value, `\`, `\\`)
	if strings.HasPrefix(value, " ") {
		value = `\s` + value[1:]
	}
	return value
}

// mptcpDisabled is NetworkManager's word for no Multipath TCP (NMMptcpFlags).
const mptcpDisabled = 1

func (d *document) connection(i *iface) *section {
	s := &section{name: "connection"}
	id := i.profile
	if id == "" {
		id = i.name
	}
	s.set("id", id)
	s.set("uuid", i.uuid())
	s.set("type", i.kind)
	// One that is found by its address may have any name.
	if i.matchMAC == "" {
		s.set("interface-name", i.deviceName())
	}
	s.set("autoconnect", i.up && !i.held)
	s.set("autoconnect-priority", 1)
	if i.controller != "" {
		s.set("master", d.deviceOf(i.controller))
		s.set("slave-type", i.portType)
	}
	if i.kind == "bond" || i.kind == "bridge" {
		s.set("autoconnect-slaves", 1)
	}
	s.setNumber("lldp", i.lldp)
	if i.noMPTCP {
		s.set("mptcp-flags", mptcpDisabled)
	}
	return s
}

// deviceName is the kernel's name of the interface.
func (i *iface) deviceName() string {
	if i.device != "" {
		return i.device
	}
	return i.name
}

// deviceOf returns the kernel's name of an interface that we name ourselves.
func (d *document) deviceOf(name string) string {
	if i := d.find(name); i != nil {
		return i.deviceName()
	}
	return name
}

// base holds what every link has; NetworkManager keeps it in the ethernet section
// whatever the type, but for InfiniBand.
func (i *iface) base() *section {
	if i.kind == "infiniband" {
		return nil
	}
	s := &section{name: "ethernet"}
	if i.matchMAC != "" {
		s.set("mac-address", i.matchMAC)
	}
	if i.setMAC != "" {
		s.set("cloned-mac-address", i.setMAC)
	}
	s.setNumber("mtu", i.mtu)
	s.keys = append(s.keys, i.link...)
	return s
}

// options holds what the type has.
func (d *document) options(i *iface) *section {
	s := &section{name: i.kind}
	switch i.kind {
	case "vlan":
		s.set("flags", i.vlan.flags)
		s.set("id", i.vlan.id)
		s.set("parent", d.parent(i.vlan.base))
		if i.vlan.protocol == "802.1ad" {
			s.set("protocol", i.vlan.protocol)
		}
		s.keys = append(s.keys, i.vlan.maps...)
	case "bond":
		s.set("mode", i.bond.mode)
		s.keys = append(s.keys, i.bond.options...)
	case "bridge":
		s.keys = append(s.keys, i.bridge.options...)
	case "vrf":
		s.set("table", i.vrf.table)
	case "infiniband":
		s.setNumber("mtu", i.mtu)
		s.keys = append(s.keys, i.infiniband...)
	default:
		return nil
	}
	return s
}

// parent names the interface below a VLAN: by name, or by its connection when
// the name is not known beforehand.
func (d *document) parent(name string) string {
	if base := d.find(name); base != nil && base.matchMAC != "" {
		return base.uuid().String()
	}
	return d.deviceOf(name)
}

func (i *iface) uuid() uuid.UUID { return uuid.NewSHA1(connections, []byte(i.kind+" "+i.name)) }
