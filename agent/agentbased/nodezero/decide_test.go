package nodezero

import (
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
)

func at(addr, nic string) Address {
	return Address{Addr: netip.MustParseAddr(addr), Interface: nic, MAC: "52:54:00:00:00:01"}
}

func TestDecisions(t *testing.T) {
	tentative, duplicate := at("2001:db8::1", "eth0"), at("2001:db8::1", "eth0")
	tentative.Tentative, duplicate.Duplicate = true, true
	for _, tc := range []struct {
		name  string
		want  string
		have  []Address
		now   moment
		match string
		id    messages.ID
		args  []string
	}{
		{"it has the address", "192.0.2.1", []Address{at("192.0.2.1", "eth1"), at("192.0.2.9", "eth0")}, moment{}, "192.0.2.1", messages.RendezvousIs, []string{"192.0.2.1", "eth1"}},
		{"one of two", "192.0.2.1,2001:db8::1", []Address{at("2001:db8::1", "bond0")}, moment{settled: true}, "2001:db8::1", messages.RendezvousIs, []string{"2001:db8::1", "bond0"}},
		{"another, for now", "192.0.2.1", []Address{at("192.0.2.9", "eth0")}, moment{}, "", messages.RendezvousExpected, []string{"192.0.2.1", "192.0.2.9 on eth0"}},
		{
			"others, for good", "192.0.2.1",
			[]Address{at("192.0.2.9", "eth0"), at("2001:db8::9", "eth1")},
			moment{settled: true},
			"", messages.RendezvousIsNot,
			[]string{"192.0.2.1", "192.0.2.9 on eth0, 2001:db8::9 on eth1"},
		},
		{"only addresses of a link", "192.0.2.1", []Address{at("127.0.0.1", "lo"), at("fe80::1", "eth0")}, moment{settled: true}, "", messages.RendezvousNoAddress, []string{"192.0.2.1"}},
		{"the kernel still asks", "2001:db8::1", []Address{tentative}, moment{}, "", messages.RendezvousExpected, []string{"2001:db8::1", "2001:db8::1 on eth0 (not usable yet)"}},
		{
			"the kernel still asks, for long", "2001:db8::1",
			[]Address{tentative, at("192.0.2.9", "eth1")},
			moment{settled: true},
			"", messages.RendezvousExpected,
			[]string{"2001:db8::1", "192.0.2.9 on eth1, 2001:db8::1 on eth0 (not usable yet)"},
		},
		{"the kernel asks about another", "192.0.2.1", []Address{tentative}, moment{settled: true}, "", messages.RendezvousIsNot, []string{"192.0.2.1", "2001:db8::1 on eth0 (not usable yet)"}},
		{"another host is the hub", "192.0.2.1", []Address{at("192.0.2.1", "eth0")}, moment{settled: true, another: true}, "", messages.RendezvousDuplicate, []string{"192.0.2.1", "eth0"}},
		{"it asks, and another host is the hub", "2001:db8::1", []Address{tentative}, moment{settled: true, another: true}, "", messages.RendezvousDuplicate, []string{"2001:db8::1", "eth0"}},
		{"somebody else has it too", "2001:db8::1", []Address{duplicate}, moment{settled: true}, "", messages.RendezvousDuplicate, []string{"2001:db8::1", "eth0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			want, err := places.Rendezvous(tc.want)
			g.Expect(err).NotTo(HaveOccurred())
			v := decide(want, tc.have, tc.now)
			g.Expect(v.message).To(Equal(tc.id))
			g.Expect(v.args).To(Equal(tc.args))
			if tc.match == "" {
				g.Expect(v.match).To(BeNil())
				return
			}
			g.Expect(v.match.Addr.String()).To(Equal(tc.match))
		})
	}
}

func TestTheOwnAddressOfAHostThatJoins(t *testing.T) {
	leads := at("2001:db8::9", "eth1")
	leads.Default = true
	tentative := at("192.0.2.1", "eth0")
	tentative.Tentative = true
	g := NewWithT(t)
	g.Expect(own(nil)).To(BeNil())
	g.Expect(own([]Address{tentative, at("fe80::1", "eth0")})).To(BeNil())
	g.Expect(own([]Address{at("2001:db8::1", "eth0"), at("192.0.2.2", "eth0")}).Addr.String()).To(Equal("192.0.2.2"))
	g.Expect(own([]Address{at("192.0.2.2", "eth0"), leads}).Addr.String()).To(Equal("2001:db8::9"), "the interface of the default route")
}
