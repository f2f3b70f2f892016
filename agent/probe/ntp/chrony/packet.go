// Package chrony speaks the command protocol of chronyd, version 6, over its
// Unix socket: it lists the sources of time and adds some. It is what chronyc
// does, without starting it. The protocol's source is chrony's candm.h; all
// numbers are in network order, and a request is padded so that no reply is
// longer than it. Its main type is [Client].
package chrony

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strings"
)

const (
	version     = 6
	typeRequest = 1
	typeReply   = 2

	// requestHead and replyHead are the sizes of what each packet begins with.
	requestHead = 20
	replyHead   = 28
	// requestSize is the longest that a padded request may be.
	requestSize = requestHead + 484
	// maxReply is more than any reply has.
	maxReply = 2048
)

// Commands and the replies to them.
const (
	commandSources    = 14 // REQ_N_SOURCES
	commandSourceData = 15 // REQ_SOURCE_DATA
	commandAddSource  = 64 // REQ_ADD_SOURCE
	commandSourceName = 65 // REQ_NTP_SOURCE_NAME

	replyNull       = 1
	replySources    = 2
	replySourceData = 3
	replySourceName = 19
)

// State is what chronyd thinks of a source.
type State uint16

// States of a source, by the mark that chronyc shows for each.
const (
	Selected    State = 0 // * the clock follows it
	Unusable    State = 1 // ? it cannot be reached, or has no samples yet
	Falseticker State = 2 // x it is wrong
	Jittery     State = 3 // ~ it varies too much
	Unselected  State = 4 // + combined with the selected one
	Selectable  State = 5 // - good, but not combined
)

// Mode is the kind of a source.
type Mode uint16

// Modes of a source.
const (
	Server    Mode = 0
	Peer      Mode = 1
	Reference Mode = 2 // a clock of this host
)

// Source is one source of time.
type Source struct {
	// Address is not valid for a reference clock and for a name that is not resolved yet.
	Address netip.Addr
	State   State
	Mode    Mode

	// wire is its address as chronyd gave it; names that are not resolved yet have a number there.
	wire [addressSize]byte
}

// StatusError is chronyd's word on a command that it did not do.
type StatusError uint16

// Status codes that a caller may decide on.
const (
	ErrNoSuchSource StatusError = 4
	ErrAlreadyKnown StatusError = 11
	ErrTooMany      StatusError = 12
)

func (s StatusError) Error() string {
	texts := map[StatusError]string{
		1: "failed", 2: "not authorised", 3: "invalid command", ErrNoSuchSource: "no such source", ErrAlreadyKnown: "source is already present",
		ErrTooMany: "too many sources", 17: "address family not supported", 18: "protocol version mismatch", 19: "packet length mismatch", 21: "invalid name",
	}
	if text, ok := texts[s]; ok {
		return "chronyd: " + text
	}
	return fmt.Sprintf("chronyd: status %d", uint16(s))
}

// request makes a packet of a command and its data.
func request(command uint16, sequence uint32, data []byte) []byte {
	packet := make([]byte, requestSize)
	packet[0], packet[1] = version, typeRequest
	binary.BigEndian.PutUint16(packet[4:], command)
	binary.BigEndian.PutUint32(packet[8:], sequence)
	copy(packet[requestHead:], data)
	return packet
}

// errForeign is a packet that answers something else.
var errForeign = errors.New("this packet does not answer the request")

// reply returns the data of a reply. The error is a [StatusError], errForeign, or
// says what is wrong with the packet.
func reply(packet []byte, command, kind uint16, sequence uint32) ([]byte, error) {
	if len(packet) < replyHead {
		return nil, fmt.Errorf("%d bytes are no reply", len(packet))
	}
	if binary.BigEndian.Uint32(packet[16:]) != sequence || packet[1] != typeReply {
		return nil, errForeign
	}
	if packet[0] != version {
		return nil, fmt.Errorf("chronyd speaks version %d of the protocol, want %d", packet[0], version)
	}
	if got := binary.BigEndian.Uint16(packet[4:]); got != command {
		return nil, fmt.Errorf("the reply is to command %d, not to %d", got, command)
	}
	if status := StatusError(binary.BigEndian.Uint16(packet[8:])); status != 0 {
		return nil, status
	}
	if got := binary.BigEndian.Uint16(packet[6:]); got != kind {
		return nil, fmt.Errorf("the reply is of kind %d, want %d", got, kind)
	}
	return packet[replyHead:], nil
}

func parseCount(data []byte) (int, error) {
	if len(data) < 4 {
		return 0, errors.New("the number of sources is cut off")
	}
	return int(min(binary.BigEndian.Uint32(data), math.MaxInt32)), nil
}

// Families of an address on the wire: 16 bytes, then these.
const (
	familyIPv4 = 1
	familyIPv6 = 2
)

const addressSize = 20

func parseSource(data []byte) (Source, error) {
	if len(data) < addressSize+8 {
		return Source{}, errors.New("the description of a source is cut off")
	}
	return Source{
		wire:    [addressSize]byte(data),
		Address: parseAddress(data),
		State:   State(binary.BigEndian.Uint16(data[addressSize+4:])),
		Mode:    Mode(binary.BigEndian.Uint16(data[addressSize+6:])),
	}, nil
}

func parseAddress(data []byte) netip.Addr {
	switch binary.BigEndian.Uint16(data[16:]) {
	case familyIPv4:
		return netip.AddrFrom4([4]byte(data))
	case familyIPv6:
		return netip.AddrFrom16([16]byte(data)).Unmap()
	default:
		return netip.Addr{}
	}
}

// nameSize is the size of a name on the wire, with the zero that ends it.
const nameSize = 256

func parseName(data []byte) (string, error) {
	if len(data) < nameSize {
		return "", errors.New("the name of a source is cut off")
	}
	name, _, ended := strings.Cut(string(data[:nameSize]), "\x00")
	if !ended {
		return "", errors.New("the name of a source has no end")
	}
	return name, nil
}

// Flags of an added source.
const (
	flagOnline = 1 << 0
	flagIburst = 1 << 2
)

// addServer is the data of the command that adds a server with iburst and
// otherwise the values that chronyd uses where its configuration says nothing.
func addServer(name string) ([]byte, error) {
	if name == "" || len(name) >= nameSize || strings.Contains(name, "\x00") {
		return nil, fmt.Errorf("%q cannot be the name of a source", name)
	}
	const typeServer = 1
	data := binary.BigEndian.AppendUint32(nil, typeServer)
	var text [nameSize]byte
	copy(text[:], name)
	data = append(data, text[:]...)
	for _, value := range []int32{
		123, 6, 10, // port, shortest and longest poll interval (log2 s)
		100, 0, 8, 0, // no packets ahead of a poll, any stratum, poll target, version of NTP
		4, -1, -1, // sources of a pool, least and most samples
		0, 4460, // no key, NTS port
	} {
		data = binary.BigEndian.AppendUint32(data, uint32(value))
	}
	for _, value := range []float64{3, 0, 10, 0, 1, 0} { // greatest delay: s, ratio, deviation ratio; least delay; asymmetry; offset
		data = binary.BigEndian.AppendUint32(data, encodeFloat(value))
	}
	for _, value := range []uint32{flagOnline | flagIburst, 0, 0} { // flags, filter length, set of certificates
		data = binary.BigEndian.AppendUint32(data, value)
	}
	data = binary.BigEndian.AppendUint32(data, encodeFloat(0)) // quantile of the delay
	return binary.BigEndian.AppendUint32(data, 100_000), nil   // polls without an answer until another address is looked for
}

// encodeFloat writes a number as chrony does: 7 bits of exponent and 25 bits of
// coefficient, both signed; the value is coefficient x 2^(exponent-25).
func encodeFloat(x float64) uint32 {
	const coefficientBits = 25
	if x == 0 {
		return 0
	}
	fraction, exponent := math.Frexp(x) // x = fraction x 2^exponent, fraction in [0.5, 1)
	exponent++                          // one bit is the sign
	coefficient := int32(math.Round(math.Ldexp(fraction, coefficientBits-1)))
	return uint32(exponent)<<coefficientBits | uint32(coefficient)&(1<<coefficientBits-1)
}
