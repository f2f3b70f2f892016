package network_test

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/needs"
)

const static = ", ipv4: {enabled: true, address: [{ip: 192.0.2.7, prefix-length: 24}]}, ipv6: {enabled: true, address: [{ip: \"2001:db8::7\", prefix-length: 64}]}"

func routed(route string) string { return ethernet(static) + "routes: {config: [{" + route + "}]}\n" }

func ruled(rule string) string { return ethernet(static) + "route-rules: {config: [{" + rule + "}]}\n" }

func resolved(config string) string {
	return ethernet(static) + "dns-resolver: {config: {" + config + "}}\n"
}

// halfway are documents that NetworkManager refuses whole connections of, or drops a
// setting of without a word: the host would come up without its network, or with another.
func halfway() []refusal {
	return []refusal{
		{"a name that means all cards", "interfaces: [{name: all}]", "interfaces[0].name"},
		{"a name that means new cards", "interfaces: [{name: default}]", "interfaces[0].name"},
		{"a name that the kernel needs itself", "interfaces: [{name: bonding_masters}]", "interfaces[0].name"},
		{"a name of a folder", "interfaces: [{name: ..}]", "interfaces[0].name"},
		{"a name whose keyfile is hidden", "interfaces: [{name: .eth0}]", "interfaces[0].name"},
		{"a pattern as a name", "interfaces: [{name: \"eth%d\"}]", "interfaces[0].name"},
		{"a name of more than 15 bytes", "interfaces: [{name: éééééééé}]", "interfaces[0].name"},
		{"a name with a control character", "interfaces: [{name: \"a\\x7fb\"}]", "interfaces[0].name"},
		{"a hidden name of a card by its address", `interfaces: [{name: .nic, identifier: mac-address, mac-address: "52:54:00:00:00:01"}]`, "interfaces[0].name"},
		{"a file name that is too long", `interfaces: [{name: ` + strings.Repeat("é", 120) + `, identifier: mac-address, mac-address: "52:54:00:00:00:01"}]`, "interfaces[0].name"},
		{"a profile name with a tab", ethernet(`, profile-name: "\ta"`), "interfaces[0].profile-name"},
		{"an address of no station", ethernet(`, mac-address: "01:00:5e:00:00:01"`), "interfaces[0].mac-address"},
		{"the address of nobody", ethernet(`, identifier: mac-address, mac-address: "00:00:00:00:00:00"`), "interfaces[0].mac-address"},
		{"the unspecified address", ethernet(", ipv4: {enabled: true, address: [{ip: 0.0.0.0, prefix-length: 24}]}"), "interfaces[0].ipv4.address[0].ip"},
		{"an address of a group", ethernet(", ipv6: {enabled: true, address: [{ip: \"ff02::5\", prefix-length: 64}]}"), "interfaces[0].ipv6.address[0].ip"},
		{"an address within an address", ethernet(", ipv6: {enabled: true, address: [{ip: \"::ffff:192.0.2.7\", prefix-length: 120}]}"), "interfaces[0].ipv6.address[0].ip"},
		{"a token with private addresses", ethernet(`, ipv6: {enabled: true, dhcp: true, autoconf: true, token: "::5", addr-gen-mode: stable-privacy}`), "interfaces[0].ipv6.token"},
		{"a server of one link", resolved(`server: ["fe80::1%eth0"]`), "dns-resolver.config.server[0]"},
		{"two search entries in one", resolved(`server: [192.0.2.1], search: ["a.example;b.example"]`), "dns-resolver.config.search[0]"},
		{"a search entry with a blank", resolved(`server: [192.0.2.1], search: [a.example, "b c"]`), "dns-resolver.config.search[1]"},
		{"a next hop of one link", routed(`destination: "2001:db8:1::/64", next-hop-address: "fe80::1%eth0", next-hop-interface: eth0`), "routes.config[0].next-hop-address"},
		{"a source of one link", routed(`destination: "2001:db8:1::/64", source: "fe80::1%eth0", next-hop-interface: eth0`), "routes.config[0].source"},
		{"the weight of a route to nowhere", routed("destination: 198.51.100.0/24, route-type: blackhole, weight: 3"), "routes.config[0].weight"},
		{"a rule for a prefix that IPv4 has not", ruled("family: ipv4, suppress-prefix-length: 64, route-table: 5"), "route-rules.config[0].suppress-prefix-length"},
		{"a rule for one link", ruled(`ip-from: "fe80::1%eth0", route-table: 5`), "route-rules.config[0].ip-from"},
		{"updelay of links that nobody watches", bondOf("active-backup", "miimon: 0, updelay: 5"), ".options.updelay: needs miimon"},
		{"downdelay of links that nobody watches", bondOf("802.3ad", "miimon: 0, downdelay: 5"), ".options.downdelay: needs miimon"},
		{"a group address that is none of the link's", bridge(`group-addr: "02:80:C2:00:00:04"`), "interfaces[0].bridge.options.group-addr"},
		{"a group address of others", bridge(`group-addr: "01:80:C2:00:00:01"`), "interfaces[0].bridge.options.group-addr"},
		{"a hash of an odd size", bridge("hash-max: 1000"), "interfaces[0].bridge.options.hash-max"},
		{"forwarding of what no bridge forwards", bridge("group-forward-mask: 7"), "interfaces[0].bridge.options.group-forward-mask"},
		{"two words for one thing", bridge("group-forward-mask: 8, group-fwd-mask: 16"), "interfaces[0].bridge.options.group-fwd-mask"},
		{"a tag within a range", bridgePort("vlan: {mode: trunk, trunk-tags: [{id: 8}, {id-range: {min: 7, max: 9}}]}"), "trunk-tags[1]"},
		{"ranges that overlap", bridgePort("vlan: {mode: trunk, trunk-tags: [{id-range: {min: 7, max: 9}}, {id-range: {min: 9, max: 12}}]}"), "trunk-tags[1]: VLAN 9 appears twice"},
		{"a native VLAN within a range", bridgePort("vlan: {mode: trunk, enable-native: true, tag: 8, trunk-tags: [{id-range: {min: 7, max: 9}}]}"), "vlan.tag: 8 is among"},
		{"a feature under two names", ethernet(", ethtool: {feature: {rx-gro: false, gro: true}}"), "interfaces[0].ethtool.feature.rx-gro"},
		{"a function that the card will not have", ethernet(", ethernet: {sr-iov: {total-vfs: 2, vfs: [{id: 2}]}}"), "vfs[0].id"},
		{"the priority of no VLAN", ethernet(", ethernet: {sr-iov: {total-vfs: 2, vfs: [{id: 0, qos: 3}]}}"), "vfs[0].qos"},
		{"a VLAN of a function that there is not", ethernet(", ethernet: {sr-iov: {total-vfs: 2, vfs: [{id: 0, vlan-id: 4095}]}}"), "vfs[0].vlan-id"},
		{"an MTU that NetworkManager cuts", "interfaces: [{name: ib0, type: infiniband, mtu: 65535, infiniband: {mode: connected}}]", "interfaces[0].mtu: want a number from 68 to 65520"},
		{
			"another address for an InfiniBand card",
			`interfaces: [{name: ib0, type: infiniband, mac-address: "02:00:00:00:00:01", infiniband: {mode: connected}}]`,
			"interfaces[0].mac-address: an InfiniBand card keeps its address",
		},
		{"an InfiniBand card that hears everybody", "interfaces: [{name: ib0, type: infiniband, accept-all-mac-addresses: true, infiniband: {mode: connected}}]", "interfaces[0].accept-all-mac-addresses"},
		{"a number that readers take for two", "interfaces:\n- {name: v, type: vlan, vlan: {base-iface: eth0, id: 0100}}", "document: line 2: 0100 is 64 to some readers and 100 to others"},
		{"a number in groups", ethernet(", mtu: 1_500"), "document: line 2: 1_500 is"},
		{"a name that is a boolean", "interfaces: [{name: on}]", "interfaces[0].name: want text"},
		{"a base that is a boolean", "interfaces: [{name: v, type: vlan, vlan: {base-iface: yes, id: 5}}]", "interfaces[0].vlan.base-iface: want text"},
		{"a next hop that is a boolean", routed("destination: 198.51.100.0/24, next-hop-interface: off"), "routes.config[0].next-hop-interface: want text"},
		{"a port that is a boolean", "interfaces: [{name: c, type: linux-bridge, bridge: {port: [{name: on}]}}]", "interfaces[0].bridge.port[0].name: want text"},
		{"a member twice", "interfaces: [{name: eth0, mtu: 1400, mtu: 9000}]", "document"},
		{"a second document", ethernet("") + "---\n" + ethernet(static), "document: has more than one YAML document"},
		{"a port that is to be gone", "interfaces: [{name: eth0, state: absent}, {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}]", "interfaces[0].state"},
		{"a port that is to be down", "interfaces: [{name: eth0, state: down}, {name: c, type: linux-bridge, bridge: {port: [{name: eth0}]}}]", "interfaces[0].state"},
		{"a VLAN on what is to be gone", "interfaces: [{name: eth0, state: absent}, {name: v, type: vlan, vlan: {base-iface: eth0, id: 5}}]", "interfaces[0].state"},
		{
			"a VLAN on a port that has the VLAN's bridge",
			"interfaces: [{name: v, type: vlan, vlan: {base-iface: c, id: 5}}, {name: c, type: linux-bridge, bridge: {port: [{name: v}]}}]",
			"interfaces[0]: v is below itself",
		},
		{"VLANs on each other", "interfaces: [{name: v, type: vlan, vlan: {base-iface: w, id: 5}}, {name: w, type: vlan, vlan: {base-iface: v, id: 6}}]", "interfaces[0]: v is below itself"},
		{
			"two names for one card",
			`interfaces: [{name: a, identifier: mac-address, mac-address: "52:54:00:00:00:0a"}, {name: b, identifier: mac-address, mac-address: "52:54:00:00:00:0A"}]`,
			"interfaces[1].mac-address: is that of a",
		},
		{
			"a VLAN with more than its card carries",
			"interfaces: [{name: eth0, mtu: 1500}, {name: v, type: vlan, mtu: 9000, vlan: {base-iface: eth0, id: 5}}]",
			"interfaces[1].mtu: is more than the 1500 of eth0",
		},
	}
}

func TestWhatWouldBeDoneHalfwayIsRefused(t *testing.T) {
	for _, c := range halfway() {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.Translate([]byte(c.document), nil)
			g.Expect(err).To(MatchError(network.ErrUnsupported))
			g.Expect(err).To(MatchError(ContainSubstring(c.path)))
		})
	}
}

// What looks like a mistake and is none: each has the lines that NetworkManager needs.
func TestWhatLooksLikeAMistake(t *testing.T) {
	tool := needs.Program(t, "nmcli", "network-manager")
	for name, tc := range map[string]struct{ document, file, want, without string }{
		"a route through nothing":             {routed("destination: 198.51.100.0/24, next-hop-address: 0.0.0.0, next-hop-interface: eth0"), "eth0", "route1=198.51.100.0/24,0.0.0.0,0\n", ""},
		"a blackhole through nothing":         {routed("destination: 198.51.100.0/24, next-hop-address: 0.0.0.0, route-type: blackhole"), "eth0", "route1_options=type=blackhole\n", ""},
		"a network that is written as a host": {routed("destination: 198.51.100.7/24, next-hop-address: 192.0.2.1, next-hop-interface: eth0"), "eth0", "route1=198.51.100.0/24,192.0.2.1,0\n", ""},
		"the largest table": {
			routed("destination: 198.51.100.0/24, next-hop-interface: eth0, table-id: 4294967295, metric: 4294967295"),
			"eth0", "route1=198.51.100.0/24,0.0.0.0,4294967295\nroute1_options=table=4294967295\n", "",
		},
		"a rule with a table and an action": {
			ruled("ip-from: 198.51.100.0/24, priority: 7, action: blackhole, route-table: 5"),
			"eth0", "routing-rule1=priority 7 from 198.51.100.0/24 table 5 type blackhole\n", "",
		},
		"packets without a mark":                {ruled("family: ipv4, priority: 7, fwmark: 0, route-table: 5"), "eth0", "routing-rule1=priority 7 from 0.0.0.0/0 fwmark 0 table 5\n", ""},
		"options and domains twice":             {resolved("server: [192.0.2.1], options: [rotate, rotate], search: [a, b, a]"), "eth0", "dns-search=a;b;\ndns-options=rotate;\n", ""},
		"the largest table of a VRF":            {"interfaces: [{name: v, type: vrf, vrf: {route-table-id: 4294967295}}]", "v", "table=4294967295\n", ""},
		"a description of two lines":            {ethernet(`, description: "uplink\n\tto rack 7"`), "eth0", "id=eth0\n", "rack"},
		"a quoted number with a zero":           {`interfaces: [{name: v, type: vlan, vlan: {base-iface: eth0, id: "0100"}}]`, "v", "id=100\n", ""},
		"a name that is a number":               {"interfaces: [{name: 7}]", "7", "interface-name=7\n", ""},
		"a server twice":                        {resolved("server: [192.0.2.1, 192.0.2.1]"), "eth0", "dns=192.0.2.1;\n", ""},
		"a domain that is no search entry":      {resolved("server: [192.0.2.1], search: [\"~a.example\", _b.example., \"~.\"]"), "eth0", "dns-search=~a.example;_b.example.;~.;\n", ""},
		"both words for one thing":              {bridge("group-forward-mask: 8, group-fwd-mask: 8"), "c", "group-forward-mask=8\n", "group-forward-mask=8\ngroup"},
		"pause frames as nmstatectl shows them": {ethernet(", ethtool: {pause: {autoneg: true, rx: true, tx: false}}"), "eth0", "pause-autoneg=true\n", "pause-rx"},
		"a feature under two names":             {ethernet(", ethtool: {feature: {rx-gro: true, gro: true}}"), "eth0", "[ethtool]\nfeature-gro=true\n\n", ""},
		"an InfiniBand card as nmstatectl shows it": {
			`interfaces: [{name: ib0, type: infiniband, mac-address: "80:00:02:08:FE:80:00:00:00:00:00:00:F4:52:14:03:00:7B:CB:A1", ` +
				`accept-all-mac-addresses: false, infiniband: {mode: connected}}]`,
			"ib0", "[infiniband]\ntransport-mode=connected\n", "accept-all",
		},
		"a bond that is to be gone": {
			"interfaces: [{name: b, type: bond, state: absent, link-aggregation: {mode: \"1\", port: [eth0]}}, {name: eth0, ipv4: {enabled: true, dhcp: true}}]",
			"eth0", "method=auto", "master=",
		},
		"a bond that is to be down": {
			"interfaces: [{name: b, type: bond, state: down, link-aggregation: {mode: \"1\", port: [eth0]}}]",
			"eth0", "autoconnect=false\nautoconnect-priority=1\nmaster=b\n", "",
		},
		"a VLAN with all that its card carries": {"interfaces: [{name: eth0, mtu: 9000}, {name: v, type: vlan, mtu: 9000, vlan: {base-iface: eth0, id: 5}}]", "v", "mtu=9000\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := network.Translate([]byte(tc.document), nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(s.Keyfiles[tc.file+".nmconnection"])).To(ContainSubstring(tc.want))
			whatNetworkManagerMakes(t, g, tool, s.Keyfiles)
			if tc.without != "" {
				g.Expect(string(s.Keyfiles[tc.file+".nmconnection"])).NotTo(ContainSubstring(tc.without))
			}
		})
	}
}

// A loopback with what nmstatectl shows of it is no mistake: nmstatectl may take it back.
func TestALoopbackAsNmstatectlShowsIt(t *testing.T) {
	_, err := network.Translate([]byte(`interfaces: [{name: lo, type: loopback, state: up, identifier: name, mac-address: "00:00:00:00:00:00", mtu: 65536}]`), nil)
	NewWithT(t).Expect(network.LeftToNmstatectl(err)).To(BeTrue(), "%v", err)
}

// TestNetworkDataThatWouldBeDoneHalfway is the same for network_data.json.
func TestNetworkDataThatWouldBeDoneHalfway(t *testing.T) {
	const card = `{"id":"%s","type":"phy","ethernet_mac_address":"52:54:00:00:00:0a"}`
	two := func(more string) string { return `{"links":[` + fmt.Sprintf(card, "a") + `,` + more + `]}` }
	net := func(fields string) string {
		return `{"links":[` + fmt.Sprintf(card, "a") + `],"networks":[{"link":"a",` + fields + `}]}`
	}
	for name, tc := range map[string]struct{ document, path string }{
		"two links of one card":     {two(fmt.Sprintf(card, "b")), "links[1].ethernet_mac_address: is that of a"},
		"a VLAN on no link":         {two(`{"id":"v","type":"vlan","vlan_link":"c","vlan_id":5}`), "links[1].vlan_link: c is not among the links"},
		"a hidden keyfile":          {two(`{"id":".b","type":"phy","ethernet_mac_address":"52:54:00:00:00:0b"}`), "links[1].id"},
		"an address of one link":    {net(`"type":"ipv6","ip_address":"fe80::5%a","netmask":"64"`), "networks[0].ip_address"},
		"a gateway of one link":     {net(`"type":"ipv6","ip_address":"2001:db8::5/64","gateway":"fe80::1%a"`), "networks[0].gateway"},
		"a next hop of one link":    {net(`"type":"ipv6","ip_address":"2001:db8::5/64","routes":[{"network":"::","netmask":"::","gateway":"fe80::1%a"}]`), "networks[0].routes[0].gateway"},
		"a name server of one link": {net(`"type":"ipv6","ip_address":"2001:db8::5/64","services":[{"type":"dns","address":"fe80::1%a"}]`), "networks[0].services[0].address"},
		"two lengths of an address": {net(`"type":"ipv4","ip_address":"192.0.2.5/24","netmask":"255.255.0.0"`), "networks[0].netmask: is /16, and ip_address says /24"},
		"two lengths of a route": {
			net(`"type":"ipv4","ip_address":"192.0.2.5/24","routes":[{"network":"198.51.100.0/24","netmask":"255.255.0.0","gateway":"192.0.2.1"}]`),
			"networks[0].routes[0].netmask: is /16, and network says /24",
		},
		"a route on one link":         {net(`"type":"ipv6","ip_address":"2001:db8::5/64","routes":[{"network":"fe80::%a","netmask":"64","gateway":"fe80::1"}]`), "networks[0].routes[0].network"},
		"a netmask of no address":     {net(`"type":"ipv4","ip_address":"192.0.2.5/24","netmask":"red"`), "networks[0].netmask"},
		"a search entry with a blank": {net(`"type":"ipv4_dhcp","dns_search":["a b"]`), "networks[0].dns_search[0]"},
		"a member twice":              {net(`"type":"ipv4_dhcp","type":"ipv4"`), "document"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.TranslateNetworkData([]byte(tc.document))
			g.Expect(err).To(MatchError(network.ErrUnsupported))
			g.Expect(err).To(MatchError(ContainSubstring(tc.path)))
		})
	}
}

// A length that is said twice is no mistake.
func TestALengthTwice(t *testing.T) {
	g := NewWithT(t)
	s, err := network.TranslateNetworkData([]byte(`{"links":[{"id":"a","type":"phy","ethernet_mac_address":"52:54:00:00:00:0a"}],"networks":[{"link":"a","type":"ipv4",
		"ip_address":"192.0.2.5/24","netmask":"255.255.255.0","routes":[{"network":"198.51.100.0/24","netmask":"24","gateway":"192.0.2.1"},
		{"network":"203.0.113.0","netmask":"255.255.255.0","gateway":"0.0.0.0"}]}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(s.Keyfiles["a.nmconnection"])).To(And(ContainSubstring("address1=192.0.2.5/24\n"), ContainSubstring("route1=198.51.100.0/24,192.0.2.1\nroute2=203.0.113.0/24\n")))
}

// An IPv6 host learns its gateway from routers only: the type that does not say what they
// announce listens to them, as cloud-init does.
func TestDHCPOfIPv6ListensToRouters(t *testing.T) {
	g := NewWithT(t)
	s, err := network.TranslateNetworkData([]byte(`{"links":[{"id":"a","type":"phy","ethernet_mac_address":"52:54:00:00:00:0a"}],"networks":[{"link":"a","type":"ipv6_dhcp"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(s.Keyfiles["a.nmconnection"])).To(ContainSubstring("[ipv6]\nmethod=auto\n"))
}
