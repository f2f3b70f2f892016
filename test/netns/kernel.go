package netns

import (
	"errors"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Missing lists the kinds of links that the topology needs and this kernel does
// not have: "bond" or "vlan". Rows with such links run in a guest; see
// package guest.
func (t Topology) Missing(tb testing.TB) []string {
	tb.Helper()
	var bond, vlan bool
	for _, h := range t.Hosts {
		bond, vlan = bond || len(h.Bonds) > 0, vlan || len(h.VLANs) > 0
	}
	if !bond && !vlan {
		return nil
	}
	n := newNamespace(tb)
	parent := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "veth0"}, PeerName: "veth1"}
	if err := n.link.LinkAdd(parent); err != nil {
		tb.Fatal(err)
	}
	var missing []string
	if bond && errors.Is(n.link.LinkAdd(netlink.NewLinkBond(netlink.LinkAttrs{Name: "bond0"})), unix.EOPNOTSUPP) {
		missing = append(missing, "bond")
	}
	if vlan && errors.Is(n.link.LinkAdd(&netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "vlan2", ParentIndex: parent.Attrs().Index}, VlanId: 2}), unix.EOPNOTSUPP) {
		missing = append(missing, "vlan")
	}
	return missing
}
