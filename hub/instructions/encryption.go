package instructions

import (
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// waitForNetwork has the network up before there is a root file system, at each start.
const waitForNetwork = "rd.neednet=1"

// askedOfTang tells that Tang servers open the host's disk, which takes a network.
func (in Input) askedOfTang() bool {
	return in.Cluster != nil && validations.Encrypts(in.Cluster.DiskEncryption, in.Host.Role) &&
		wire.Value(in.Cluster.DiskEncryption.Mode) == wire.DiskEncryptionModeTang
}

// tangNetworkArguments give the cards in the machine networks the addresses of a static
// network once more, with the way out and who resolves names: the files of such a network
// are read this early only at the first start. The same holds where the installed system
// copies the live one's network and nobody knows how its cards got their addresses, as with
// network data in a Secret of the host.
func (in Input) tangNetworkArguments(copies bool) (kargs []string) {
	if !in.hasStaticNetworks() && !copies || in.Inventory == nil {
		return nil
	}
	var networks []wire.HostStaticNetworkConfig
	if in.hasStaticNetworks() && json.Unmarshal([]byte(in.InfraEnv.StaticNetworkConfig), &networks) != nil {
		return nil // refused when it was given
	}
	for i := range in.Inventory.Interfaces {
		nic := &in.Inventory.Interfaces[i]
		if !isCard(nic) {
			continue
		}
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			if p, err := netip.ParsePrefix(text); err == nil && in.inMachineNetwork([]string{text}) && in.isStatic(nic, p.Addr(), copies) {
				kargs = append(kargs, static(nic, p.Addr(), in.gateway(nic, p.Addr())))
			}
		}
	}
	for _, n := range networks {
		if len(kargs) == 0 || !in.isHost(n) {
			continue
		}
		for _, server := range staticnetwork.NameServers(n) {
			kargs = append(kargs, "nameserver="+server)
		}
	}
	return kargs
}

// isHost tells that the static network is the host's.
func (in Input) isHost(n wire.HostStaticNetworkConfig) bool {
	return slices.ContainsFunc(n.MACInterfaceMap, func(c wire.MACInterfaceMapItem) bool {
		return slices.ContainsFunc(in.Inventory.Interfaces, func(nic wire.Interface) bool { return strings.EqualFold(c.MACAddress, nic.MACAddress) })
	})
}

// gateway is the card's way out for the family of the address; empty for none.
func (in Input) gateway(nic *wire.Interface, of netip.Addr) string {
	for _, r := range in.Inventory.Routes {
		to, err := netip.ParseAddr(r.Destination)
		via, badGateway := netip.ParseAddr(r.Gateway)
		if err == nil && badGateway == nil && r.Interface == nic.Name && to.IsUnspecified() && to.Is4() == of.Is4() && !via.IsUnspecified() {
			return via.String()
		}
	}
	return ""
}
