package netns_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/netns"
)

// there is how many of the hosts exist: a network of /21.
const there = 2048

// TestALargeClusterIsAskedInTime asks for 3,000 hosts on one segment, of which
// the last third is not there: more than the kernel can have in its table of
// neighbours.
func TestALargeClusterIsAskedInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	t.Parallel()
	g := NewWithT(t)
	network := netns.Topology{Hosts: []netns.HostSpec{
		{Name: "a", NICs: []netns.NIC{{Name: "eth0", Segment: "s", Addresses: []string{"10.0.0.1/16"}}}},
		{
			Name: "b", NICs: []netns.NIC{{Name: "eth0", Segment: "s", MAC: "52:54:00:00:00:0b", Addresses: []string{"10.0.0.2/16"}}},
			Routes: []netns.Route{{To: "10.0.8.0/21", Dev: "lo", Local: true}},
		},
	}}.Build(t)
	var hosts []string
	address := netip.MustParseAddr("10.0.8.0")
	for i := range 3000 {
		hosts = append(hosts, fmt.Sprintf(`{"host_id":"00000000-0000-4000-8000-%012d","nics":[{"name":"eth0","mac":"52:54:00:00:00:0b","ip_addresses":[%q]}]}`, i, address))
		address = address.Next()
	}
	start := time.Now()
	result := network.Host("a").Step(netns.Options{}, wire.StepTypeConnectivityCheck, "["+strings.Join(hosts, ",")+"]")
	t.Logf("3,000 hosts took %s", time.Since(start).Round(time.Millisecond))
	g.Expect(result.Exit).To(BeZero(), result.Error)
	var report wire.ConnectivityReport
	g.Expect(json.Unmarshal([]byte(result.Output), &report)).To(Succeed())
	g.Expect(report.RemoteHosts).To(HaveLen(3000))
	l2, l3 := 0, 0
	for i, host := range report.RemoteHosts {
		g.Expect(host.HostID).To(HaveSuffix(fmt.Sprintf("%012d", i)), "sorted")
		reachable := len(host.L3Connectivity) == 1 && host.L3Connectivity[0].Successful
		if i >= there {
			g.Expect(reachable || len(host.L2Connectivity) > 0).To(BeFalse(), "host %d is not there", i)
			continue
		}
		if reachable {
			l3++
		}
		if len(host.L2Connectivity) == 1 && host.L2Connectivity[0].Successful {
			l2++
		}
	}
	// A machine that is busy with other tests may miss a few answers.
	g.Expect(l3).To(BeNumerically(">", there*95/100))
	g.Expect(l2).To(BeNumerically(">", there*95/100))
}
