package console

import (
	"net"
	"os"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
)

// Interface is one of a host.
type Interface struct {
	Name string
	// Addresses have their prefixes.
	Addresses []string
	// Ethernet tells that it is a card for which a person can make a connection here; bonds,
	// bridges and VLANs need more than an address.
	Ethernet bool
}

// Interfaces lists those of the process's network namespace, without loopback, and their
// addresses; those that only a link has are left out.
func Interfaces() ([]Interface, error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, err
	}
	var all []Interface
	for _, link := range links {
		if link.Attrs().Flags&net.FlagLoopback != 0 {
			continue
		}
		one := Interface{Name: link.Attrs().Name, Ethernet: ethernet(link, "/sys/class/net")}
		found, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		for _, a := range found {
			if err == nil && !a.IP.IsLinkLocalUnicast() { // with an error, the interface has gone away
				one.Addresses = append(one.Addresses, a.IPNet.String())
			}
		}
		all = append(all, one)
	}
	return all, nil
}

// ethernet tells whether NetworkManager takes a link for an Ethernet card. The kernel has no
// kind for hardware; wireless cards look like others there, but not in the folder of sysfs.
func ethernet(link netlink.Link, sys string) bool {
	hardware := slices.Contains([]string{"device", "veth"}, link.Type()) && link.Attrs().EncapType == "ether"
	_, err := os.Stat(filepath.Join(sys, link.Attrs().Name, "phy80211"))
	return hardware && err != nil
}

// cards are the names of those that a person can set up.
func cards(all []Interface) (names []string) {
	for _, one := range all {
		if one.Ethernet {
			names = append(names, one.Name)
		}
	}
	return names
}
