package connectivity

import (
	"net/netip"
	"testing"

	"github.com/ironflow/ironflow/hub/wire"
)

// BenchmarkManyAddresses: what a hub may send in one argument must not take the
// time that is for the network.
func BenchmarkManyAddresses(b *testing.B) {
	address := netip.MustParseAddr("10.0.0.0")
	var list []string
	for range 200_000 {
		address = address.Next()
		list = append(list, address.String())
	}
	hosts := wire.ConnectivityCheckParams{{HostID: id1, Nics: []wire.ConnectivityCheckNIC{{IPAddresses: list}}}}
	for b.Loop() {
		newFindings(makePlan(own, hosts)).report(hosts)
	}
}
