package network_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// many is a document of as many interfaces, each with a route of its own and as many
// rules: what a Secret has room for.
func many(n int) string {
	var interfaces, routes, rules strings.Builder
	for i := range n {
		fmt.Fprintf(&interfaces, "- {name: d%d, type: dummy, ipv4: {enabled: true, dhcp: true}}\n", i)
		fmt.Fprintf(&routes, "  - {destination: 10.%d.%d.0/24, next-hop-interface: d%d, table-id: %d}\n", i/256, i%256, i, i+1)
		fmt.Fprintf(&rules, "  - {ip-from: 10.%d.%d.0/24, route-table: %d}\n", i/256, i%256, i+1)
	}
	return "interfaces:\n" + interfaces.String() + "routes:\n  config:\n" + routes.String() + "route-rules:\n  config:\n" + rules.String()
}

// TestADocumentAsLargeAsASecret takes as many steps as it has lines: with steps for each
// of its interfaces in each of its routes, it would be hours until the hub answers again.
func TestADocumentAsLargeAsASecret(t *testing.T) {
	g := NewWithT(t)
	const n = 5000
	s, err := network.Translate([]byte(many(n)), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Keyfiles).To(HaveLen(n))
	g.Expect(string(s.Keyfiles["d4999.nmconnection"])).
		To(And(ContainSubstring("route1=10.19.135.0/24,0.0.0.0,0\nroute1_options=table=5000\n"), ContainSubstring("routing-rule1=priority 34999 from 10.19.135.0/24 table 5000\n")))
}

func TestDocumentsThatWouldFillTheMemory(t *testing.T) {
	for name, tc := range map[string]struct{ document, want string }{
		"larger than a Secret": {"interfaces: []\n#" + strings.Repeat("x", 1<<20), "document: has 1048592 bytes"},
		"a long text, again":   {"a: &a " + strings.Repeat("x", 500000) + "\nb: [" + strings.Repeat("*a,", 5000) + "]", "document: has more than 4194304 bytes once its aliases are replaced"},
		"lists of lists of lists": {
			"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n" +
				"e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nh: [*g,*g,*g,*g,*g,*g,*g,*g]",
			"document: has more than",
		},
		"a list within itself":      {"a: &a [*a]", "document: "},
		"lists without an end":      {strings.Repeat("[", 100000), "document: not valid YAML"},
		"mappings without an end":   {strings.Repeat("{a: ", 20000), "document: not valid YAML"},
		"an alias that is harmless": {"interfaces: [{name: a, ipv4: &off {enabled: false}}, {name: b, ipv4: *off}]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for _, translate := range []func([]byte) (network.Settings, error){
				func(raw []byte) (network.Settings, error) { return network.Translate(raw, nil) }, network.TranslateNetworkData,
			} {
				_, err := translate([]byte(tc.document))
				if tc.want == "" {
					g.Expect(err).NotTo(HaveOccurred())
					break
				}
				g.Expect(err).To(MatchError(network.ErrUnsupported))
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			}
		})
	}
}

// What is said of a document has to go into a condition, which has room for 32 KiB.
func TestManyMistakesAreAFewWords(t *testing.T) {
	g := NewWithT(t)
	_, err := network.Translate([]byte("interfaces: ["+strings.Repeat("{name: a b},", 3000)+"]"), nil)
	g.Expect(err).To(MatchError(ContainSubstring("interfaces[0].name")))
	g.Expect(err).To(MatchError(ContainSubstring("and 2980 more")))
	g.Expect(len(err.Error())).To(BeNumerically("<", 8000))
	_, err = network.Translate([]byte("interfaces: [{name: "+strings.Repeat("x", 500000)+"}]"), nil)
	g.Expect(err).To(MatchError(ContainSubstring("interfaces[0].name")))
	g.Expect(len(err.Error())).To(BeNumerically("<", 1000))
	_, err = network.Translate([]byte("interfaces: [{name: a, "+strings.Repeat("x", 500000)+": 1}]"), nil)
	g.Expect(len(err.Error())).To(BeNumerically("<", 1000))
}
