package console

import (
	"net"

	"github.com/vishvananda/netlink"
)

// Interfaces lists the NICs of the process's network namespace, without loopback, and their
// addresses with prefixes; those that only a link has are left out.
func Interfaces() (names []string, addresses map[string][]string, err error) {
	links, err := netlink.LinkList()
	if err != nil {
		return nil, nil, err
	}
	addresses = map[string][]string{}
	for _, link := range links {
		if link.Attrs().Flags&net.FlagLoopback != 0 {
			continue
		}
		name := link.Attrs().Name
		names = append(names, name)
		found, err := netlink.AddrList(link, netlink.FAMILY_ALL)
		if err != nil {
			continue // the interface has gone away
		}
		for _, a := range found {
			if !a.IP.IsLinkLocalUnicast() {
				addresses[name] = append(addresses[name], a.IPNet.String())
			}
		}
	}
	return names, addresses, nil
}
