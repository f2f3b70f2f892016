package netns

import (
	"context"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/hub/wire"
)

// Interfaces lists the interfaces of the calling process's host as an inventory
// does. What stands for a NIC here (veth, tap) is "physical", so that checks take
// it for one.
func Interfaces(context.Context) ([]wire.Interface, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, err
	}
	out := make([]wire.Interface, 0, len(links))
	for _, link := range links {
		attrs := link.Attrs()
		nic := wire.Interface{
			Name: attrs.Name, MACAddress: attrs.HardwareAddr.String(), MTU: int64(attrs.MTU), Type: link.Type(), HasCarrier: attrs.RawFlags&unix.IFF_LOWER_UP != 0,
			Ipv4Addresses: []string{}, Ipv6Addresses: []string{},
		}
		switch nic.Type {
		case "veth", "tuntap", "tun", "tap":
			nic.Type = "physical"
		case "device":
			nic.Type = "loopback"
		}
		addresses, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		if err != nil {
			return nil, err
		}
		for _, a := range addresses {
			address, _ := netip.AddrFromSlice(a.IP)
			bits, _ := a.Mask.Size()
			switch prefix := netip.PrefixFrom(address.Unmap(), bits); {
			case prefix.Addr().IsLinkLocalUnicast():
			case prefix.Addr().Is4():
				nic.Ipv4Addresses = append(nic.Ipv4Addresses, prefix.String())
			default:
				nic.Ipv6Addresses = append(nic.Ipv6Addresses, prefix.String())
			}
		}
		out = append(out, nic)
	}
	return out, nil
}
