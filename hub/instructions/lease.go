package instructions

import (
	"crypto/sha256"
	"net"
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// asksDHCP tells that a DHCP server gives the cluster its virtual addresses.
func asksDHCP(c *wire.Cluster) bool { return c.VIPDHCPAllocation != nil && *c.VIPDHCPAllocation }

// buildLease asks a DHCP server for the cluster's addresses, over the card that is in
// its machine network. Every host asks with the same hardware addresses, and so gets
// the same answer.
func buildLease(in Input) ([]string, error) {
	if in.Cluster == nil || in.Inventory == nil || !asksDHCP(in.Cluster) || len(in.Cluster.MachineNetworks) == 0 {
		return nil, errNothing
	}
	network, err := netip.ParsePrefix(string(in.Cluster.MachineNetworks[0].CIDR))
	if err != nil || !network.Addr().Is4() {
		return nil, errNothing
	}
	i := slices.IndexFunc(in.Inventory.Interfaces, func(nic wire.Interface) bool {
		return slices.ContainsFunc(nic.Ipv4Addresses, func(text string) bool {
			a, err := netip.ParsePrefix(text)
			return err == nil && network.Contains(a.Addr())
		})
	})
	if i < 0 {
		return nil, errNothing
	}
	return encode(wire.DHCPAllocationRequest{
		Interface: in.Inventory.Interfaces[i].Name, APIVIPMAC: vipMAC("api", in.Cluster.ID), IngressVIPMAC: vipMAC("ingress", in.Cluster.ID),
		APIVIPLease: in.APILease, IngressVIPLease: in.IngressLease,
	})
}

// vipMAC is a hardware address that no card has: it is administered locally, and made
// of the cluster's id.
func vipMAC(kind, clusterID string) string {
	sum := sha256.Sum256([]byte(kind + " " + clusterID))
	address := net.HardwareAddr(append([]byte{0x02}, sum[:5]...))
	return address.String()
}
