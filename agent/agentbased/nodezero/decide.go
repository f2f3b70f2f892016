// Package nodezero finds out whether this host is the rendezvous host: the one with an
// address that the image names, which runs the hub for the time of the installation. It
// hears of addresses from the kernel as they come and go. [Program] is the program, decide
// the decision; what differs between a host and a test is [Network].
package nodezero

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
)

// Address is one address of this host.
type Address struct {
	Addr netip.Addr
	// Interface has it, with the hardware address MAC.
	Interface, MAC string
	// Tentative addresses are not usable yet: the kernel still asks whether somebody
	// else has them. Duplicate ones it has found elsewhere.
	Tentative, Duplicate bool
	// Default tells that the interface has a default route.
	Default bool
}

// usable are the addresses that other hosts could use, in a stable order.
func usable(all []Address) []Address {
	all = slices.Clone(all)
	all = slices.DeleteFunc(all, func(a Address) bool {
		return a.Addr.IsLoopback() || a.Addr.IsLinkLocalUnicast() || a.Addr.IsMulticast() || a.Addr.IsUnspecified()
	})
	slices.SortStableFunc(all, func(a, b Address) int { return a.Addr.Compare(b.Addr) })
	return all
}

// verdict is what the addresses of a moment mean.
type verdict struct {
	// match is the host's address that is the rendezvous host's; nil for none.
	match *Address
	// message and args say it to people. While it waits, the host may still get more.
	message messages.ID
	args    []string
}

// moment is what a decision depends on besides addresses.
type moment struct {
	// settled says that addresses have not changed for long enough.
	settled bool
	// another says that the hub of another host has answered this host.
	another bool
}

// decide compares addresses with those that are expected. An expected one that the kernel
// still asks about is waited for, however long that takes: this may well be the rendezvous
// host. One that comes when another host is the hub already makes no second hub.
func decide(want []netip.Addr, all []Address, now moment) verdict {
	have, asked := usable(all), false
	for _, w := range want {
		for i, a := range have {
			switch {
			case a.Addr != w:
			case a.Duplicate || now.another:
				return verdict{message: messages.RendezvousDuplicate, args: []string{a.Addr.String(), a.Interface}}
			case a.Tentative:
				asked = true
			default:
				return verdict{match: &have[i], message: messages.RendezvousIs, args: []string{a.Addr.String(), a.Interface}}
			}
		}
	}
	id := messages.RendezvousExpected
	switch {
	case len(have) == 0:
		return verdict{message: messages.RendezvousNoAddress, args: []string{list(want)}}
	case now.settled && !asked:
		id = messages.RendezvousIsNot
	}
	return verdict{message: id, args: []string{list(want), inWords(have)}}
}

// own chooses the address by which a host that is its own rendezvous host is known: one on
// the interface of the default route if there is one, IPv4 before IPv6. nil for none yet.
func own(all []Address) *Address {
	have := slices.DeleteFunc(usable(all), func(a Address) bool { return a.Tentative || a.Duplicate })
	if len(have) == 0 {
		return nil
	}
	if i := slices.IndexFunc(have, func(a Address) bool { return a.Default }); i >= 0 {
		return &have[i]
	}
	return &have[0]
}

func list(addresses []netip.Addr) string {
	words := make([]string, len(addresses))
	for i, a := range addresses {
		words[i] = a.String()
	}
	return strings.Join(words, ", ")
}

// inWords lists addresses with their interfaces.
func inWords(all []Address) string {
	words := make([]string, len(all))
	for i, a := range all {
		words[i] = a.Addr.String() + " on " + a.Interface
		switch {
		case a.Duplicate:
			words[i] += " (another host has it too)"
		case a.Tentative:
			words[i] += " (not usable yet)"
		}
	}
	return strings.Join(words, ", ")
}
