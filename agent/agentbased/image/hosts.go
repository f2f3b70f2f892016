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
	switch {
	case d.Nodes != nil:
		r.hostsOfConfig(d.Nodes.Hosts, d.NodesAt)
	case d.Agent != nil:
		r.hostsOfConfig(d.Agent.Hosts, d.AgentAt)
	case d.Install == nil:
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

func (r *reading) hostsOfConfig(hosts []manifests.AgentHost, at manifests.Document) {
	for i, a := range hosts {
		h := described{Host: Host{Name: a.Hostname, Hostname: a.Hostname, Role: a.Role, Hints: a.RootDeviceHints}, at: at, path: fmt.Sprintf("hosts[%d].networkConfig", i)}
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
