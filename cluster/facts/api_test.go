package facts_test

import (
	"net/netip"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestWhereTheAPIIs: all by which a cluster's API is reached is known, in the spelling of certificates.
func TestWhereTheAPIIs(t *testing.T) {
	named := wire.Cluster{Name: "Edge", BaseDNSDomain: "example.com"}
	for name, tc := range map[string]struct {
		change func(*wire.Cluster)
		want   facts.API
	}{
		"nothing":    {func(c *wire.Cluster) { *c = wire.Cluster{} }, facts.API{}},
		"its domain": {func(*wire.Cluster) {}, facts.API{}},
		"a name of the site's": {func(c *wire.Cluster) { c.APIVIPDNSName = new("Balancer.example.com") }, facts.API{
			Names: []string{"balancer.example.com"},
		}},
		"an address as its name": {func(c *wire.Cluster) { c.APIVIPDNSName = new("192.0.2.9") }, facts.API{
			Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.9")},
		}},
		"virtual addresses": {func(c *wire.Cluster) {
			c.APIVIPs = []wire.APIVIP{{IP: "::ffff:192.0.2.9"}, {IP: "none"}, {IP: "2001:db8::9"}}
		}, facts.API{
			Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.9"), netip.MustParseAddr("2001:db8::9")},
		}},
		"services": {func(c *wire.Cluster) {
			c.ServiceNetworks = []wire.ServiceNetwork{{CIDR: "10.96.0.1/12"}, {CIDR: "none"}}
		}, facts.API{
			Services: []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12")},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := named
			tc.change(&c)
			if c.Name != "" {
				tc.want.Names = append([]string{"api.edge.example.com", "api-int.edge.example.com"}, tc.want.Names...)
			}
			g.Expect(facts.APIOf(&c)).To(Equal(tc.want))
		})
	}
}
