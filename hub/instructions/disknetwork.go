package instructions

import (
	"encoding/json"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// diskNetworkArguments give the cards that an iSCSI disk is reached over their addresses,
// one for each path: they lie outside of the machine networks, and are needed before
// there is a root file system. What a static network of the infra-env says of a card
// lies in files, which only the first start sees this early, so that its address is
// given once more. So it is where the installed system copies the live one's network
// and nobody knows how the card got its address: one that asks where nobody answers would
// not start a second time.
func (in Input) diskNetworkArguments(copies bool) (kargs []string) {
	disk := in.installationDisk()
	if disk == nil {
		return nil
	}
	add := func(karg string) {
		if karg != "" && !slices.Contains(kargs, karg) {
			kargs = append(kargs, karg)
		}
	}
	asks := map[string][]string{} // what a card asks for: a second argument would replace the first
	for _, path := range validations.Paths(disk, in.Inventory) {
		nic := validations.ISCSIInterface(path, in.Inventory)
		if nic == nil || !isCard(nic) {
			continue
		}
		address := netip.MustParseAddr(path.Iscsi.HostIPAddress) // an interface has it
		if in.isStatic(nic, address, copies) {
			add(static(nic, address, ""))
		} else {
			before := dhcp(nic, asks[nic.Name])
			asks[nic.Name] = withFamily(asks[nic.Name], address)
			kargs = slices.DeleteFunc(kargs, func(karg string) bool { return karg == before })
			add(dhcp(nic, asks[nic.Name]))
		}
		add(in.targetRoute(path, nic))
	}
	return kargs
}

// withFamily adds what a card asks for, IPv4 first.
func withFamily(kinds []string, address netip.Addr) []string {
	kind := "dhcp"
	if !address.Is4() {
		kind = "dhcp6"
	}
	if !slices.Contains(kinds, kind) {
		kinds = slices.Sorted(slices.Values(append(kinds, kind)))
	}
	return kinds
}

// dhcp is the argument for a card that asks for its addresses.
func dhcp(nic *wire.Interface, kinds []string) string {
	return "ip=" + card(nic) + ":" + strings.Join(kinds, ",")
}

// static is the argument for an address that the card has already; an empty gateway for none.
func static(nic *wire.Interface, address netip.Addr, gateway string) string {
	client, length := address.String(), address.BitLen()
	for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
		if p, err := netip.ParsePrefix(text); err == nil && p.Addr() == address {
			length = p.Bits()
		}
	}
	mask := net.IP(net.CIDRMask(length, 32)).String()
	if !address.Is4() {
		client, mask = "["+client+"]", strconv.Itoa(length)
		if gateway != "" {
			gateway = "[" + gateway + "]"
		}
	}
	// client:peer:gateway:mask:hostname:interface:autoconf
	return "ip=" + client + "::" + gateway + ":" + mask + "::" + card(nic) + ":none"
}

// isStatic tells that a static network of the infra-env gives the card this address. That it
// names the card is not enough: it may have it ask for an address, and a live system whose
// base image could not do the network has left it out. Of a card that none names, the
// caller knows.
func (in Input) isStatic(nic *wire.Interface, address netip.Addr, unnamed bool) bool {
	var networks []wire.HostStaticNetworkConfig
	if !in.hasStaticNetworks() || json.Unmarshal([]byte(in.InfraEnv.StaticNetworkConfig), &networks) != nil {
		return unnamed
	}
	i := slices.IndexFunc(networks, func(n wire.HostStaticNetworkConfig) bool {
		return slices.ContainsFunc(n.MACInterfaceMap, func(c wire.MACInterfaceMapItem) bool { return strings.EqualFold(c.MACAddress, nic.MACAddress) })
	})
	if i < 0 {
		return unnamed
	}
	return slices.Contains(staticnetwork.Addresses(networks[i]), address)
}

// isCard tells whether kernel arguments can name the interface: a bond or a VLAN they cannot.
func isCard(nic *wire.Interface) bool {
	return nic.MACAddress != "" && (nic.Type == "" || nic.Type == "physical")
}

// card is the name of a card in kernel arguments.
func card(nic *wire.Interface) string {
	return strings.ReplaceAll(strings.ToLower(nic.MACAddress), ":", "-")
}
