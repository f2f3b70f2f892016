package image

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
)

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
			r.add("--rendezvous-ip", "is not given, and no host that may be a master has a static address: write the address that one of the hosts will have%s", orThere(d))
			return
		}
		given = r.plan.Hosts[i].Addresses[0].Addr()
	}
	r.plan.Rendezvous = given
	r.inNetworks(d, given)
	i := slices.IndexFunc(r.plan.Hosts, func(h Host) bool { return h.hasAddress(given) })
	tell := func(format string, args ...any) {
		if written(d) {
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

// written tells that agent-config.yaml names the host.
func written(d *manifests.Draft) bool { return d.Agent != nil && d.Agent.RendezvousIP != "" }

// orThere says where else the address may be written.
func orThere(d *manifests.Draft) string {
	if d.Agent == nil {
		return ""
	}
	return ", here or as rendezvousIP in " + agentConfig
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
	if !written(d) {
		return address, !d.AgentAt.Told("rendezvousIP")
	}
	named, err := netip.ParseAddr(d.Agent.RendezvousIP)
	switch {
	case err != nil: // which has been told
		return named, false
	case address.IsValid() && address != named:
		d.AgentAt.Wrong("rendezvousIP", "is %s, and --rendezvous-ip is %s: leave the flag away", named, address)
		return named, false
	}
	return named, true
}

// inNetworks tells of an address that lies outside of the cluster's networks, or is a virtual one;
// of what agent-config.yaml names, its reader does.
func (r *reading) inNetworks(d *manifests.Draft, given netip.Addr) {
	var machines []manifests.MachineNetwork
	switch {
	case written(d):
		return
	case d.Install != nil:
		machines = d.Install.Networking.MachineNetwork
	case d.Set.AgentClusterInstall != nil:
		machines = d.Set.AgentClusterInstall.Spec.Networking.MachineNetwork
	}
	if slices.Contains(d.VIPs, given.String()) {
		r.add("--rendezvous-ip", "is %s, a virtual address of the cluster: write the host's own", given)
	}
	var networks []string
	for _, m := range machines {
		prefix, err := netip.ParsePrefix(m.CIDR)
		switch {
		case err != nil || prefix.Addr().Is4() != given.Is4():
		case prefix.Contains(given):
			return
		default:
			networks = append(networks, m.CIDR)
		}
	}
	if len(networks) > 0 {
		r.add("--rendezvous-ip", "is %s, which is in no machine network (%s): write the address of a host that is", given, strings.Join(networks, ", "))
	}
}
