// Package network turns a host's network settings into NetworkManager keyfiles:
// nmstate documents, for the subset that live images need, and ready keyfiles.
//
// What cannot be translated is refused with the path of the field; nothing that
// the user wrote is dropped silently. The same document gives the same files.
// The main function is [Keyfiles].
package network

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

const suffix = ".nmconnection"

// Keyfiles translates an nmstate document (YAML or JSON) into NetworkManager
// keyfiles by file name. An empty document gives none. Errors wrap
// [ErrUnsupported] and name every field at fault.
func Keyfiles(nmstate []byte) (map[string][]byte, error) {
	r := &reader{}
	d := parse(r, nmstate)
	if err := r.err(); err != nil {
		return nil, err
	}
	return d.keyfiles(r)
}

// Raw returns the nmstate document of a network data Secret as it is, for a live
// system that applies it with nmstatectl; ready keyfiles come with it. known is
// false when the Secret describes the network in another way.
func Raw(data map[string][]byte) (document string, keyfiles map[string][]byte, known bool) {
	raw, known := data["nmstate"]
	if !known {
		return "", nil, false
	}
	keyfiles = map[string][]byte{}
	for name, content := range data {
		if strings.HasSuffix(name, suffix) {
			keyfiles[name] = content
		}
	}
	return string(raw), keyfiles, true
}

// keyfiles checks the document as a whole and renders it.
func (d document) keyfiles(r *reader) (map[string][]byte, error) {
	d.join(r)
	holders := d.resolvers(r)
	for _, rt := range d.routes {
		d.checkRoute(r, rt)
	}
	for _, rl := range d.rules {
		if d.ruleHolder(rl) == nil {
			r.refuse(rl.path, "no interface has addresses of this family")
		}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, i := range d.interfaces {
		if i.up {
			out[i.name+suffix] = d.keyfile(i, holders)
		}
	}
	return out, nil
}

// FromSecret reads the network data Secret of a host: key "nmstate" holds an
// nmstate document, or else "networkData" (also "network_data.json") OpenStack's
// network data; keys that end in ".nmconnection" hold ready keyfiles, which win
// over a translated one of the same name. Other keys are refused.
func FromSecret(data map[string][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	known := false
	if raw, ok := data["nmstate"]; ok {
		known = true
		var err error
		if out, err = Keyfiles(raw); err != nil {
			return nil, fmt.Errorf("nmstate: %w", err)
		}
	}
	for _, key := range networkDataKeys {
		raw, ok := data[key]
		if !ok {
			continue
		}
		if known {
			return nil, fmt.Errorf("%w: key %q besides another description of the network; keep one", ErrUnsupported, key)
		}
		known = true
		var err error
		if out, err = FromNetworkData(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		content := data[name]
		switch {
		case slices.Contains(networkDataKeys, name):
		case strings.HasSuffix(name, suffix):
			known = true
			if !bytes.Contains(content, []byte("[connection]")) {
				return nil, fmt.Errorf("%w: %s: no [connection] section, this is not a keyfile", ErrUnsupported, name)
			}
			out[name] = content
		case name != "nmstate":
			return nil, fmt.Errorf("%w: key %q; there are %q, %q and NAME%s", ErrUnsupported, name, "nmstate", networkDataKeys[0], suffix)
		}
	}
	if !known {
		return nil, fmt.Errorf("%w: neither key %q, nor %q, nor a NAME%s", ErrUnsupported, "nmstate", networkDataKeys[0], suffix)
	}
	return out, nil
}

// join tells ports of their bond or bridge and checks what they may have.
func (d document) join(r *reader) {
	seen := map[string]bool{}
	for _, i := range d.interfaces {
		if seen[i.name] {
			r.refuse(i.path, "interface %s appears twice", i.name)
		}
		seen[i.name] = true
		for _, name := range i.bond.ports {
			d.port(r, i, name, nil)
		}
		for _, p := range i.bridge.ports {
			d.port(r, i, p.name, p.options)
		}
		if i.kind == "vlan" && i.vlan.base == i.name {
			r.refuse(i.path+".vlan.base-iface", "is the interface itself")
		}
	}
}

func (d document) port(r *reader, controller *iface, name string, options [][2]string) {
	p := d.find(name)
	switch {
	case p == nil:
		r.refuse(controller.path, "port %s is not among the interfaces; add it with its type", name)
	case p == controller:
		r.refuse(controller.path, "%s is a port of itself", name)
	case p.controller != "":
		r.refuse(p.path, "%s is a port of both %s and %s", name, p.controller, controller.name)
	case p.ip4.enabled:
		r.refuse(p.ip4.path, "%s is a port of %s and cannot have addresses of its own", name, controller.name)
	case p.ip6.enabled:
		r.refuse(p.ip6.path, "%s is a port of %s and cannot have addresses of its own", name, controller.name)
	default:
		p.controller, p.portType, p.portOptions = controller.name, controller.kind, options
	}
}

// resolvers returns which interface carries the DNS servers of each family (key
// true for IPv6): the one with the default route, else the first that can.
func (d document) resolvers(r *reader) map[bool]*iface {
	holders := map[bool]*iface{}
	for _, six := range []bool{false, true} {
		if !slices.ContainsFunc(d.dns.servers, func(a netip.Addr) bool { return a.Is6() == six }) {
			continue
		}
		for _, rt := range d.routes {
			device := d.find(rt.device)
			if rt.destination.Bits() == 0 && rt.destination.Addr().Is6() == six && holders[six] == nil && device.resolves(six) {
				holders[six] = device
			}
		}
		for _, i := range d.interfaces {
			if holders[six] == nil && i.resolves(six) {
				holders[six] = i
			}
		}
		if holders[six] == nil {
			r.refuse(d.dns.path+".server", "no interface has addresses of the servers' family")
		}
	}
	if len(d.dns.search) > 0 && len(d.dns.servers) == 0 {
		for _, i := range d.interfaces {
			if len(holders) == 0 && i.resolves(false) {
				holders[false] = i
			}
		}
		if len(holders) == 0 {
			r.refuse(d.dns.path+".search", "no interface has IPv4 addresses; add a server")
		}
	}
	return holders
}

// resolves tells whether the interface may carry DNS settings of a family:
// NetworkManager refuses them where there are no addresses, or link-local ones
// only.
func (i *iface) resolves(six bool) bool {
	if i == nil || !i.up || i.controller != "" {
		return false
	}
	f := i.family(six)
	return f.enabled && (f.auto() || len(f.addresses) > 0)
}

// routes tells whether routes and rules of a family take effect on the interface.
func (i *iface) routes(six bool) bool {
	return i.up && i.controller == "" && i.family(six).method(six) != "disabled"
}

func (i *iface) family(six bool) family {
	if six {
		return i.ip6
	}
	return i.ip4
}

func (d document) checkRoute(r *reader, rt route) {
	i := d.find(rt.device)
	switch {
	case i == nil:
		r.refuse(rt.path+".next-hop-interface", "%s is not among the interfaces", rt.device)
	case !i.routes(rt.destination.Addr().Is6()):
		r.refuse(rt.path+".next-hop-interface", "%s has no addresses of the destination's family", rt.device)
	}
}
