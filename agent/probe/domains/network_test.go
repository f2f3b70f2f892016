package domains_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/netns"
)

func TestMain(m *testing.M) { netns.Main(m, nil) }

// The step as it runs on a machine: by its own resolver configuration, over a
// network with a DNS server that is good, slow, lying, or not there.
func TestDNSServersOfANetwork(t *testing.T) {
	const (
		good = `{"domain_name":"api.c.example","ipv4_addresses":["192.0.2.5","192.0.2.9"],"ipv6_addresses":["2001:db8::5"],"cnames":["api.c.example."]}`
		none = `{"domain_name":"api.c.example","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null}`
		late = `{"domain_name":"slow.example","ipv4_addresses":[],"ipv6_addresses":[],"cnames":null}`
	)
	for name, tc := range map[string]struct {
		server answer
		want   string
	}{
		"good":      {zone, good + "," + late},
		"slow":      {slow, good + "," + late},
		"lying":     {forged, good + "," + late},
		"not there": {nil, none + "," + late},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			network := netns.Topology{Hosts: []netns.HostSpec{
				{Name: "machine", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.10/24"}}}},
				{Name: "server", NICs: []netns.NIC{{Name: "eth0", Segment: "lan", Addresses: []string{"192.0.2.53/24"}}}},
			}}.Build(t)
			if tc.server != nil {
				var conn net.PacketConn
				g.Expect(network.Host("server").Do(func() (err error) {
					conn, err = new(net.ListenConfig).ListenPacket(t.Context(), "udp", "192.0.2.53:53")
					return err
				})).To(Succeed())
				t.Cleanup(func() { _ = conn.Close() })
				go serve(conn, tc.server)
			}
			resolv := filepath.Join(t.TempDir(), "resolv.conf")
			g.Expect(os.WriteFile(resolv, []byte("nameserver 192.0.2.53\n"), 0o644)).To(Succeed())
			result := network.Host("machine").Step(netns.Options{ResolvConf: resolv}, wire.StepTypeDomainResolution,
				`{"domains":[{"domain_name":"api.c.example"},{"domain_name":"slow.example"}]}`)
			g.Expect(result.Exit).To(BeZero())
			g.Expect(result.Error).To(BeEmpty())
			g.Expect(result.Output).To(MatchJSON(`{"resolutions":[` + tc.want + `]}`))
		})
	}
}
