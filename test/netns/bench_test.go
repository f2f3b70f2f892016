package netns_test

import (
	"encoding/json"
	"testing"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/netns"
)

// BenchmarkSweep22 times the step free-network-addresses for a /22, of whose
// addresses a quarter is in use. It reports the seconds as arp22_s.
func BenchmarkSweep22(b *testing.B) {
	network := netns.Topology{Hosts: []netns.HostSpec{
		{Name: "a", NICs: []netns.NIC{{Name: "eth0", Segment: "s", Addresses: []string{"10.0.0.10/22"}}}},
		{
			Name: "b", NICs: []netns.NIC{{Name: "eth0", Segment: "s", Addresses: []string{"10.0.0.11/22"}}},
			Routes: []netns.Route{{To: "10.0.2.0/24", Dev: "lo", Local: true}},
		},
	}}.Build(b)
	for b.Loop() {
		result := network.Host("a").Step(netns.Options{}, wire.StepTypeFreeNetworkAddresses, `["10.0.0.0/22"]`)
		var networks wire.FreeNetworksAddresses
		if err := json.Unmarshal([]byte(result.Output), &networks); err != nil {
			b.Fatal(err, result.Error)
		}
		if free := len(networks[0].FreeAddresses); free != 1024-256-2 {
			b.Fatalf("%d addresses are free, want 766", free)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "arp22_s")
}
