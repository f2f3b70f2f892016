package netns

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
)

// bridge is a segment made of a kernel bridge in a namespace of its own.
type bridge struct {
	*namespace
	index, ports int
}

// jumbo is the MTU of what lies between the hosts' NICs: it limits nobody.
const jumbo = 9216

func newBridge(t testing.TB) *bridge {
	t.Helper()
	b := &bridge{namespace: newNamespace(t)}
	link := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br0", MTU: jumbo}}
	err := b.link.LinkAdd(link)
	if err == nil {
		b.index = link.Attrs().Index
		err = b.link.LinkSetUp(link)
	}
	if err != nil {
		t.Fatalf("make a bridge: %v", err)
	}
	return b
}

// plug makes a pair of veth ends: one is the host's NIC, one a port of the bridge.
func (b *bridge) plug(h *Host, nic NIC) error {
	b.ports++
	port := fmt.Sprintf("port%d", b.ports)
	pair := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: port, MTU: jumbo}, PeerName: nic.Name, PeerNamespace: netlink.NsFd(h.handle), PeerMTU: uint32(nic.mtu()),
	}
	if err := b.link.LinkAdd(pair); err != nil {
		return err
	}
	end, err := b.link.LinkByName(port)
	if err != nil {
		return err
	}
	if err := b.link.LinkSetMasterByIndex(end, b.index); err != nil {
		return err
	}
	if !nic.Unplugged {
		if err := b.link.LinkSetUp(end); err != nil {
			return err
		}
	}
	return h.dress(nic)
}

// dress gives a new NIC its MAC and MTU.
func (h *Host) dress(nic NIC) error {
	link, err := h.link.LinkByName(nic.Name)
	if err != nil {
		return err
	}
	if err := h.setMAC(link, nic.MAC); err != nil {
		return err
	}
	return h.link.LinkSetMTU(link, nic.mtu())
}

func (nic NIC) mtu() int {
	if nic.MTU == 0 {
		return 1500
	}
	return nic.MTU
}
