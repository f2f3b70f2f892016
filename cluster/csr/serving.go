package csr

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

// What the hub has of a host's name and addresses is what the host itself has said in its live system. The authority of
// kubelets' certificates is the one by which everybody knows the API, so that a name or an address which the host does
// not have would make it the API for all who can be led to it.

// notTheAPI keeps hosts from certificates for the API. Those of the control plane serve it anyway, and may have its name
// or its address for their own.
func notTheAPI(in *input) (Decision, string) {
	api := in.world.API
	serves := in.host.Role == wire.HostRoleMaster || in.host.Role == wire.HostRoleBootstrap
	for _, name := range in.x509.DNSNames {
		if ofTheService(name) || !serves && slices.Contains(api.Names, name) {
			return Leave, fmt.Sprintf("it asks for %.253q, which is a name of the cluster's API", name)
		}
	}
	for _, a := range in.addresses() {
		if slices.ContainsFunc(api.Services, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return Leave, fmt.Sprintf("it asks for %s, which is an address of services", a)
		}
		if !serves && slices.Contains(api.Addresses, a) {
			return Leave, fmt.Sprintf("it asks for %s, which is the address of the cluster's API", a)
		}
	}
	return Approve, ""
}

// ofTheService tells that pods of any cluster, or programs beside the API, know it by that name.
func ofTheService(name string) bool {
	const service = "kubernetes"
	return name == "localhost" || name == service || name == service+".default" || name == service+".default.svc" || strings.HasPrefix(name, service+".default.svc.")
}

// oneAddress keeps hosts from certificates for one another.
func oneAddress(in *input) (Decision, string) {
	asked := in.addresses()
	for _, h := range in.world.Hosts {
		if in.isOf(h) {
			continue
		}
		if i := slices.IndexFunc(asked, func(a netip.Addr) bool { return in.uses(h, a) }); i >= 0 {
			in.other = h.Name
			return Leave, fmt.Sprintf("it asks for %s, which host %.253s has, too", asked[i], h.Name)
		}
	}
	return Approve, ""
}

// uses tells that another host has the address now, or will have it: its node says so, or it has had none yet. One that was
// lost has left it to the host in its place, and one that runs may have got another address than its live system had.
func (in *input) uses(h facts.Host, a netip.Addr) bool {
	if node, there := in.world.Nodes[h.Name]; there {
		return !node.Silent && slices.Contains(node.Addresses, a)
	}
	return !slices.Contains(gone, h.Status) && !slices.Contains(ended, h.Status) && slices.Contains(h.Addresses, a)
}

// addresses are those in the request.
func (in *input) addresses() []netip.Addr {
	var all []netip.Addr
	for _, ip := range in.x509.IPAddresses {
		a, _ := netip.AddrFromSlice(ip)
		all = append(all, a.Unmap())
	}
	return all
}
