package netprobe

import (
	"crypto/rand"
	"encoding/binary"
)

// headroom holds IPv4's header with its options.
const headroom = 60

// echoCodec writes echo requests and knows their answers again. Both families
// have the same form: type, code, checksum, identifier, sequence number, payload.
type echoCodec struct {
	request6 bool
	id       uint16
	nonce    [nonceLength]byte
	size     int
}

const (
	echoHeader   = 8
	nonceLength  = 8
	echoRequest4 = 8
	echoReply4   = 0
	echoRequest6 = 128
	echoReply6   = 129
)

func newCodec(e Echo) echoCodec {
	c := echoCodec{request6: e.Target.Is6(), size: e.Payload}
	if c.size == 0 {
		c.size = defaultPayload
	}
	c.size = min(max(c.size, nonceLength), 1<<16-headroom-echoHeader)
	_, _ = rand.Read(c.nonce[:]) // never fails
	c.id = binary.BigEndian.Uint16(c.nonce[:])
	return c
}

// request is an echo request; its checksum is the kernel's work for IPv6.
func (c echoCodec) request(sequence uint16) []byte {
	message := make([]byte, echoHeader+c.size)
	message[0] = echoRequest4
	if c.request6 {
		message[0] = echoRequest6
	}
	binary.BigEndian.PutUint16(message[4:], c.id)
	binary.BigEndian.PutUint16(message[6:], sequence)
	copy(message[echoHeader:], c.nonce[:])
	if !c.request6 {
		binary.BigEndian.PutUint16(message[2:], ^fold(onesSum(0, message)))
	}
	return message
}

// parse returns the sequence number of an answer to one of these requests.
func (c echoCodec) parse(message []byte) (uint16, bool) {
	reply := byte(echoReply4)
	if c.request6 {
		reply = echoReply6
	}
	if len(message) != echoHeader+c.size || message[0] != reply || message[1] != 0 || binary.BigEndian.Uint16(message[4:]) != c.id ||
		[nonceLength]byte(message[echoHeader:]) != c.nonce {
		return 0, false
	}
	return binary.BigEndian.Uint16(message[6:]), true
}
