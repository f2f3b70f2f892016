// Package ipmi asks the machine's own BMC for its addresses, over IPMI's system
// interface. Requests and layouts are those of the IPMI 2.0 specification,
// sections 22.24 (Get Channel Info) and 23.2 (LAN configuration parameters).
package ipmi

import (
	"context"
	"net/netip"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// What is told when there is no address.
const (
	NoAddress   = "0.0.0.0"
	NoAddressV6 = "::/0"
)

// Requests of IPMI.
const (
	netFnApp          = 0x06
	netFnTransport    = 0x0c
	getChannelInfo    = 0x42
	getLANConfig      = 0x02
	lastChannel       = 12
	mediumLAN         = 0x04 // 802.3
	mediumOtherLAN    = 0x06
	paramAddress      = 3
	paramEnables      = 51
	paramStatus       = 55 // how many static and dynamic addresses there are
	paramStaticV6     = 56
	paramDynamicV6    = 59
	familiesIPv4Only  = 0
	addressActive     = 0
	staticEnabled     = 0x80
	sourceSLAAC       = 1
	sourceDHCP        = 2
	maxAddresses      = 16 // of each kind, per channel
	completionSuccess = 0
)

// Addresses are the BMC's.
type Addresses struct {
	// IPv4 is [NoAddress], IPv6 [NoAddressV6] when there is none.
	IPv4, IPv6 string
	// Answered tells that a BMC is there, so that this need not be asked again.
	Answered bool
}

// Read asks channels 1 to 12. A machine without BMC costs one failed request.
func Read(ctx context.Context, m source.Machine) (Addresses, error) {
	out := Addresses{IPv4: NoAddress, IPv6: NoAddressV6}
	s := session{ctx: ctx, kernel: m.Kernel}
	for channel := byte(1); channel <= lastChannel && s.err == nil && ctx.Err() == nil; channel++ {
		if !s.isLAN(channel) {
			continue
		}
		if out.IPv4 == NoAddress {
			if addr, ok := s.address4(channel); ok {
				out.IPv4 = addr.String()
			}
		}
		if out.IPv6 == NoAddressV6 {
			if addr, ok := s.address6(channel); ok {
				out.IPv6 = addr.String()
			}
		}
		if out.IPv4 != NoAddress && out.IPv6 != NoAddressV6 {
			break
		}
	}
	out.Answered = s.answered && s.err == nil && ctx.Err() == nil
	return out, s.err
}

// session sends requests; the first failure of the way to the BMC ends it.
type session struct {
	ctx      context.Context //nolint:containedctx // lives for one call of Read
	kernel   source.Kernel
	answered bool
	err      error
}

// ask returns the data behind a good completion code; nil for every refusal.
func (s *session) ask(netFn, command byte, data ...byte) []byte {
	if s.err != nil {
		return nil
	}
	reply, err := s.kernel.IPMI(s.ctx, source.IPMIRequest{NetFn: netFn, Command: command, Data: data})
	if err != nil {
		s.err = err
		return nil
	}
	s.answered = true
	if len(reply) < 1 || reply[0] != completionSuccess {
		return nil
	}
	return reply[1:]
}

// isLAN asks for the channel's medium.
func (s *session) isLAN(channel byte) bool {
	reply := s.ask(netFnApp, getChannelInfo, channel)
	if len(reply) < 2 {
		return false
	}
	medium := reply[1] & 0x7f
	return medium == mediumLAN || medium == mediumOtherLAN
}

// lan reads a parameter without its revision byte.
func (s *session) lan(channel, parameter, set byte) []byte {
	reply := s.ask(netFnTransport, getLANConfig, channel, parameter, set, 0)
	if len(reply) < 1 {
		return nil
	}
	return reply[1:]
}

func (s *session) address4(channel byte) (netip.Addr, bool) {
	raw := s.lan(channel, paramAddress, 0)
	if len(raw) < 4 {
		return netip.Addr{}, false
	}
	addr := netip.AddrFrom4([4]byte(raw[:4]))
	return addr, !addr.IsUnspecified()
}

// address6 is the first active address, dynamic ones first.
func (s *session) address6(channel byte) (netip.Addr, bool) {
	enables := s.lan(channel, paramEnables, 0)
	if len(enables) < 1 || enables[0] == familiesIPv4Only || enables[0] > 2 {
		return netip.Addr{}, false
	}
	counts := s.lan(channel, paramStatus, 0)
	if len(counts) < 2 {
		return netip.Addr{}, false
	}
	for _, kind := range []struct {
		parameter, count byte
		usable           func(source byte) bool
	}{
		{paramDynamicV6, counts[1], func(source byte) bool { return source&0x0f == sourceSLAAC || source&0x0f == sourceDHCP }},
		{paramStaticV6, counts[0], func(source byte) bool { return source&staticEnabled != 0 }},
	} {
		for set := byte(0); set < min(kind.count, maxAddresses); set++ {
			if addr, ok := parseAddress6(s.lan(channel, kind.parameter, set), kind.usable); ok {
				return addr, true
			}
		}
	}
	return netip.Addr{}, false
}

// parseAddress6 reads set selector, source, address, prefix length, status.
func parseAddress6(raw []byte, usable func(source byte) bool) (netip.Addr, bool) {
	if len(raw) < 20 || !usable(raw[1]) || raw[19] != addressActive {
		return netip.Addr{}, false
	}
	addr := netip.AddrFrom16([16]byte(raw[2:18]))
	return addr, !addr.IsUnspecified()
}
