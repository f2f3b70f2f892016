package netprobe

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// MAC is an Ethernet address.
type MAC [6]byte

var broadcast = MAC{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}

// String is its lower-case form with colons.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// usable tells whether a host can own the address.
func (m MAC) usable() bool { return m != MAC{} && m[0]&1 == 0 }

// answer is what a packet says about the owner of an address.
type answer struct {
	address netip.Addr
	owner   MAC
	// reply is set for answers, not for requests of the owner's own.
	reply bool
}

// An ARP packet for IPv4 over Ethernet, RFC 826: hardware type, protocol type,
// their address lengths, operation, then MAC and IPv4 address of the sender and
// of the target.
const (
	arpLength    = 28
	arpOperation = 6
	arpSenderMAC = 8
	arpSenderIP  = 14
	arpTargetIP  = 24
	arpRequest   = 1
	arpReply     = 2
)

// arpHeader says Ethernet and IPv4.
var arpHeader = [...]byte{0, 1, 0x08, 0x00, 6, 4}

// newARPRequest asks who has the target.
func newARPRequest(from MAC, source, target netip.Addr) []byte {
	packet := make([]byte, arpLength)
	copy(packet, arpHeader[:])
	binary.BigEndian.PutUint16(packet[arpOperation:], arpRequest)
	copy(packet[arpSenderMAC:], from[:])
	copy(packet[arpSenderIP:], source.AsSlice())
	copy(packet[arpTargetIP:], target.AsSlice())
	return packet
}

// parseARP reads who sent an ARP packet; false is for what is none.
func parseARP(packet []byte) (answer, bool) {
	if len(packet) < arpLength || [6]byte(packet) != arpHeader {
		return answer{}, false
	}
	operation := binary.BigEndian.Uint16(packet[arpOperation:])
	owner := MAC(packet[arpSenderMAC:arpSenderIP])
	if operation != arpRequest && operation != arpReply || !owner.usable() {
		return answer{}, false
	}
	address := netip.AddrFrom4([4]byte(packet[arpSenderIP:]))
	return answer{address: address, owner: owner, reply: operation == arpReply}, !address.IsUnspecified()
}
