package netprobe

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var (
	ownMAC   = MAC{0x52, 0x54, 0, 0, 0, 0x0a}
	otherMAC = MAC{0x52, 0x54, 0, 0, 0, 0x0b}
	own4     = netip.MustParseAddr("192.0.2.10")
	other4   = netip.MustParseAddr("192.0.2.11")
	own6     = netip.MustParseAddr("fe80::5054:ff:fe00:a")
	other6   = netip.MustParseAddr("2001:db8::1:b")
)

func unhex(text string) []byte {
	raw, err := hex.DecodeString(strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(text))
	if err != nil {
		panic(err) // constants of this file
	}
	return raw
}

// Packets as other programs send them.
var (
	arpWho = unhex("0001 0800 06 04 0001 52540000000a c000020a 000000000000 c000020b")
	arpIs  = unhex("0001 0800 06 04 0002 52540000000b c000020b 52540000000a c000020a")
	// solicited, override, with the target's link-layer address.
	advertisement = unhex(`60000000 0020 3a ff 20010db8 00000000 00000000 0001000b fe800000 00000000 505400ff fe00000a
		88 00 19db 60000000 20010db8 00000000 00000000 0001000b 02 01 52540000000b`)
	solicitation = unhex(`60000000 0020 3a ff fe800000 00000000 505400ff fe00000a ff020000 00000000 00000001 ff01000b
		87 00 ab90 00000000 20010db8 00000000 00000000 0001000b 01 01 52540000000a`)
)

func TestRequestsAreWhatTheStandardsSay(t *testing.T) {
	g := NewWithT(t)
	g.Expect(newARPRequest(ownMAC, own4, other4)).To(Equal(arpWho))
	packet, to := newSolicitation(ownMAC, own6, other6)
	g.Expect(hex.EncodeToString(packet)).To(Equal(hex.EncodeToString(solicitation)))
	g.Expect(to).To(Equal(MAC{0x33, 0x33, 0xff, 1, 0, 0x0b}))
}

// with returns the packet with other bytes from the offset on.
func with(packet []byte, offset int, bytes ...byte) []byte {
	out := append([]byte(nil), packet...)
	copy(out[offset:], bytes)
	return out
}

func TestARPPackets(t *testing.T) {
	for name, tc := range map[string]struct {
		packet []byte
		want   answer
		ok     bool
	}{
		"reply":              {arpIs, answer{other4, otherMAC, true}, true},
		"reply with padding": {append(append([]byte(nil), arpIs...), make([]byte, 18)...), answer{other4, otherMAC, true}, true},
		"request":            {arpWho, answer{own4, ownMAC, false}, true},
		"probe of a host that has no address yet": {with(arpWho, arpSenderIP, 0, 0, 0, 0), answer{}, false},
		"too short":            {arpIs[:27], answer{}, false},
		"other hardware":       {with(arpIs, 1, 6), answer{}, false},
		"other protocol":       {with(arpIs, 2, 0x86, 0xdd), answer{}, false},
		"other address length": {with(arpIs, 4, 8), answer{}, false},
		"reverse ARP":          {with(arpIs, 7, 4), answer{}, false},
		"owner is a group":     {with(arpIs, arpSenderMAC, 0x01), answer{}, false},
		"owner is nobody":      {with(arpIs, arpSenderMAC, 0, 0, 0, 0, 0, 0), answer{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, ok := parseARP(tc.packet)
			g.Expect(ok).To(Equal(tc.ok))
			if ok {
				g.Expect(got).To(Equal(tc.want))
			}
		})
	}
}

func TestAdvertisements(t *testing.T) {
	sender := MAC{2, 0, 0, 0, 0, 9}
	// summed puts the right checksum into a changed packet.
	summed := func(packet []byte) []byte {
		packet = with(packet, ipv6Header+2, 0, 0)
		sum := ^pseudoSum(packet)
		return with(packet, ipv6Header+2, byte(sum>>8), byte(sum))
	}
	without := summed(with(advertisement[:ipv6Header+ndpLength], 5, ndpLength))
	for name, tc := range map[string]struct {
		packet []byte
		owner  MAC
		ok     bool
	}{
		"with option":             {advertisement, otherMAC, true},
		"without option":          {without, sender, true},
		"another option":          {summed(with(advertisement, ipv6Header+ndpLength, 14)), sender, true},
		"trailing padding":        {append(append([]byte(nil), advertisement...), 0, 0), otherMAC, true},
		"damaged":                 {with(advertisement, ipv6Header+ndpTarget, 0xff), MAC{}, false},
		"forwarded by a router":   {summed(with(advertisement, ipv6HopLimit, 254)), MAC{}, false},
		"a solicitation":          {solicitation, MAC{}, false},
		"odd code":                {summed(with(advertisement, ipv6Header+1, 1)), MAC{}, false},
		"option without length":   {summed(with(advertisement, ipv6Header+ndpLength+1, 0)), MAC{}, false},
		"option past the end":     {summed(with(advertisement, ipv6Header+ndpLength+1, 2)), MAC{}, false},
		"longer than the packet":  {with(advertisement, 4, 1), MAC{}, false},
		"shorter than an answer":  {with(advertisement, 4, 0, 8), MAC{}, false},
		"truncated":               {advertisement[:ipv6Header+ndpLength-1], MAC{}, false},
		"owner is a group":        {summed(with(advertisement, len(advertisement)-6, 0x33, 0x33)), MAC{}, false},
		"target is a group":       {summed(with(advertisement, ipv6Header+ndpTarget, 0xff, 0x02)), MAC{}, false},
		"IPv4 where IPv6 must be": {with(advertisement, 0, 0x45), MAC{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, ok := parseAdvertisement(tc.packet, sender)
			g.Expect(ok).To(Equal(tc.ok))
			if ok {
				g.Expect(got).To(Equal(answer{other6, tc.owner, true}))
			}
		})
	}
}

func TestEchoes(t *testing.T) {
	g := NewWithT(t)
	for _, target := range []netip.Addr{other4, other6} {
		c := newCodec(Echo{Target: target, Payload: 100})
		request := c.request(7)
		g.Expect(request).To(HaveLen(108))
		kind := byte(0) // echo reply
		if target.Is6() {
			kind = 129
		}
		reply := with(request, 0, kind)
		sequence, ok := c.parse(reply)
		g.Expect(ok).To(BeTrue())
		g.Expect(sequence).To(Equal(uint16(7)))
		for name, bad := range map[string][]byte{
			"the request": request, "shorter": reply[:107], "of another program": with(reply, 4, ^reply[4]), "of another run": with(reply, 8, ^reply[8]),
			"empty": nil, "odd code": with(reply, 1, 1),
		} {
			_, ok := c.parse(bad)
			g.Expect(ok).To(BeFalse(), name)
		}
	}
	request := newCodec(Echo{Target: other4}).request(0)
	g.Expect(request).To(HaveLen(64), "56 bytes of payload")
	g.Expect(fold(onesSum(0, request))).To(Equal(uint16(0xffff)), "the checksum is right")
	g.Expect(newCodec(Echo{Target: other4, Payload: 1 << 20}).request(0)).To(HaveLen(1<<16-headroom), "no larger than a packet can be")
}

// FuzzPackets: nothing that a hostile neighbour sends makes a parser crash, or
// believe in an owner that no host can be.
func FuzzPackets(f *testing.F) {
	for _, seed := range [][]byte{arpWho, arpIs, advertisement, solicitation, nil, newCodec(Echo{Target: other4}).request(1)} {
		f.Add(seed)
	}
	codec := newCodec(Echo{Target: other6})
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, parse := range []func([]byte) (answer, bool){
			parseARP,
			func(b []byte) (answer, bool) { return parseAdvertisement(b, otherMAC) },
		} {
			if a, ok := parse(packet); ok && (!a.owner.usable() || !a.address.IsValid() || a.address.IsMulticast() && a.address.Is6()) {
				t.Errorf("an owner that cannot be: %+v", a)
			}
		}
		if _, ok := codec.parse(packet); ok {
			t.Errorf("an answer to a request that was never sent: %x", packet)
		}
	})
}
