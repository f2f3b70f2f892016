package dhcplease

import (
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vishvananda/netlink"

	"github.com/ironflow/ironflow/api/hostfile"
)

// addLink makes a link with a MAC of its own on top of an interface, and returns
// what deletes it. Private mode keeps it apart from other links there: only the
// network outside hears it. A link that an earlier run left is replaced; any
// other interface of that name is not touched.
func addLink(dir hostfile.Dir, parent, name string, mac net.HardwareAddr) (remove func() error, err error) {
	below, err := netlink.LinkByName(parent)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", parent, err)
	}
	switch old, err := netlink.LinkByName(name); {
	case err == nil && old.Type() != "macvlan":
		return nil, fmt.Errorf("this host has an interface %s of its own", name)
	case err == nil:
		if err := netlink.LinkDel(old); err != nil {
			return nil, fmt.Errorf("delete the old link %s: %w", name, err)
		}
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.ParentIndex, attrs.HardwareAddr = name, below.Attrs().Index, mac
	link := &netlink.Macvlan{LinkAttrs: attrs, Mode: netlink.MACVLAN_MODE_PRIVATE}
	if err := netlink.LinkAdd(link); err != nil {
		return nil, fmt.Errorf("add link %s to %s: %w", name, parent, err)
	}
	remove = func() error {
		if err := netlink.LinkDel(link); err != nil {
			return fmt.Errorf("delete link %s: %w", name, err)
		}
		return nil
	}
	// The link is for DHCP only; without this it would get an IPv6 address as well. Hosts without IPv6 have no such file.
	_ = os.WriteFile(dir.Path("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6"), []byte("1"), 0o644)
	if err := netlink.LinkSetUp(link); err != nil {
		return nil, errors.Join(fmt.Errorf("set link %s up: %w", name, err), remove())
	}
	return remove, nil
}
