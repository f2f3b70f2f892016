package freeaddresses

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestPlan(t *testing.T) {
	own := []netprobe.Own{
		{NIC: "eth0", Address: netip.MustParsePrefix("192.0.2.10/24")},
		{NIC: "eth0", Address: netip.MustParsePrefix("192.0.2.11/24")},
		{NIC: "eth1", Address: netip.MustParsePrefix("192.0.2.12/24")},
		{NIC: "eth2", Address: netip.MustParsePrefix("10.0.0.1/16")},
		{NIC: "eth3", Address: netip.MustParsePrefix("2001:db8::1/64")},
	}
	type scan struct {
		network string
		count   int
		nics    []string
	}
	large := wire.FreeAddressesRequest{}
	for _, n := range []string{"0", "4", "8", "12", "16", "20", "24", "28", "32"} {
		large = append(large, "10.0."+n+".0/22")
	}
	for name, tc := range map[string]struct {
		networks wire.FreeAddressesRequest
		want     []scan
	}{
		"own network, on each NIC once": {wire.FreeAddressesRequest{"192.0.2.0/24"}, []scan{{"192.0.2.0/24", 256, []string{"eth0", "eth1"}}}},
		"part of an own network":        {wire.FreeAddressesRequest{"10.0.64.0/22"}, []scan{{"10.0.64.0/22", 1024, []string{"eth2"}}}},
		"larger than the own network":   {wire.FreeAddressesRequest{"192.0.2.0/23"}, nil},
		"network of others":             {wire.FreeAddressesRequest{"198.51.100.0/24", "192.0.2.0/28"}, []scan{{"192.0.2.0/28", 16, []string{"eth0", "eth1"}}}},
		"no more than 8,000 in all": {large, []scan{
			{"10.0.0.0/22", 1024, []string{"eth2"}},
			{"10.0.4.0/22", 1024, []string{"eth2"}},
			{"10.0.8.0/22", 1024, []string{"eth2"}},
			{"10.0.12.0/22", 1024, []string{"eth2"}},
			{"10.0.16.0/22", 1024, []string{"eth2"}},
			{"10.0.20.0/22", 1024, []string{"eth2"}},
			{"10.0.24.0/22", 1024, []string{"eth2"}},
			{"10.0.28.0/22", 832, []string{"eth2"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var got []scan
			for _, j := range plan(own, tc.networks) {
				s := scan{network: j.network.String(), count: len(j.addresses)}
				for _, o := range j.through {
					s.nics = append(s.nics, o.NIC)
				}
				g.Expect(j.taken).To(HaveKey(netip.MustParseAddr("192.0.2.12")), "own addresses are taken")
				g.Expect(len(j.addresses)).To(BeNumerically("<=", netprobe.SweepSize))
				got = append(got, s)
			}
			g.Expect(got).To(Equal(tc.want))
		})
	}
}

func TestASecondScanSaysNothing(t *testing.T) {
	g := NewWithT(t)
	started, release := make(chan struct{}), make(chan struct{})
	env := probe.Env{Interfaces: func(context.Context) ([]wire.Interface, error) {
		close(started)
		<-release
		return nil, errors.New("no netlink")
	}}
	first := make(chan string)
	go func() { first <- Check.Runner(env).Run(t.Context(), []string{`["192.0.2.0/24"]`}).Error }()
	<-started
	second := Check.Runner(probe.Env{}).Run(t.Context(), []string{`["192.0.2.0/24"]`})
	g.Expect(second.Silent).To(BeTrue(), "nothing is sent while the first one runs")
	close(release)
	g.Expect(<-first).To(Equal("own interfaces: no netlink"))
}
