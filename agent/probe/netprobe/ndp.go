package netprobe

import (
	"encoding/binary"
	"net/netip"
)

// An IPv6 packet with a neighbour solicitation or advertisement, RFC 4861
// sections 4.3, 4.4 and 7.1: the IPv6 header, then type, code, checksum, flags,
// the target, and options of type, length in units of 8 bytes, and content.
const (
	ipv6Header      = 40
	ipv6NextHeader  = 6
	ipv6HopLimit    = 7
	ipv6Source      = 8
	ipv6Destination = 24
	protocolICMPv6  = 58
	ndpHopLimit     = 255

	ndpLength         = 24
	ndpTarget         = 8
	ndpSolicitation   = 135
	ndpAdvertisement  = 136
	optionSourceMAC   = 1
	optionTargetMAC   = 2
	macOptionLength   = 8
	maxAdvertisement  = 1500
	solicitationBytes = ipv6Header + ndpLength + macOptionLength
)

// newSolicitation asks who has the target, and the Ethernet address to send it to.
func newSolicitation(from MAC, source, target netip.Addr) ([]byte, MAC) {
	address := target.As16()
	// The solicited-node multicast address, RFC 4291 section 2.7.1, and its Ethernet form, RFC 2464 section 7.
	group := [16]byte{0xff, 0x02, 11: 1, 12: 0xff, 13: address[13], 14: address[14], 15: address[15]}
	packet := make([]byte, solicitationBytes)
	packet[0] = 6 << 4
	binary.BigEndian.PutUint16(packet[4:], ndpLength+macOptionLength)
	packet[ipv6NextHeader], packet[ipv6HopLimit] = protocolICMPv6, ndpHopLimit
	copy(packet[ipv6Source:], source.AsSlice())
	copy(packet[ipv6Destination:], group[:])
	message := packet[ipv6Header:]
	message[0] = ndpSolicitation
	copy(message[ndpTarget:], address[:])
	message[ndpLength], message[ndpLength+1] = optionSourceMAC, macOptionLength/8
	copy(message[ndpLength+2:], from[:])
	binary.BigEndian.PutUint16(message[2:], ^pseudoSum(packet))
	return packet, MAC{0x33, 0x33, 0xff, address[13], address[14], address[15]}
}

// parseAdvertisement reads a neighbour advertisement that came from the given
// Ethernet address; false is for what is none, was forwarded, or is damaged.
func parseAdvertisement(packet []byte, from MAC) (answer, bool) {
	if len(packet) < ipv6Header+ndpLength || packet[0]>>4 != 6 || packet[ipv6NextHeader] != protocolICMPv6 || packet[ipv6HopLimit] != ndpHopLimit {
		return answer{}, false
	}
	length := int(binary.BigEndian.Uint16(packet[4:]))
	if length < ndpLength || len(packet) < ipv6Header+length {
		return answer{}, false
	}
	packet = packet[:ipv6Header+length]
	message := packet[ipv6Header:]
	if message[0] != ndpAdvertisement || message[1] != 0 || pseudoSum(packet) != 0xffff {
		return answer{}, false
	}
	address := netip.AddrFrom16([16]byte(message[ndpTarget:]))
	owner, ok := targetMAC(message[ndpLength:], from)
	return answer{address: address, owner: owner, reply: true}, ok && owner.usable() && !address.IsMulticast()
}

// targetMAC finds the target's address among the options; without one it is
// the sender's.
func targetMAC(options []byte, sender MAC) (MAC, bool) {
	for len(options) >= 2 {
		length := 8 * int(options[1])
		if length == 0 || length > len(options) {
			return MAC{}, false
		}
		if options[0] == optionTargetMAC && length == macOptionLength {
			return MAC(options[2:]), true
		}
		options = options[length:]
	}
	return sender, len(options) == 0
}

// pseudoSum is the checksum of an ICMPv6 packet with its pseudo header, RFC 8200
// section 8.1; all ones for a packet that holds the right checksum.
func pseudoSum(packet []byte) uint16 {
	message := packet[ipv6Header:]
	sum := onesSum(0, packet[ipv6Source:ipv6Header])
	sum = onesSum(sum, message)
	return fold(sum + uint32(len(message)) + protocolICMPv6)
}

// onesSum adds 16-bit words, RFC 1071.
func onesSum(sum uint32, data []byte) uint32 {
	for ; len(data) >= 2; data = data[2:] {
		sum += uint32(binary.BigEndian.Uint16(data))
	}
	if len(data) == 1 {
		sum += uint32(data[0]) << 8
	}
	return sum
}

func fold(sum uint32) uint16 {
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}
