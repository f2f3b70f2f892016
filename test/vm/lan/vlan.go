package lan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/vishvananda/netlink"
)

// vlan makes this machine a member of a VLAN: a device with the address, whose
// frames the relay carries to and from the bridge, with the tag.
func (n *Network) vlan(v VLAN) (segment, error) {
	trunk, err := n.open(fmt.Sprintf("%s-t%d", n.name, v.ID))
	if err != nil {
		return segment{}, err
	}
	access, err := n.open(fmt.Sprintf("%s-v%d", n.name, v.ID))
	if err != nil {
		return segment{}, errors.Join(err, trunk.Fds[0].Close())
	}
	n.relays = append(n.relays, startRelay(trunk.Fds[0], access.Fds[0], uint16(v.ID)))
	for _, device := range []struct {
		link   *netlink.Tuntap
		member bool
	}{{trunk, true}, {access, false}} {
		if err := n.dress(device.link, device.member, v); err != nil {
			return segment{}, err
		}
	}
	return segment{device: access.Attrs().Name, prefix: v.Prefix, dhcp: v.DHCP}, nil
}

// open makes a tap whose frames this program reads and writes. It ends when its
// file is closed.
func (n *Network) open(name string) (*netlink.Tuntap, error) {
	tap := &netlink.Tuntap{
		LinkAttrs: netlink.LinkAttrs{Name: name}, Mode: netlink.TUNTAP_MODE_TAP, Queues: 1, NonPersist: true,
		Flags: netlink.TUNTAP_NO_PI | netlink.TUNTAP_ONE_QUEUE,
	}
	if err := netlink.LinkAdd(tap); err != nil {
		return nil, fmt.Errorf("make the device %s: %w", name, err)
	}
	return tap, nil
}

// dress gives a tap its place.
func (n *Network) dress(tap *netlink.Tuntap, member bool, v VLAN) error {
	var err error
	if member {
		err = netlink.LinkSetMaster(tap, n.bridge)
	} else {
		var address *netlink.Addr
		if address, err = netlink.ParseAddr(v.Prefix.String()); err == nil {
			err = netlink.AddrAdd(tap, address)
		}
	}
	if err == nil {
		err = netlink.LinkSetUp(tap)
	}
	if err != nil {
		return fmt.Errorf("device %s: %w", tap.Attrs().Name, err)
	}
	return nil
}

const (
	// frameRoom is more than the largest frame that a tap gives.
	frameRoom = 64<<10 + 64
	// addresses are the two hardware addresses at the start of a frame.
	addresses = 12
	// tagType marks a frame with an IEEE 802.1Q tag of four bytes.
	tagType = 0x8100
	tagSize = 4
)

// relay carries frames between a trunk, where they have a tag, and an access
// device.
type relay struct {
	trunk, access *os.File
	work          sync.WaitGroup
}

func startRelay(trunk, access *os.File, id uint16) *relay {
	r := &relay{trunk: trunk, access: access}
	r.work.Go(func() { carry(trunk, access, func(frame []byte) []byte { return untagged(frame, id) }) })
	r.work.Go(func() { carry(access, trunk, func(frame []byte) []byte { return tagged(frame, id) }) })
	return r
}

// close ends the relay, and with it both devices.
func (r *relay) close() {
	_ = r.trunk.Close()
	_ = r.access.Close()
	r.work.Wait()
}

// carry copies frames until the first file is closed. A frame of nil is left out.
func carry(from, to *os.File, change func([]byte) []byte) {
	room := make([]byte, frameRoom)
	for {
		size, err := from.Read(room)
		if err != nil {
			// The file was closed, or the device has gone with its network.
			return
		}
		if frame := change(room[:size]); frame != nil {
			// A frame that the kernel does not take is lost, as on a wire.
			_, _ = to.Write(frame)
		}
	}
}

// untagged is a frame of the VLAN without its tag, or nil.
func untagged(frame []byte, id uint16) []byte {
	if len(frame) < addresses+tagSize+2 || binary.BigEndian.Uint16(frame[addresses:]) != tagType {
		return nil
	}
	if binary.BigEndian.Uint16(frame[addresses+2:])&0xfff != id {
		return nil
	}
	out := make([]byte, 0, len(frame)-tagSize)
	out = append(out, frame[:addresses]...)
	return append(out, frame[addresses+tagSize:]...)
}

// tagged is a frame with the VLAN's tag, or nil for none.
func tagged(frame []byte, id uint16) []byte {
	if len(frame) < addresses+2 {
		return nil
	}
	out := make([]byte, 0, len(frame)+tagSize)
	out = append(out, frame[:addresses]...)
	out = binary.BigEndian.AppendUint16(out, tagType)
	out = binary.BigEndian.AppendUint16(out, id)
	return append(out, frame[addresses:]...)
}
