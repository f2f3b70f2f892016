package network_test

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// TestPortsThatNobodyDeclaresAreEthernet: `nmstatectl gc`, which wrote these fleets' keyfiles so
// far, takes an undeclared port of a bond or bridge for an ethernet card
// (nmstate.io/features/gen_conf.html). The first document is of a public BareMetalHost.
func TestPortsThatNobodyDeclaresAreEthernet(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		ports    []string
	}{
		"bond": {`interfaces:
- name: bond0
  type: bond
  state: up
  ipv4:
    address: [{ip: 192.168.32.67, prefix-length: 24}]
    enabled: true
  link-aggregation:
    mode: 802.3ad
    port: [eno12399, eno12409]
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.168.32.1, next-hop-interface: bond0}
`, []string{"eno12399", "eno12409"}},
		"bridge": {`interfaces:
- name: br0
  type: linux-bridge
  state: up
  ipv4: {enabled: true, dhcp: true}
  bridge: {port: [{name: eno1}]}
`, []string{"eno1"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.Keyfiles([]byte(tc.document))
			g.Expect(err).NotTo(HaveOccurred())
			for _, port := range tc.ports {
				g.Expect(files).To(HaveKey(port + ".nmconnection"))
				g.Expect(string(files[port+".nmconnection"])).To(And(ContainSubstring("type=ethernet"), ContainSubstring("interface-name="+port), ContainSubstring("master=")))
			}
		})
	}
}

// TestLinkSettingsOfACard: public NMStateConfigs (ZTP) have them on nearly every card;
// NetworkManager has keys for all three.
func TestLinkSettingsOfACard(t *testing.T) {
	g := NewWithT(t)
	files, err := network.Keyfiles([]byte(`interfaces:
- name: ens3
  type: ethernet
  state: up
  ethernet: {auto-negotiation: true, duplex: full, speed: 10000}
  ipv4: {enabled: true, dhcp: true}
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(files["ens3.nmconnection"])).To(And(ContainSubstring("auto-negotiate=true"), ContainSubstring("speed=10000"), ContainSubstring("duplex=full")))
}

// TestDefaultsOfNmstateThatAreWritten: -1 and 0 are nmstate's own words for "the default".
func TestDefaultsOfNmstateThatAreWritten(t *testing.T) {
	g := NewWithT(t)
	_, err := network.Keyfiles([]byte(`interfaces:
- {name: eno1, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.0.0.1, next-hop-interface: eno1, metric: -1, table-id: 0}]}
`))
	g.Expect(err).NotTo(HaveOccurred())
}

// TestAFamilyThatIsSwitchedOffIsOff: people switch a family off and leave the rest of it;
// nmstatectl takes such a document, and its enabled has the last word.
func TestAFamilyThatIsSwitchedOffIsOff(t *testing.T) {
	g := NewWithT(t)
	files, err := network.Keyfiles([]byte(`interfaces:
- name: eno1
  type: ethernet
  ipv4: {enabled: true, address: [{ip: 10.0.0.5, prefix-length: 24}]}
  ipv6: {enabled: false, dhcp: true, autoconf: true, address: [{ip: "2001:db8::5", prefix-length: 64}]}
- {name: eno2, type: ethernet, ipv4: {enabled: false, dhcp: true}}
- {name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eno3]}}
- {name: eno3, type: ethernet, ipv4: {enabled: "false", dhcp: true}}
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(files["eno1.nmconnection"])).To(And(ContainSubstring("[ipv4]\nmethod=manual\n"), ContainSubstring("[ipv6]\nmethod=disabled\n"), Not(ContainSubstring("2001:db8"))))
	g.Expect(string(files["eno2.nmconnection"])).To(ContainSubstring("[ipv4]\nmethod=disabled\n"))
	g.Expect(string(files["eno3.nmconnection"])).To(ContainSubstring("master=bond0\n"))
	_, err = network.Keyfiles([]byte(`interfaces: [{name: eno1, ipv4: {enabled: false, address: [{ip: 10.0.0.500, prefix-length: 24}]}}]`))
	g.Expect(err).To(MatchError(ContainSubstring("interfaces[0].ipv4.address[0].ip")), "a mistake is one")
}

// TestBridgeOfNmstatesOwnExample: examples/linuxbrige_eth1_up.yml of nmstate; NetworkManager has
// bridge.multicast-snooping.
func TestBridgeOfNmstatesOwnExample(t *testing.T) {
	g := NewWithT(t)
	files, err := network.Keyfiles([]byte(`interfaces:
- {name: eth1, type: ethernet, state: up}
- name: linux-br0
  type: linux-bridge
  state: up
  bridge:
    options:
      group-forward-mask: 0
      mac-ageing-time: 300
      multicast-snooping: true
      stp: {enabled: true, forward-delay: 15, hello-time: 2, max-age: 20, priority: 32768}
    port: [{name: eth1, stp-hairpin-mode: false, stp-path-cost: 100, stp-priority: 32}]
`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(files["linux-br0.nmconnection"])).To(ContainSubstring("multicast-snooping=true"))
}

// TestLinkIdsThatAreNoInterfaceNames: the id of a link in network_data.json is a
// handle. Cards are found by their MAC address, so that any id will do. The first is
// the example of Ironic's own page on DHCP-less booting, the second is of
// canonical/cloud-init#6534.
func TestLinkIdsThatAreNoInterfaceNames(t *testing.T) {
	for name, document := range map[string]string{
		"Ironic's example": `{"links":[{"id":"port-92750f6c-60a9-4897-9cd1-090c5f361e18","type":"phy","ethernet_mac_address":"52:54:00:d3:6a:71"}],
			"networks":[{"id":"network0","type":"ipv4","link":"port-92750f6c-60a9-4897-9cd1-090c5f361e18",
				"ip_address":"192.168.122.42","netmask":"255.255.255.0","network_id":"network0","routes":[]}],"services":[]}`,
		"a bond of cards with long ids": `{"links":[{"id":"link-nic-slot1-port1","type":"phy","ethernet_mac_address":"00:00:00:00:00:01"},
			{"id":"link-nic-slot1-port2","type":"phy","ethernet_mac_address":"00:00:00:00:00:02"},
			{"id":"bond0","type":"bond","bond_links":["link-nic-slot1-port1","link-nic-slot1-port2"],"bond_mode":"802.3ad"}],
			"networks":[{"id":"n","type":"ipv4_dhcp","link":"bond0"}],"services":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			files, err := network.FromNetworkData([]byte(document))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			NewWithT(t).Expect(joined(files)).To(ContainSubstring("mac-address="))
		})
	}
}

// TestBondsWithLongIdsHaveNames: a bond is made by us, so its name has to be one, and
// whatever lies on it has to find it.
func TestBondsWithLongIdsHaveNames(t *testing.T) {
	g := NewWithT(t)
	files, err := network.FromNetworkData([]byte(`{"links":[{"id":"card-in-slot-number-1","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"},
		{"id":"the-bond-of-the-host","type":"bond","bond_links":["card-in-slot-number-1"],"bond_mode":"active-backup"},
		{"id":"storage-of-the-host","type":"vlan","vlan_link":"the-bond-of-the-host","vlan_id":7}],"networks":[{"link":"storage-of-the-host","type":"ipv4_dhcp"}]}`))
	g.Expect(err).NotTo(HaveOccurred())
	name := regexp.MustCompile(`interface-name=(bond-[0-9a-f]{8})\n`).FindStringSubmatch(string(files["the-bond-of-the-host.nmconnection"]))
	g.Expect(name).To(HaveLen(2))
	g.Expect(string(files["card-in-slot-number-1.nmconnection"])).To(ContainSubstring("master=" + name[1] + "\n"))
	g.Expect(string(files["storage-of-the-host.nmconnection"])).To(And(
		ContainSubstring("parent="+name[1]+"\n"), MatchRegexp(`interface-name=vlan-[0-9a-f]{8}\n`)))
}

// TestSpellingsOfNmstate: what nmstate takes, too, and what is already done by itself.
func TestSpellingsOfNmstate(t *testing.T) {
	bond := func(settings string) string { return "interfaces: [{name: b, type: bond, " + settings + "}]" }
	card := func(family string) string { return "interfaces: [{name: eth0, " + family + "}]" }
	const vlan = "interfaces:\n- {name: eth0, type: ethernet}\n- {name: eth0.404, type: vlan, vlan: {base-iface: eth0, id: 404, reorder-headers: true}}\n"
	for name, tc := range map[string]struct{ document, file, want string }{
		"reorder-headers, as in Red Hat's example": {vlan, "eth0.404", "flags=1\n"},
		"headers that stay as they are":            {strings.Replace(vlan, "headers: true", "headers: false", 1), "eth0.404", "flags=0\n"},
		"booleans in quotes":                       {`interfaces: [{name: eth0, ipv4: {enabled: "true", dhcp: "yes", auto-dns: "false"}}]`, "eth0", "ignore-auto-dns=true\n"},
		"numbers in quotes":                        {`interfaces: [{name: eth0, mtu: "9000", ipv4: {enabled: true, address: [{ip: 192.0.2.7, prefix-length: "24"}]}}]`, "eth0", "mtu=9000\n"},
		"results of nmstatectl show": {
			`interfaces: [{name: eth0, min-mtu: 68, max-mtu: 9216, permanent-mac-address: "52:54:00:00:00:01", lldp: {enabled: true, neighbors: [[]]}}]`,
			"eth0", "lldp=1\n",
		},
		"the other name of a bond's ports":         {bond("link-aggregation: {mode: active-backup, ports: [eno1]}"), "eno1", "master=b\n"},
		"the other name of a bond's settings":      {bond("bond: {mode: 802.3ad, port: [eno1]}"), "eno1", "master=b\n"},
		"the other name of LACP":                   {bond("link-aggregation: {mode: lacp, port: [eno1], options: {lacp_rate: fast}}"), "b", "mode=802.3ad\n"},
		"the kernel's name of a rule's condition":  {ruled("family: ipv4, priority: 5, suppress_prefixlength: 0, route-table: 254"), "eth0", "suppress_prefixlength 0"},
		"booleans as numbers":                      {card("ipv4: {enabled: 1, dhcp: 1, auto-dns: 0}"), "eth0", "method=auto\nignore-auto-dns=true\n"},
		"an identity of IPv4 in capitals":          {card("ipv4: {enabled: true, dhcp: true, dhcp-client-id: LL}"), "eth0", "dhcp-client-id=mac\n"},
		"another one":                              {card("ipv4: {enabled: true, dhcp: true, dhcp-client-id: IAID+DUID}"), "eth0", "dhcp-client-id=duid\n"},
		"an identity of IPv6 in capitals":          {card("ipv6: {enabled: true, dhcp: true, dhcp-duid: LLT}"), "eth0", "dhcp-duid=llt\n"},
		"how an address is made, in capitals":      {card("ipv6: {enabled: true, dhcp: true, autoconf: true, addr-gen-mode: STABLE-PRIVACY}"), "eth0", "addr-gen-mode=stable-privacy\n"},
		"a route whose MTU is fixed":               {routed("destination: 198.51.100.0/24, next-hop-interface: eth0, mtu: 1400, lock-mtu: true"), "eth0", "route1_options=lock-mtu=true,mtu=1400\n"},
		"a window, which counts only when locked":  {routed("destination: 198.51.100.0/24, next-hop-interface: eth0, cwnd: 20"), "eth0", "route1_options=cwnd=20,lock-cwnd=true\n"},
		"ports that others may add to":             {`interfaces: [{name: c, type: linux-bridge, bridge: {allow-extra-ports: true, port: [{name: eno1}]}}]`, "eno1", "master=c\n"},
		"an address that has no end":               {card("ipv4: {enabled: true, address: [{ip: 192.0.2.7, prefix-length: 24, valid-lft: forever}]}"), "eth0", "address1=192.0.2.7/24\n"},
		"the default metric of what DHCP gives":    {card("ipv4: {enabled: true, dhcp: true, auto-route-metric: -1}"), "eth0", "[ipv4]\nmethod=auto\nmay-fail=true\n"},
		"a link's own address, of another machine": {card("ipv6: {enabled: true, address: [{ip: \"fe80::5054:ff:fe00:1\", prefix-length: 64}]}"), "eth0", "[ipv6]\nmethod=link-local\nmay-fail"},
		"an absent route":                          {`{interfaces: [{name: eth0}], routes: {config: [{state: absent, next-hop-interface: eth0}]}}`, "eth0", "method=disabled\n"},
		"an absent rule":                           {`{interfaces: [{name: eth0}], route-rules: {config: [{state: absent, route-table: 5}]}}`, "eth0", "method=disabled\n"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.Keyfiles([]byte(tc.document))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(files[tc.file+".nmconnection"])).To(ContainSubstring(tc.want))
		})
	}
}

// TestShapesThatAreNotTranslated: what fleets write as well; left says whether
// nmstatectl may take it.
func TestShapesThatAreNotTranslated(t *testing.T) {
	for name, tc := range map[string]struct {
		document, path string
		left           bool
	}{
		"a bridge of Open vSwitch over a bond": {`interfaces:
- {name: bond0, type: bond, link-aggregation: {mode: 802.3ad, port: [eno1, eno2]}}
- {name: br-ex, type: ovs-bridge, bridge: {options: {stp: {enabled: false}}, port: [{name: bond0}, {name: br-ex-if}]}}
- {name: br-ex-if, type: ovs-interface, ipv4: {enabled: true, dhcp: true}}
`, "interfaces[1].type: \"ovs-bridge\": Open vSwitch is not there", false},
		"the map of networks to bridges": {"ovn: {bridge-mappings: [{localnet: physnet1, bridge: br-ex, state: present}]}", "ovn: Open vSwitch", false},
		"VXLAN":                          {"interfaces: [{name: eth1}, {name: vx7, type: vxlan, vxlan: {id: 7, base-iface: eth1, remote: 192.0.2.9, destination-port: 4789}}]", "interfaces[1].type", true},
		"MACVLAN":                        {"interfaces: [{name: m0, type: mac-vlan, mac-vlan: {base-iface: eth1, mode: bridge, promiscuous: true}}]", "interfaces[0].type", true},
		"veth":                           {"interfaces: [{name: v0, type: veth, veth: {peer: v1}}]", "interfaces[0].type", true},
		"MACsec":                         {"interfaces: [{name: m0, type: macsec, macsec: {encrypt: true, base-iface: eth1}}]", "interfaces[0].type", true},
		"loopback":                       {"interfaces: [{name: lo, type: loopback, ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 32}]}}]", "interfaces[0].type", true},
		"IPsec":                          {"interfaces: [{name: site, type: ipsec, libreswan: {right: 192.0.2.9}}]", "interfaces[0].type", true},
		"802.1X":                         {"interfaces: [{name: eth1, 802.1x: {identity: node, eap-methods: [tls]}}]", "interfaces[0].802.1x", true},
		"Multipath TCP":                  {"interfaces: [{name: eth1, mptcp: {address-flags: [signal]}}]", "interfaces[0].mptcp", true},
		"scripts of a connection":        {"interfaces: [{name: eth1, dispatch: {post-activation: echo}}]", "interfaces[0].dispatch", true},
		"channels of a driver":           {"interfaces: [{name: eth1, ethtool: {channels: {combined: 4}}}]", "interfaces[0].ethtool.channels", true},
		"an interface to leave alone":    {"interfaces: [{name: eth1, state: ignore}]", "interfaces[0].state", true},
		"a card by its place on the bus": {`interfaces: [{name: up, identifier: pci-address, pci-address: "0000:00:1f.6"}]`, "interfaces[0].identifier", true},
		"the weight of a bond's port": {
			"interfaces: [{name: b, type: bond, link-aggregation: {mode: active-backup, port: [eth1], ports-config: [{name: eth1, priority: 9}]}}]",
			"ports-config[0].priority", true,
		},
		"LACP that does not begin": {`interfaces: [{name: b, type: bond, link-aggregation: {mode: 802.3ad, port: [eth1], options: {lacp_active: "off"}}}]`, "options.lacp_active", true},
		"neighbours that a bond asks by IPv6": {`interfaces:
- {name: b, type: bond, link-aggregation: {mode: active-backup, port: [eth1], options: {arp_interval: 100, ns_ip6_target: ["2001:db8::1"]}}}
`, "options.ns_ip6_target", true},
		"the same under the bond's other name": {`interfaces:
- {name: b, type: bond, bond: {mode: 802.3ad, port: [eth1], options: {lacp_active: false}, ports-config: [{name: eth1, priority: 5}]}}
`, "bond.options.lacp_active", true},
		"an address for a bond that has a port's": {`interfaces:
- {name: b, type: bond, mac-address: "52:54:00:00:00:01", link-aggregation: {mode: active-backup, port: [eth1], options: {fail_over_mac: active}}}
`, "mac-address: fail_over_mac active", true},
		"the metric of a card's own network": {"interfaces: [{name: eth1, ipv4: {enabled: true, dhcp: true, prefix-route-metric: 50}}]", "ipv4.prefix-route-metric", true},
		"who has made an address":            {"interfaces: [{name: eth1, ipv4: {enabled: true, address: [{ip: 192.0.2.7, prefix-length: 24, protocol: kernel_lo}]}}]", "address[0].protocol", true},
		"forwarding":                         {"interfaces: [{name: eth1, ipv4: {enabled: true, dhcp: true, forwarding: true}}]", "ipv4.forwarding", true},
		"servers without addresses":          {"{interfaces: [{name: eth1}], dns-resolver: {config: {server: [192.0.2.53]}}}", "dns-resolver.config.server", true},
		"a policy instead of a document":     {"{capture: {a: b}, desiredState: {interfaces: []}}", "desiredState: not supported", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.Keyfiles([]byte(tc.document))
			g.Expect(err).To(MatchError(ContainSubstring(tc.path)))
			g.Expect(network.LeftToNmstatectl(err)).To(Equal(tc.left), "%v", err)
		})
	}
}
