package image

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// described is a host with where its network is described.
type described struct {
	Host

	at   manifests.Document
	path string
}

// describeHosts reads the hosts of either form.
func (r *reading) describeHosts(d *manifests.Draft) {
	if d.Install != nil || d.Agent != nil {
		r.hostsOfConfig(d)
	} else {
		r.hostsOfManifests(d)
	}
	for i := range r.hosts {
		h := &r.hosts[i]
		if h.Name == "" {
			h.Name = fmt.Sprintf("host-%d", i)
		}
		if !h.own {
			h.DHCP = true
		}
		if h.Hostname == "" {
			h.Hostname = h.settings.Hostname
		}
	}
	for i := range r.hosts {
		r.plan.Hosts = append(r.plan.Hosts, r.hosts[i].Host)
	}
}

func (r *reading) hostsOfConfig(d *manifests.Draft) {
	if d.Agent == nil {
		return
	}
	for i, a := range d.Agent.Hosts {
		h := described{Host: Host{Name: a.Hostname, Hostname: a.Hostname, Role: a.Role, Hints: a.RootDeviceHints}, at: d.AgentAt, path: fmt.Sprintf("hosts[%d].networkConfig", i)}
		h.have(a.Interfaces)
		h.network(r.o.Live, a.NetworkConfig)
		r.hosts = append(r.hosts, h)
	}
}

// hostsOfManifests brings folders of hosts and networks together by the addresses of cards.
func (r *reading) hostsOfManifests(d *manifests.Draft) {
	for _, folder := range d.Set.Hosts {
		r.hosts = append(r.hosts, described{Host: Host{Name: folder.Name, Role: folder.Role, Hints: folder.Hints, MACs: folder.MACs}})
	}
	for i, c := range d.Set.NMStateConfigs {
		one := described{Host: Host{Name: c.Metadata.Name}}
		one.have(c.Spec.Interfaces)
		n := slices.IndexFunc(r.hosts, func(h described) bool {
			return slices.ContainsFunc(h.MACs, func(mac string) bool { return slices.Contains(one.MACs, mac) })
		})
		if n < 0 {
			n = len(r.hosts)
			r.hosts = append(r.hosts, one)
		}
		h := &r.hosts[n]
		if h.own {
			d.NetworksAt[i].Wrong("spec.interfaces", "are of a host of %s that another NMStateConfig is for: one host has one network", hostFolder)
			continue
		}
		h.cards = one.cards
		for _, mac := range one.MACs {
			if !slices.Contains(h.MACs, mac) {
				h.MACs = append(h.MACs, mac)
			}
		}
		h.at, h.path = d.NetworksAt[i], "spec.config"
		h.network(r.o.Live, c.Spec.Config)
	}
}

// have notes its cards.
func (h *described) have(cards []manifests.Card) {
	for _, c := range cards {
		h.cards = append(h.cards, network.Card{Name: c.Name, Address: c.MACAddress})
		h.MACs = append(h.MACs, strings.ToLower(c.MACAddress))
	}
}

// network translates its description. What is no description at all the manifests' reader
// has told.
func (h *described) network(live network.Live, config manifests.Free) {
	text, err := config.YAML()
	if err != nil || text == "" {
		return
	}
	h.own = true
	h.Addresses, h.DHCP = addresses(text)
	names, err := network.CardsByName(h.cards)
	if err != nil {
		return
	}
	if _, err := network.Translate([]byte(text), names); err != nil && !network.LeftToNmstatectl(err) {
		return
	}
	if h.settings, err = live.TranslateLogical([]byte(text), h.cards); err != nil {
		h.at.Wrong(h.path, "cannot be set up by this base image: %s", oneLine(err))
	}
}

// addresses are the static ones of an nmstate document, and whether it has others from the
// network.
func addresses(text string) (static []netip.Prefix, dynamic bool) {
	type family struct {
		Enabled  bool `json:"enabled"`
		DHCP     bool `json:"dhcp"`
		Autoconf bool `json:"autoconf"`
		Address  []struct {
			IP     string `json:"ip"`
			Length int    `json:"prefix-length"`
		} `json:"address"`
	}
	var document struct {
		Interfaces []struct {
			State string `json:"state"`
			IPv4  family `json:"ipv4"`
			IPv6  family `json:"ipv6"`
		} `json:"interfaces"`
	}
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, false // the translator says so
	}
	for _, i := range document.Interfaces {
		for _, f := range []family{i.IPv4, i.IPv6} {
			if !f.Enabled || i.State == "absent" || i.State == "down" {
				continue
			}
			dynamic = dynamic || f.DHCP || f.Autoconf
			for _, a := range f.Address {
				if ip, err := netip.ParseAddr(a.IP); err == nil {
					static = append(static, netip.PrefixFrom(ip, a.Length))
				}
			}
		}
	}
	return static, dynamic
}

// hasAddress tells whether it is one of the host's static ones.
func (h *Host) hasAddress(a netip.Addr) bool {
	return slices.ContainsFunc(h.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
}

// mayLead tells whether the host may be the rendezvous host, which becomes a part of the
// control plane last.
func (h *Host) mayLead() bool { return h.Role == "" || h.Role == "master" }

// rendezvous finds the host that is the hub.
func (r *reading) rendezvous(d *manifests.Draft) {
	given, good := r.givenRendezvous(d)
	if !good {
		return
	}
	if !given.IsValid() {
		i := slices.IndexFunc(r.plan.Hosts, func(h Host) bool { return h.mayLead() && len(h.Addresses) > 0 })
		if i < 0 {
			r.add("--rendezvous-ip", "is not given, and no host that may be a master has a static address: write the address that one of the hosts will have")
			return
		}
		given = r.plan.Hosts[i].Addresses[0].Addr()
	}
	r.plan.Rendezvous = given
	i := slices.IndexFunc(r.plan.Hosts, func(h Host) bool { return h.hasAddress(given) })
	tell := func(format string, args ...any) {
		if d.Agent != nil {
			d.AgentAt.Wrong("rendezvousIP", format, args...)
			return
		}
		r.add("--rendezvous-ip", format, args...)
	}
	switch {
	case i >= 0:
		r.plan.Hosts[i].Rendezvous = true
		if h := &r.plan.Hosts[i]; !h.mayLead() {
			tell("is %s, of %s, which has the role %s: write the address of a host of the control plane", given, h.Name, h.Role)
		}
	case len(r.plan.Hosts) > 0 && len(r.plan.Hosts) >= d.Wanted.Hosts() && !slices.ContainsFunc(r.plan.Hosts, func(h Host) bool { return h.DHCP }):
		var known []string
		for _, h := range r.plan.Hosts {
			for _, a := range h.Addresses {
				if h.mayLead() {
					known = append(known, a.Addr().String())
				}
			}
		}
		tell("is %s, which no host has: write one of %s", given, strings.Join(known, ", "))
	}
}

// givenRendezvous is the address that somebody has written; not valid for none.
func (r *reading) givenRendezvous(d *manifests.Draft) (address netip.Addr, good bool) {
	text := r.o.RendezvousIP
	if text != "" {
		var err error
		if address, err = netip.ParseAddr(text); err != nil || address.Zone() != "" {
			r.add("--rendezvous-ip", "is %.60q: write an address, such as 192.0.2.10", text)
			return netip.Addr{}, false
		}
	}
	if d.Install == nil && d.Agent == nil {
		return address, true
	}
	if d.Agent == nil {
		return address, false
	}
	written, err := netip.ParseAddr(d.Agent.RendezvousIP)
	switch {
	case err != nil: // which has been told
		return written, false
	case address.IsValid() && address != written:
		d.AgentAt.Wrong("rendezvousIP", "is %s, and --rendezvous-ip is %s: leave the flag away", written, address)
		return written, false
	}
	return written, true
}
