package network_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// TestNamesThatYAMLTakesForNumbers: a name is what is written, as the kernel has it. YAML
// makes 1000 of 1e3, 16 of 0x10 and 7.1 of 7.10.
func TestNamesThatYAMLTakesForNumbers(t *testing.T) {
	const port = "{name: 1e3, type: ethernet, state: up}"
	for name, tc := range map[string]struct{ document, file, want string }{
		"a card":                  {"interfaces: [" + port + "]", "1e3", "interface-name=1e3\n"},
		"in hexadecimal":          {"interfaces: [{name: 0x10, type: ethernet}]", "0x10", "interface-name=0x10\n"},
		"a VLAN":                  {"interfaces: [" + port + ", {name: 7.10, type: vlan, vlan: {base-iface: 1e3, id: 10}}]", "7.10", "interface-name=7.10\n"},
		"what a VLAN lies on":     {"interfaces: [" + port + ", {name: v, type: vlan, vlan: {base-iface: 1e3, id: 10}}]", "v", "parent=1e3\n"},
		"the port of a bond":      {"interfaces: [" + port + ", {name: b, type: bond, link-aggregation: {mode: 1, port: [1e3]}}]", "1e3", "master=b\n"},
		"of one as it was":        {"interfaces: [" + port + ", {name: b, type: bond, link-aggregation: {mode: 1, slaves: [1e3]}}]", "1e3", "master=b\n"},
		"a bond":                  {"interfaces: [{name: eth0}, {name: 2e1, type: bond, link-aggregation: {mode: 1, port: [eth0]}}]", "eth0", "master=2e1\n"},
		"the port of a bridge":    {"interfaces: [" + port + ", {name: c, type: linux-bridge, bridge: {port: [{name: 1e3}]}}]", "1e3", "master=c\n"},
		"a route's card":          {"interfaces: [{name: 1e3, ipv4: {enabled: true, dhcp: true}}]\nroutes: {config: [{destination: 192.0.2.0/24, next-hop-interface: 1e3}]}", "1e3", "route1=192.0.2.0/24"},
		"in a list of its own":    {"interfaces:\n- name: 1e3\n  mtu: 9000\n", "1e3", "mtu=9000\n"},
		"by an alias":             {"interfaces: [{name: &n 1e3}, {name: v, type: vlan, vlan: {base-iface: *n, id: 10}}]", "v", "parent=1e3\n"},
		"merged":                  {"interfaces: [" + port + ", {name: v, type: vlan, vlan: {<<: {base-iface: 1e3}, id: 10}}]", "v", "parent=1e3\n"},
		"merged from several":     {"interfaces: [" + port + ", {name: v, type: vlan, vlan: {<<: [{id: 10}, {base-iface: 1e3}]}}]", "v", "parent=1e3\n"},
		"a name of people's":      {"interfaces: [{name: eth0, profile-name: 1e3}]", "eth0", "id=1e3\n"},
		"one that is text anyway": {"interfaces: [{name: '1e3'}]", "1e3", "interface-name=1e3\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := network.Translate([]byte(tc.document), nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(s.Keyfiles[tc.file+".nmconnection"])).To(ContainSubstring(tc.want))
		})
	}
}

// TestLogicalNamesThatYAMLTakesForNumbers: the map of addresses has them as text.
func TestLogicalNamesThatYAMLTakesForNumbers(t *testing.T) {
	g := NewWithT(t)
	cards := map[string]string{"1e3": "52:54:00:00:00:01", "2e3": "52:54:00:00:00:02"}
	s, err := network.Translate([]byte("interfaces: [{name: 1e3}, {name: b, type: bond, link-aggregation: {mode: 1, port: [1e3, 2e3]}}]"), cards)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Cards).To(And(HaveKeyWithValue("1e3", "52:54:00:00:00:01"), HaveKeyWithValue("2e3", "52:54:00:00:00:02")))
}

// TestNetworkDataWithNamesLikeNumbers: ids of links are handles, which others repeat.
func TestNetworkDataWithNamesLikeNumbers(t *testing.T) {
	g := NewWithT(t)
	s, err := network.TranslateNetworkData([]byte(`
links:
- {id: 1e3, type: phy, ethernet_mac_address: "52:54:00:00:00:01"}
- {id: 0x10, type: bond, bond_mode: 1, bond_links: [1e3]}
- {id: 3e1, type: vlan, vlan_link: 0x10, vlan_id: 30}
networks:
- {id: n, link: 3e1, type: ipv4_dhcp}
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(s.Keyfiles["1e3.nmconnection"])).To(ContainSubstring("master=0x10\n"))
	g.Expect(string(s.Keyfiles["3e1.nmconnection"])).To(And(ContainSubstring("parent=0x10\n"), ContainSubstring("interface-name=3e1\n"), ContainSubstring("method=auto")))
}

// TestNmstatectlGetsNamesAsText: it refuses a number where a name belongs.
func TestNmstatectlGetsNamesAsText(t *testing.T) {
	const document = "interfaces: [{name: 1e3, mtu: 9000}, {name: vx, type: vxlan, vxlan: {id: 7, base-iface: 1e3, remote: 192.0.2.1}}]"
	for name, cards := range map[string]map[string]string{"a host's own": nil, "with a map of addresses": {"1e3": "52:54:00:00:00:01"}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := network.Live{Nmstatectl: true}.Translate([]byte(document), cards)
			g.Expect(err).NotTo(HaveOccurred())
			var got struct{ Interfaces []map[string]any }
			g.Expect(json.Unmarshal([]byte(s.Nmstate), &got)).To(Succeed())
			g.Expect(got.Interfaces[0]).To(And(HaveKeyWithValue("name", "1e3"), HaveKeyWithValue("mtu", 9000.0)))
			g.Expect(got.Interfaces[1]["vxlan"]).To(And(HaveKeyWithValue("base-iface", "1e3"), HaveKeyWithValue("id", 7.0)))
		})
	}
	s, err := network.Live{Nmstatectl: true}.Translate([]byte(strings.ReplaceAll(document, "1e3", "eth0")), nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(s.Nmstate).To(Equal(strings.ReplaceAll(document, "1e3", "eth0")), "as it was written")
}
