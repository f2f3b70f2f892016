// Package cable connects the network namespaces of booted machines: each gets a card with its
// address, that of the first one is the switch.
package cable

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Name is that of each card.
const Name = "eno1"

// End is a machine's.
type End struct {
	// Namespace is the file of its network namespace.
	Namespace string
	MAC       string
	// Address is in CIDR form; the machine gets it as by DHCP.
	Address string
}

// Lay gives each machine its card.
func Lay(ends []End) error {
	zero, err := enter(ends[0])
	if err != nil {
		return err
	}
	defer zero.close()
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: Name, HardwareAddr: zero.mac}}
	if err := zero.LinkAdd(bridge); err != nil {
		return fmt.Errorf("make the switch: %w", err)
	}
	if err := zero.up(); err != nil {
		return err
	}
	for i, e := range ends[1:] {
		if err := plug(zero, e, fmt.Sprintf("port%d", i+1)); err != nil {
			return fmt.Errorf("plug machine %d in: %w", i+1, err)
		}
	}
	return nil
}

// inside is a machine's network.
type inside struct {
	*netlink.Handle
	ns      vns.NsHandle
	mac     net.HardwareAddr
	address *netlink.Addr
}

func enter(e End) (*inside, error) {
	mac, err := net.ParseMAC(e.MAC)
	if err != nil {
		return nil, err
	}
	address, err := netlink.ParseAddr(e.Address)
	if err != nil {
		return nil, err
	}
	ns, err := vns.GetFromPath(e.Namespace)
	if err != nil {
		return nil, fmt.Errorf("enter %s: %w", e.Namespace, err)
	}
	handle, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, errors.Join(err, ns.Close())
	}
	return &inside{handle, ns, mac, address}, nil
}

func (n *inside) close() {
	n.Close()
	_ = n.ns.Close() // it was only looked through
}

// up gives the card its address, as DHCP would.
func (n *inside) up() error {
	card, err := n.LinkByName(Name)
	if err != nil {
		return err
	}
	if err := n.AddrAdd(card, n.address); err != nil {
		return err
	}
	return n.LinkSetUp(card)
}

// plug connects a machine to the switch.
func plug(zero *inside, e End, port string) error {
	n, err := enter(e)
	if err != nil {
		return err
	}
	defer n.close()
	err = zero.LinkAdd(&netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: port}, PeerName: Name, PeerHardwareAddr: n.mac, PeerNamespace: netlink.NsFd(n.ns),
	})
	if err != nil {
		return err
	}
	end, err := zero.LinkByName(port)
	if err != nil {
		return err
	}
	bridge, err := zero.LinkByName(Name)
	if err != nil {
		return err
	}
	if err := errors.Join(zero.LinkSetMaster(end, bridge), zero.LinkSetUp(end)); err != nil {
		return err
	}
	return n.up()
}
