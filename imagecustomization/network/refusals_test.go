package network_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// refusal is a document that is refused, and what the error says at least.
type refusal struct{ name, document, path string }

func ethernet(more string) string { return "interfaces:\n- {name: eth0, type: ethernet" + more + "}\n" }

func bondOf(mode, options string) string {
	return fmt.Sprintf("interfaces: [{name: b, type: bond, link-aggregation: {mode: %s, options: {%s}}}]", mode, options)
}

func priorities(way, list string) string {
	return fmt.Sprintf("interfaces: [{name: v, type: vlan, vlan: {base-iface: eth0, id: 1, %s-qos-map: %s}}]", way, list)
}

func bridge(options string) string {
	return fmt.Sprintf("interfaces: [{name: c, type: linux-bridge, bridge: {options: {%s}}}]", options)
}

func bridgePort(options string) string {
	return ethernet("") + fmt.Sprintf("- {name: c, type: linux-bridge, bridge: {port: [{name: eth0, %s}]}}", options)
}

// refusals are the nmstate documents that are refused.
func refusals() []refusal {
	return []refusal{
		{"no YAML", "a: [", "document"},
		{"a list", "- a", "want a mapping"},
		{"unknown member", "colours: {}", "colours: not supported"},
		{"Open vSwitch", "ovs-db: {}", "ovs-db: Open vSwitch is not there"},
		{"Open vSwitch's networks", "ovn: {}", "ovn: Open vSwitch is not there"},
		{"Open vSwitch of an interface", ethernet(", ovs-db: {}"), "interfaces[0].ovs-db: Open vSwitch is not there"},
		{"hostname where there are keyfiles only", "hostname: {config: x}", "hostname.config: not supported here"},
		{"hostname", "hostname: {config: a_b}", "hostname.config: \"a_b\" is not a host name"},
		{"hostname is text", "hostname: x", "hostname: want a mapping"},
		{"interfaces is no list", "interfaces: {}", "interfaces: want a list"},
		{"no name", "interfaces: [{type: ethernet}]", "interfaces[0].name"},
		{"long name", "interfaces: [{name: abcdefghijklmnop, type: ethernet}]", "interfaces[0].name"},
		{"unknown type", "interfaces: [{name: a, type: team}]", "interfaces[0].type"},
		{"a bridge of Open vSwitch", "interfaces: [{name: a, type: ovs-bridge}]", `interfaces[0].type: "ovs-bridge": Open vSwitch is not there in the live system`},
		{"a type of nmstate's", "interfaces: [{name: a, type: vxlan, vxlan: {id: 7}}]", `interfaces[0].type: "vxlan" is not translated`},
		{"unknown state", ethernet(", state: sideways"), "interfaces[0].state"},
		{"twice", ethernet("") + "- {name: eth0, type: ethernet}", "interfaces[1]: interface eth0 appears twice"},
		{"speed without duplex", ethernet(", ethernet: {speed: 1000}"), "interfaces[0].ethernet.speed: needs a duplex"},
		{"duplex without speed", ethernet(", ethernet: {duplex: half}"), "interfaces[0].ethernet.duplex: needs a speed"},
		{"auto-negotiation", ethernet(", ethernet: {auto-negotiation: maybe}"), "interfaces[0].ethernet.auto-negotiation"},
		{"ethernet is a list", ethernet(", ethernet: []"), "interfaces[0].ethernet: want a mapping"},
		{"SR-IOV is a list", ethernet(", ethernet: {sr-iov: []}"), "interfaces[0].ethernet.sr-iov: want a mapping"},
		{"total-vfs", ethernet(", ethernet: {sr-iov: {total-vfs: many}}"), "interfaces[0].ethernet.sr-iov.total-vfs"},
		{"drivers-autoprobe", ethernet(", ethernet: {sr-iov: {drivers-autoprobe: 3}}"), "interfaces[0].ethernet.sr-iov.drivers-autoprobe"},
		{"functions are a mapping", ethernet(", ethernet: {sr-iov: {vfs: {}}}"), "interfaces[0].ethernet.sr-iov.vfs: want a list"},
		{"function without id", ethernet(", ethernet: {sr-iov: {vfs: [{trust: true}]}}"), "interfaces[0].ethernet.sr-iov.vfs[0].id: is missing"},
		{"function twice", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1}, {id: 1}]}}"), "interfaces[0].ethernet.sr-iov.vfs[1].id: 1 appears twice"},
		{"spoof-check", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, spoof-check: 5}]}}"), "vfs[0].spoof-check"},
		{"trust", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, trust: 5}]}}"), "vfs[0].trust"},
		{"min-tx-rate", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, min-tx-rate: -5}]}}"), "vfs[0].min-tx-rate"},
		{"max-tx-rate", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, max-tx-rate: -5}]}}"), "vfs[0].max-tx-rate"},
		{"VLAN of a function", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, vlan-id: 4096}]}}"), "vfs[0].vlan-id"},
		{"priority of a function", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, vlan-id: 5, qos: 8}]}}"), "vfs[0].qos"},
		{"VLAN protocol of a function", ethernet(", ethernet: {sr-iov: {vfs: [{id: 1, vlan-id: 5, vlan-proto: x}]}}"), "vfs[0].vlan-proto"},
		{"LLDP", ethernet(", lldp: {enabled: maybe}"), "interfaces[0].lldp.enabled"},
		{"LLDP is text", ethernet(", lldp: on"), "interfaces[0].lldp: want a mapping"},
		{"accept-all-mac-addresses", ethernet(", accept-all-mac-addresses: some"), "interfaces[0].accept-all-mac-addresses"},
		{"wait-ip", ethernet(", wait-ip: ipv5"), "interfaces[0].wait-ip"},
		{"copy-mac-from of nobody", "interfaces: [{name: b, type: bond, copy-mac-from: eth7, link-aggregation: {mode: \"1\"}}]", "interfaces[0].copy-mac-from: eth7 is not among"},
		{
			"copy-mac-from of a card by name",
			ethernet("") + "- {name: b, type: bond, copy-mac-from: eth0, link-aggregation: {mode: \"1\", port: [eth0]}}",
			"interfaces[1].copy-mac-from: the address of eth0 is not known",
		},
		{"ethtool is text", ethernet(", ethtool: on"), "interfaces[0].ethtool: want a mapping"},
		{"features are a list", ethernet(", ethtool: {feature: []}"), "interfaces[0].ethtool.feature: want a mapping"},
		{"a feature that NetworkManager does not know", ethernet(", ethtool: {feature: {warp-drive: true}}"), "interfaces[0].ethtool.feature.warp-drive"},
		{"a feature that is neither on nor off", ethernet(", ethtool: {feature: {gro: maybe}}"), "interfaces[0].ethtool.feature.gro"},
		{"pause is a list", ethernet(", ethtool: {pause: []}"), "interfaces[0].ethtool.pause: want a mapping"},
		{"pause autoneg", ethernet(", ethtool: {pause: {autoneg: 7}}"), "interfaces[0].ethtool.pause.autoneg"},
		{"pause rx", ethernet(", ethtool: {pause: {rx: 7}}"), "interfaces[0].ethtool.pause.rx"},
		{"pause tx", ethernet(", ethtool: {pause: {tx: 7}}"), "interfaces[0].ethtool.pause.tx"},
		{"coalesce is a list", ethernet(", ethtool: {coalesce: []}"), "interfaces[0].ethtool.coalesce: want a mapping"},
		{"coalesce rx-usecs", ethernet(", ethtool: {coalesce: {rx-usecs: x}}"), "interfaces[0].ethtool.coalesce.rx-usecs"},
		{"ring is a list", ethernet(", ethtool: {ring: []}"), "interfaces[0].ethtool.ring: want a mapping"},
		{"ring tx", ethernet(", ethtool: {ring: {tx: x}}"), "interfaces[0].ethtool.ring.tx"},
		{"VRF is text", "interfaces: [{name: v, type: vrf, vrf: x}]", "interfaces[0].vrf: want a mapping"},
		{"VRF without table", "interfaces: [{name: v, type: vrf, vrf: {port: []}}]", "interfaces[0].vrf.route-table-id: is missing"},
		{"VRF ports are text", "interfaces: [{name: v, type: vrf, vrf: {route-table-id: 5, ports: a}}]", "interfaces[0].vrf.ports: want a list"},
		{"InfiniBand is text", "interfaces: [{name: ib0, type: infiniband, infiniband: x}]", "interfaces[0].infiniband: want a mapping"},
		{"InfiniBand without mode", "interfaces: [{name: ib0, type: infiniband}]", "interfaces[0].infiniband.mode: is missing"},
		{"partition", "interfaces: [{name: ib0.8001, type: infiniband, infiniband: {mode: datagram, base-iface: ib0, pkey: five}}]", "interfaces[0].infiniband.pkey"},
		{"partition of nothing", "interfaces: [{name: ib0.8001, type: infiniband, infiniband: {mode: datagram, pkey: \"0x8001\"}}]", "interfaces[0].infiniband.pkey: needs a base-iface"},
		{
			"partition of another name",
			"interfaces: [{name: storage, type: infiniband, infiniband: {mode: datagram, base-iface: ib0, pkey: \"0x8001\"}}]",
			"interfaces[0].infiniband.pkey: the interface of this partition has the name ib0.8001",
		},
		{"base without partition", "interfaces: [{name: ib0.8001, type: infiniband, infiniband: {mode: datagram, base-iface: ib0}}]", "interfaces[0].infiniband.base-iface: needs a pkey"},
		{"802.1x", ethernet(", 802.1x: {identity: a}"), "interfaces[0].802.1x"},
		{"bad MAC", ethernet(`, mac-address: "00:11"`), "interfaces[0].mac-address"},
		{"identifier without MAC", ethernet(", identifier: mac-address"), "interfaces[0].identifier"},
		{"unknown identifier", ethernet(", identifier: pci-address"), "interfaces[0].identifier"},
		{"PCI address", ethernet(", identifier: pci-address, pci-address: []"), "interfaces[0].pci-address: want text"},
		{"bond by MAC", `interfaces: [{name: b, type: bond, identifier: mac-address, mac-address: "00:11:22:33:44:55", link-aggregation: {mode: "1"}}]`, "interfaces[0].identifier"},
		{"bad MTU", ethernet(", mtu: 12"), "interfaces[0].mtu"},
		{"MTU is text", ethernet(", mtu: big"), "interfaces[0].mtu"},
		{"bad address", ethernet(", ipv4: {enabled: true, address: [{ip: 1.2.3, prefix-length: 24}]}"), "interfaces[0].ipv4.address[0].ip"},
		{"wrong family", ethernet(`, ipv4: {enabled: true, address: [{ip: "::1", prefix-length: 24}]}`), "interfaces[0].ipv4.address[0].ip"},
		{"prefix missing", ethernet(", ipv4: {enabled: true, address: [{ip: 192.0.2.1}]}"), "interfaces[0].ipv4.address[0].prefix-length"},
		{"prefix too long", ethernet(", ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 33}]}"), "interfaces[0].ipv4.address[0].prefix-length"},
		{"unknown address member", ethernet(", ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 3, peer: x}]}"), "interfaces[0].ipv4.address[0].peer"},
		{"addresses but disabled", ethernet(", ipv4: {dhcp: true}"), "interfaces[0].ipv4.enabled"},
		{"dhcp is text", ethernet(", ipv4: {enabled: true, dhcp: maybe}"), "interfaces[0].ipv4.dhcp"},
		{"dhcp-send-hostname", ethernet(", ipv4: {enabled: true, dhcp: true, dhcp-send-hostname: maybe}"), "interfaces[0].ipv4.dhcp-send-hostname"},
		{"dhcp-custom-hostname", ethernet(", ipv4: {enabled: true, dhcp: true, dhcp-custom-hostname: a b}"), "interfaces[0].ipv4.dhcp-custom-hostname"},
		{"allow-extra-address", ethernet(", ipv4: {enabled: true, dhcp: true, allow-extra-address: some}"), "interfaces[0].ipv4.allow-extra-address"},
		{"forwarding", ethernet(", ipv4: {enabled: true, dhcp: true, forwarding: true}"), "interfaces[0].ipv4.forwarding: not translated"},
		{"IPv6 token", ethernet(`, ipv6: {enabled: true, autoconf: true, token: "2001:db8::1"}`), "interfaces[0].ipv6.token"},
		{"address generation", ethernet(", ipv6: {enabled: true, addr-gen-mode: random}"), "interfaces[0].ipv6.addr-gen-mode"},
		{"two lines", ethernet(`, ipv4: {enabled: true, dhcp: true, dhcp-client-id: "a\nb"}`), "interfaces[0].ipv4.dhcp-client-id"},
		{"priorities of a VLAN that are a mapping", priorities("ingress", "{}"), "interfaces[0].vlan.ingress-qos-map: want a list"},
		{"priorities to a VLAN that are a mapping", priorities("egress", "{}"), "interfaces[0].vlan.egress-qos-map: want a list"},
		{"a priority that no tag has room for", priorities("ingress", "[{from: 8, to: 1}]"), "interfaces[0].vlan.ingress-qos-map[0].from"},
		{"a priority that becomes none", priorities("egress", "[{from: 100, to: 8}]"), "interfaces[0].vlan.egress-qos-map[0].to"},
		{"a priority that becomes two", priorities("egress", "[{from: 1, to: 2}, {from: 1, to: 3}]"), "interfaces[0].vlan.egress-qos-map[1].from: 1 appears twice"},
		{"half of a priority", priorities("egress", "[{from: 1}]"), "interfaces[0].vlan.egress-qos-map[0]: needs from and to"},
		{"VLAN without base", "interfaces: [{name: v, type: vlan, vlan: {id: 1}}]", "interfaces[0].vlan.base-iface"},
		{"VLAN without id", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a}}]", "interfaces[0].vlan.id"},
		{"VLAN id too large", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 4095}}]", "interfaces[0].vlan.id"},
		{"VLAN over itself", "interfaces: [{name: v, type: vlan, vlan: {base-iface: v, id: 5}}]", "interfaces[0].vlan.base-iface"},
		{"VLAN protocol", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 5, protocol: 802.3}}]", "interfaces[0].vlan.protocol"},
		{"VLAN headers", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 5, reorder-headers: maybe}}]", "interfaces[0].vlan.reorder-headers"},
		{"VLAN binding", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 5, loose-binding: maybe}}]", "interfaces[0].vlan.loose-binding"},
		{"VLAN registration", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 5, registration-protocol: x}}]", "interfaces[0].vlan.registration-protocol"},
		{"bond without mode", "interfaces: [{name: b, type: bond, link-aggregation: {port: []}}]", "interfaces[0].link-aggregation.mode"},
		{"unknown bond mode", "interfaces: [{name: b, type: bond, link-aggregation: {mode: fast}}]", "interfaces[0].link-aggregation.mode"},
		{"unknown bond option", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", options: {colour: red}}}]", "interfaces[0].link-aggregation.options.colour"},
		{"bond option of another mode", bondOf("balance-rr", "lacp_rate: fast"), "interfaces[0].link-aggregation.options.lacp_rate: mode balance-rr does not have this option, only 802.3ad"},
		{"ad_actor_sys_prio", bondOf("802.3ad", "ad_actor_sys_prio: 0"), ".options.ad_actor_sys_prio: want a number from 1 to 65535"},
		{"ad_actor_system of a group", bondOf("802.3ad", `ad_actor_system: "01:00:00:00:00:01"`), ".options.ad_actor_system"},
		{"ad_select", bondOf("802.3ad", "ad_select: best"), `.options.ad_select: "best" is none of stable, bandwidth, count`},
		{"ad_user_port_key", bondOf("802.3ad", "ad_user_port_key: 1024"), ".options.ad_user_port_key"},
		{"all_slaves_active", bondOf("balance-rr", "all_slaves_active: 2"), ".options.all_slaves_active"},
		{"arp_all_targets", bondOf("active-backup", "arp_all_targets: some"), ".options.arp_all_targets"},
		{"arp_interval is text", bondOf("active-backup", "arp_interval: often"), ".options.arp_interval"},
		{"arp_interval without targets", bondOf("active-backup", "arp_interval: 100"), ".options.arp_interval: needs arp_ip_target"},
		{"arp_interval beside miimon", bondOf("active-backup", "arp_interval: 100, arp_ip_target: 192.0.2.1, miimon: 100"), ".options.arp_interval: links are watched by miimon"},
		{"arp_ip_target of IPv6", bondOf("active-backup", `arp_interval: 100, arp_ip_target: "::1"`), ".options.arp_ip_target"},
		{"arp_ip_target without interval", bondOf("active-backup", "arp_ip_target: 192.0.2.1"), ".options.arp_ip_target: needs an arp_interval"},
		{"arp_validate", bondOf("802.3ad", "arp_validate: all"), ".options.arp_validate: mode 802.3ad"},
		{"downdelay", bondOf("balance-rr", "downdelay: -1"), ".options.downdelay"},
		{"fail_over_mac", bondOf("active-backup", "fail_over_mac: 3"), ".options.fail_over_mac"},
		{
			"address of a bond that takes its port's",
			"interfaces: [{name: b, type: bond, mac-address: \"52:54:00:00:00:01\", link-aggregation: {mode: active-backup, options: {fail_over_mac: active}}}]",
			"interfaces[0].mac-address: fail_over_mac active",
		},
		{
			"port whose address a bond copies that takes its active one's",
			"interfaces: [{name: b, type: bond, copy-mac-from: eth0, link-aggregation: {mode: \"1\", options: {fail_over_mac: 1}}}]",
			"interfaces[0].copy-mac-from: fail_over_mac active",
		},
		{"lacp_rate", bondOf("802.3ad", "lacp_rate: medium"), ".options.lacp_rate"},
		{"lp_interval", bondOf("balance-tlb", "lp_interval: 0"), ".options.lp_interval"},
		{"miimon", bondOf("balance-rr", "miimon: abc"), ".options.miimon: want a number from 0"},
		{"min_links", bondOf("802.3ad", "min_links: 3000000000"), ".options.min_links"},
		{"num_grat_arp", bondOf("active-backup", "num_grat_arp: 256"), ".options.num_grat_arp"},
		{"num_unsol_na differs", bondOf("active-backup", "num_grat_arp: 1, num_unsol_na: 2"), ".options.num_unsol_na"},
		{"packets_per_slave", bondOf("802.3ad", "packets_per_slave: 4"), ".options.packets_per_slave"},
		{"primary of a mode without", bondOf("balance-rr", "primary: eth0"), ".options.primary: mode balance-rr"},
		{"primary is no port", bondOf("active-backup", "primary: eth0"), `.options.primary: "eth0" is none of the ports`},
		{"primary_reselect", bondOf("active-backup", "primary_reselect: never"), ".options.primary_reselect"},
		{"resend_igmp", bondOf("active-backup", "resend_igmp: 1.5"), ".options.resend_igmp"},
		{"tlb_dynamic_lb", bondOf("balance-tlb", "tlb_dynamic_lb: maybe"), ".options.tlb_dynamic_lb"},
		{"updelay", bondOf("balance-rr", "updelay: x"), ".options.updelay"},
		{"use_carrier", bondOf("balance-rr", "use_carrier: 2"), ".options.use_carrier"},
		{"xmit_hash_policy", bondOf("balance-xor", "xmit_hash_policy: layer9"), ".options.xmit_hash_policy"},
		{"a port that no card can be", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", port: [\"a card\"]}}]", "port a card is not among"},
		{"port settings are a mapping", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", ports-config: {}}}]", "interfaces[0].link-aggregation.ports-config: want a list"},
		{"settings of no port", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", ports-config: [{queue-id: 1}]}}]", "interfaces[0].link-aggregation.ports-config[0].name: is missing"},
		{"queue-id", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", ports-config: [{name: eth0, queue-id: x}]}}]", "interfaces[0].link-aggregation.ports-config[0].queue-id"},
		{
			"priority of a port",
			"interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", ports-config: [{name: eth0, priority: 5}]}}]",
			"interfaces[0].link-aggregation.ports-config[0].priority: not translated",
		},
		{"port with addresses", ethernet(", ipv4: {enabled: true, dhcp: true}") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}", "interfaces[0].ipv4"},
		{"port with IPv6", ethernet(", ipv6: {enabled: true, dhcp: true}") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}", "interfaces[0].ipv6"},
		{"port of two", ethernet("") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}\n- {name: c, type: linux-bridge, bridge: {port: [{name: eth0}]}}", "port of both b and c"},
		{
			"port of a VRF and a bond",
			ethernet("") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}\n- {name: c, type: vrf, vrf: {route-table-id: 7, port: [eth0]}}",
			"port of both b and c",
		},
		{"port of itself", "interfaces: [{name: b, type: linux-bridge, bridge: {port: [{name: b}]}}]", "port of itself"},
		{"port of a bridge without a name", "interfaces: [{name: c, type: linux-bridge, bridge: {ports: [{stp-priority: 5}]}}]", "interfaces[0].bridge.ports[0].name: is missing"},
		{"VLANs of a port are text", bridgePort("vlan: x"), "interfaces[1].bridge.port[0].vlan: want a mapping"},
		{"VLAN mode", bridgePort("vlan: {mode: native}"), "interfaces[1].bridge.port[0].vlan.mode"},
		{"VLAN mode missing", bridgePort("vlan: {tag: 5}"), "interfaces[1].bridge.port[0].vlan.mode: is missing"},
		{"VLAN tag", bridgePort("vlan: {mode: access, tag: 4095}"), "interfaces[1].bridge.port[0].vlan.tag"},
		{"VLAN tag of a trunk", bridgePort("vlan: {mode: trunk, tag: 5}"), "interfaces[1].bridge.port[0].vlan.tag: a port of mode trunk needs enable-native"},
		{"native VLAN of an access port", bridgePort("vlan: {mode: access, tag: 5, enable-native: true}"), "interfaces[1].bridge.port[0].vlan.enable-native"},
		{"native VLAN without a tag", bridgePort("vlan: {mode: trunk, enable-native: true}"), "interfaces[1].bridge.port[0].vlan.tag: is missing"},
		{"trunk of an access port", bridgePort("vlan: {mode: access, tag: 5, trunk-tags: [{id: 7}]}"), "interfaces[1].bridge.port[0].vlan.trunk-tags[0]: only a port of mode trunk"},
		{"trunk tag of nothing", bridgePort("vlan: {mode: trunk, trunk-tags: [{}]}"), "interfaces[1].bridge.port[0].vlan.trunk-tags[0]: needs either"},
		{"trunk tag twice", bridgePort("vlan: {mode: trunk, trunk-tags: [{id: 7}, {id-range: {min: 7, max: 9}}]}"), "interfaces[1].bridge.port[0].vlan.trunk-tags[1]: VLAN 7 appears twice"},
		{"native VLAN among the others", bridgePort("vlan: {mode: trunk, tag: 7, enable-native: true, trunk-tags: [{id: 7}]}"), "interfaces[1].bridge.port[0].vlan.tag: 7 is among"},
		{"trunk tag", bridgePort("vlan: {mode: trunk, trunk-tags: [{id: 0}]}"), "interfaces[1].bridge.port[0].vlan.trunk-tags[0].id"},
		{"trunk range is text", bridgePort("vlan: {mode: trunk, trunk-tags: [{id-range: x}]}"), "interfaces[1].bridge.port[0].vlan.trunk-tags[0].id-range: want a mapping"},
		{"trunk range from", bridgePort("vlan: {mode: trunk, trunk-tags: [{id-range: {min: 0, max: 5}}]}"), "trunk-tags[0].id-range.min"},
		{"trunk range to", bridgePort("vlan: {mode: trunk, trunk-tags: [{id-range: {min: 1, max: 4095}}]}"), "trunk-tags[0].id-range.max"},
		{"trunk range the wrong way round", bridgePort("vlan: {mode: trunk, trunk-tags: [{id-range: {min: 9, max: 5}}]}"), "trunk-tags[0]: needs either"},
		{"bridge option", bridge("colour: red"), "interfaces[0].bridge.options.colour: not supported"},
		{"multicast-router", bridge("multicast-router: 7"), "interfaces[0].bridge.options.multicast-router"},
		{"group-addr", bridge("group-addr: here"), "interfaces[0].bridge.options.group-addr"},
		{"group-fwd-mask", bridge("group-fwd-mask: 65536"), "interfaces[0].bridge.options.group-fwd-mask"},
		{"hash-max", bridge("hash-max: 0"), "interfaces[0].bridge.options.hash-max"},
		{"vlan-protocol", bridge("vlan-protocol: x"), "interfaces[0].bridge.options.vlan-protocol"},
		{"vlan-default-pvid", bridge("vlan-default-pvid: 4095"), "interfaces[0].bridge.options.vlan-default-pvid"},
		{"multicast-snooping", bridge("multicast-snooping: x"), "interfaces[0].bridge.options.multicast-snooping"},
		{"multicast-querier", bridge("multicast-querier: x"), "interfaces[0].bridge.options.multicast-querier"},
		{"multicast-query-use-ifaddr", bridge("multicast-query-use-ifaddr: x"), "interfaces[0].bridge.options.multicast-query-use-ifaddr"},
		{"multicast-last-member-count", bridge("multicast-last-member-count: x"), "interfaces[0].bridge.options.multicast-last-member-count"},
		{"multicast-last-member-interval", bridge("multicast-last-member-interval: x"), "interfaces[0].bridge.options.multicast-last-member-interval"},
		{"multicast-membership-interval", bridge("multicast-membership-interval: x"), "interfaces[0].bridge.options.multicast-membership-interval"},
		{"multicast-querier-interval", bridge("multicast-querier-interval: x"), "interfaces[0].bridge.options.multicast-querier-interval"},
		{"multicast-query-interval", bridge("multicast-query-interval: x"), "interfaces[0].bridge.options.multicast-query-interval"},
		{"multicast-query-response-interval", bridge("multicast-query-response-interval: x"), "interfaces[0].bridge.options.multicast-query-response-interval"},
		{"multicast-startup-query-count", bridge("multicast-startup-query-count: x"), "interfaces[0].bridge.options.multicast-startup-query-count"},
		{"multicast-startup-query-interval", bridge("multicast-startup-query-interval: x"), "interfaces[0].bridge.options.multicast-startup-query-interval"},
		{"bad DNS server", ethernet(", ipv4: {enabled: true, dhcp: true}") + "dns-resolver: {config: {server: [dns.example.com]}}", "dns-resolver.config.server[0]"},
		{"DNS without interface", ethernet("") + "dns-resolver: {config: {server: [192.0.2.53]}}", "dns-resolver.config.server: no interface"},
		{"DNS over link-local addresses", ethernet(", ipv6: {enabled: true}") + `dns-resolver: {config: {server: ["::1"]}}`, "dns-resolver.config.server: no interface"},
		{"DNS of a family without addresses", ethernet(", ipv4: {enabled: true}") + "dns-resolver: {config: {server: [192.0.2.53]}}", "dns-resolver.config.server: no interface"},
		{"search where nothing has addresses", ethernet(", ipv4: {enabled: true}") + "dns-resolver: {config: {search: [a]}}", "dns-resolver.config.search"},
		{
			"route of a family without addresses",
			ethernet(", ipv4: {enabled: true}") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0}]}",
			"no addresses of the destination's family",
		},
		{"unknown DUID", ethernet(", ipv6: {enabled: true, dhcp: true, dhcp-duid: en}"), "interfaces[0].ipv6.dhcp-duid"},
		{"search without interface", ethernet("") + "dns-resolver: {config: {search: [a]}}", "dns-resolver.config.search"},
		{"DNS options", "dns-resolver: {config: {options: [rotate]}}", "dns-resolver.config.options: no interface has addresses"},
		{"DNS option", ethernet(", ipv4: {enabled: true, dhcp: true}") + "dns-resolver: {config: {options: [fast]}}", "dns-resolver.config.options[0]"},
		{"bad destination", ethernet(", ipv4: {enabled: true, dhcp: true}") + "routes: {config: [{destination: default, next-hop-interface: eth0}]}", "routes.config[0].destination"},
		{
			"bad next hop",
			ethernet(", ipv4: {enabled: true, dhcp: true}") + `routes: {config: [{destination: 192.0.2.0/24, next-hop-address: "::1", next-hop-interface: eth0}]}`,
			"routes.config[0].next-hop-address",
		},
		{"route without interface", "routes: {config: [{destination: 192.0.2.0/24}]}", "routes.config[0].next-hop-interface"},
		{"route over a foreign interface", "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth9}]}", "eth9 is not among"},
		{"route of a family that is off", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0}]}", "no addresses of the destination's family"},
		{"route state", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, state: gone}]}", "routes.config[0].state"},
		{"route weight", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, weight: 300}]}", "routes.config[0].weight"},
		{"route weight of IPv6", ethernet("") + "routes: {config: [{destination: \"2001:db8::/32\", next-hop-interface: eth0, weight: 3}]}", "routes.config[0].weight: only routes of IPv4"},
		{"route type", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, route-type: throw}]}", "routes.config[0].route-type"},
		{
			"route to nowhere by a next hop",
			ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, route-type: blackhole, next-hop-address: 192.0.2.1}]}",
			"routes.config[0].next-hop-address: a route of type blackhole",
		},
		{"route to nowhere without addresses", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, route-type: blackhole}]}", "routes.config[0]: no interface"},
		{"route source", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, source: \"::1\"}]}", "routes.config[0].source"},
		{"route advmss", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, advmss: 0}]}", "routes.config[0].advmss"},
		{"route cwnd", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, cwnd: 0}]}", "routes.config[0].cwnd"},
		{"route initcwnd", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, initcwnd: 0}]}", "routes.config[0].initcwnd"},
		{"route initrwnd", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, initrwnd: 0}]}", "routes.config[0].initrwnd"},
		{"route mtu", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, mtu: 5}]}", "routes.config[0].mtu"},
		{"route quickack", ethernet("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, quickack: x}]}", "routes.config[0].quickack"},
		{"empty rule", ethernet("") + "route-rules: {config: [{priority: 1}]}", "route-rules.config[0]: needs"},
		{"rule of another family", "route-rules: {config: [{priority: 1, family: ipv6, ip-from: 192.0.2.0/24}]}", "route-rules.config[0].family: is ipv6"},
		{"rule family", "route-rules: {config: [{priority: 1, family: ipx}]}", "route-rules.config[0].family"},
		{"rule state", "route-rules: {config: [{priority: 1, family: ipv4, state: up}]}", "route-rules.config[0].state"},
		{"rule action", "route-rules: {config: [{priority: 1, family: ipv4, action: drop}]}", "route-rules.config[0].action"},
		{"rule iif", "route-rules: {config: [{priority: 1, family: ipv4, iif: a card}]}", "route-rules.config[0].iif"},
		{"rule suppress_prefixlength", "route-rules: {config: [{priority: 1, family: ipv4, suppress_prefixlength: 33}]}", "route-rules.config[0].suppress_prefixlength"},
		{"lock-mtu", routed("destination: 198.51.100.0/24, next-hop-interface: eth0, lock-mtu: 5"), "routes.config[0].lock-mtu"},
		{"allow-extra-ports", "interfaces: [{name: c, type: linux-bridge, bridge: {allow-extra-ports: some}}]", "interfaces[0].bridge.allow-extra-ports"},
		{
			"an address that ends, of nobody who gives another",
			ethernet(", ipv4: {enabled: true, address: [{ip: 192.0.2.7, prefix-length: 24, valid-life-time: 3600sec}]}"),
			"interfaces[0].ipv4.address[0].ip: has an end of its life",
		},
		{"rule suppress-prefix-length", "route-rules: {config: [{priority: 1, family: ipv4, suppress-prefix-length: 129}]}", "route-rules.config[0].suppress-prefix-length"},
		{"rule fwmask alone", "route-rules: {config: [{priority: 1, family: ipv4, fwmask: 5}]}", "route-rules.config[0].fwmask: needs a fwmark"},
		{"rule of two families", `route-rules: {config: [{priority: 1, ip-from: 192.0.2.0/24, ip-to: "::/0"}]}`, "different families"},
		{"rule priority", "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: first}]}", "route-rules.config[0].priority"},
		{"rule without interface", ethernet("") + "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: 5}]}", "route-rules.config[0]: no interface"},
		{"rule by mark", "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: 5, fwmark: red}]}", "route-rules.config[0].fwmark"},
		{"DNS settings are a list", "dns-resolver: []", "dns-resolver: want a mapping"},
		{"routes are a list", "routes: []", "routes: want a mapping"},
		{"rules are a list", "route-rules: []", "route-rules: want a mapping"},
		{"configured routes are a mapping", "routes: {config: {}}", "routes.config: want a list"},
		{"profile name of two lines", ethernet(`, profile-name: "a\nb"`), "interfaces[0].profile-name: must be a single line"},
		{"description is a list", ethernet(", description: []"), "interfaces[0].description: want text"},
		{"IPv4 is text", ethernet(", ipv4: on"), "interfaces[0].ipv4: want a mapping"},
		{"IPv6 is text", ethernet(", ipv6: on"), "interfaces[0].ipv6: want a mapping"},
		{"auto-dns", ethernet(", ipv4: {enabled: true, dhcp: true, auto-dns: never}"), "interfaces[0].ipv4.auto-dns"},
		{"auto-routes", ethernet(", ipv4: {enabled: true, dhcp: true, auto-routes: 2}"), "interfaces[0].ipv4.auto-routes"},
		{"auto-gateway", ethernet(", ipv4: {enabled: true, dhcp: true, auto-gateway: []}"), "interfaces[0].ipv4.auto-gateway"},
		{"auto-route-table-id", ethernet(", ipv4: {enabled: true, dhcp: true, auto-route-table-id: main}"), "interfaces[0].ipv4.auto-route-table-id"},
		{"auto-route-metric", ethernet(", ipv4: {enabled: true, dhcp: true, auto-route-metric: -2}"), "interfaces[0].ipv4.auto-route-metric"},
		{"autoconf", ethernet(", ipv6: {enabled: true, autoconf: some}"), "interfaces[0].ipv6.autoconf"},
		{"addresses are a mapping", ethernet(", ipv4: {enabled: true, address: {}}"), "interfaces[0].ipv4.address: want a list"},
		{"VLAN is text", "interfaces: [{name: v, type: vlan, vlan: x}]", "interfaces[0].vlan: want a mapping"},
		{"bond is text", "interfaces: [{name: b, type: bond, link-aggregation: x}]", "interfaces[0].link-aggregation: want a mapping"},
		{"bond port is no text", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", port: [{}]}}]", "interfaces[0].link-aggregation.port[0]: want a string"},
		{"old bond port is no text", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", slaves: [on]}}]", "interfaces[0].link-aggregation.slaves[0]: want a string"},
		{"bond options are text", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", options: x}}]", "interfaces[0].link-aggregation.options: want a mapping"},
		{"bridge is text", "interfaces: [{name: c, type: linux-bridge, bridge: x}]", "interfaces[0].bridge: want a mapping"},
		{"STP is text", bridge("stp: on"), "interfaces[0].bridge.options.stp: want a mapping"},
		{"STP enabled", bridge("stp: {enabled: maybe}"), "interfaces[0].bridge.options.stp.enabled"},
		{"STP forward-delay", bridge("stp: {forward-delay: 31}"), "interfaces[0].bridge.options.stp.forward-delay: want a number from 2 to 30"},
		{"STP hello-time", bridge("stp: {hello-time: 11}"), "interfaces[0].bridge.options.stp.hello-time"},
		{"STP max-age", bridge("stp: {max-age: 5}"), "interfaces[0].bridge.options.stp.max-age"},
		{"STP priority", bridge("stp: {priority: 65536}"), "interfaces[0].bridge.options.stp.priority"},
		{"mac-ageing-time", bridge("mac-ageing-time: long"), "interfaces[0].bridge.options.mac-ageing-time"},
		{"group-forward-mask", bridge("group-forward-mask: 65536"), "interfaces[0].bridge.options.group-forward-mask"},
		{"stp-hairpin-mode", bridgePort("stp-hairpin-mode: 2"), "interfaces[1].bridge.port[0].stp-hairpin-mode"},
		{"stp-path-cost", bridgePort("stp-path-cost: 65536"), "interfaces[1].bridge.port[0].stp-path-cost"},
		{"stp-priority", bridgePort("stp-priority: 64"), "interfaces[1].bridge.port[0].stp-priority"},
		{"search entry is no text", "dns-resolver: {config: {search: [5]}}", "dns-resolver.config.search[0]: want a string"},
		{"route metric", "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, metric: low}]}", "routes.config[0].metric"},
		{"route table-id", "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, table-id: main}]}", "routes.config[0].table-id"},
		{"rule route-table", "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: 1, route-table: main}]}", "route-rules.config[0].route-table"},
		{"rule ip-from", "route-rules: {config: [{ip-from: 192.0.2.0/99, priority: 1}]}", "route-rules.config[0].ip-from"},
		{"rule ip-to", "route-rules: {config: [{ip-to: home, priority: 1}]}", "route-rules.config[0].ip-to"},
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range refusals() {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.Keyfiles([]byte(c.document))
			g.Expect(err).To(MatchError(network.ErrUnsupported))
			g.Expect(err).To(MatchError(ContainSubstring(c.path)))
		})
	}
}

// networkDataRefusals are the network_data.json documents that are refused.
func networkDataRefusals() []refusal {
	const card = `{"id":"eth0","type":"phy","ethernet_mac_address":"52:54:00:00:00:01"}`
	link := func(more string) string { return `{"links":[` + card + more + `]}` }
	net := func(fields string) string {
		return `{"links":[` + card + `],"networks":[{"link":"eth0",` + fields + `}]}`
	}
	return []refusal{
		{"no JSON", "[", "document"},
		{"a list", "[]", "want a mapping"},
		{"unknown member", `{"ports":[]}`, "ports: not supported"},
		{"unknown link type", link(`,{"id":"x","type":"infiniband"}`), "links[1].type"},
		{"long name", link(`,{"id":"abcdefghijklmnop","type":"phy"}`), "links[1].id"},
		{"no name", link(`,{"id":"a/b","type":"phy","ethernet_mac_address":"52:54:00:00:00:02"}`), "links[1].id"},
		{"bad MAC", link(`,{"id":"x","type":"phy","ethernet_mac_address":"1"}`), "links[1].ethernet_mac_address"},
		{"unknown field of a link", link(`,{"id":"x","type":"phy","colour":"red"}`), "links[1].colour: not supported"},
		{"bond without mode", link(`,{"id":"b","type":"bond","bond_links":["eth0"]}`), "links[1].bond_mode"},
		{"bond of unknown port", link(`,{"id":"b","type":"bond","bond_mode":"1","bond_links":["eth7"]}`), "port eth7"},
		{"VLAN without link", link(`,{"id":"v","type":"vlan","vlan_id":5}`), "links[1].vlan_link"},
		{"VLAN without id", link(`,{"id":"v","type":"vlan","vlan_link":"eth0"}`), "links[1].vlan_id"},
		{"bad VLAN MAC", link(`,{"id":"v","type":"vlan","vlan_link":"eth0","vlan_id":5,"vlan_mac_address":"z"}`), "links[1].vlan_mac_address"},
		{"unknown network type", net(`"type":"ipx"`), "networks[0].type"},
		{"unknown link", `{"networks":[{"link":"eth9","type":"ipv4_dhcp"}]}`, "networks[0].link"},
		{"static without address", net(`"type":"ipv4"`), "networks[0].ip_address"},
		{"address of the other family", net(`"type":"ipv4","ip_address":"::1"`), "networks[0].ip_address"},
		{"netmask with a hole", net(`"type":"ipv4","ip_address":"192.0.2.1","netmask":"255.0.255.0"`), "networks[0].netmask"},
		{"netmask missing", net(`"type":"ipv4","ip_address":"192.0.2.1"`), "networks[0].netmask: is missing"},
		{"netmask of IPv6 missing", net(`"type":"ipv6","ip_address":"2001:db8::1"`), "networks[0].netmask: is missing"},
		{"netmask of a route missing", net(`"type":"ipv4","ip_address":"192.0.2.1/24","routes":[{"network":"198.51.100.0","gateway":"192.0.2.2"}]`), "networks[0].routes[0].netmask: is missing"},
		{"bond option", link(`,{"id":"b","type":"bond","bond_mode":"802.3ad","bond_links":[],"bond_miimon":"abc"}`), "links[1].bond_miimon: want a number"},
		{"bad gateway", net(`"type":"ipv4","ip_address":"192.0.2.1/24","gateway":"fe80::1"`), "networks[0].gateway"},
		{"bad route", net(`"type":"ipv4","ip_address":"192.0.2.1/24","routes":[{"network":"x"}]`), "networks[0].routes[0].network"},
		{"bad next hop", net(`"type":"ipv4","ip_address":"192.0.2.1/24","routes":[{"network":"198.51.100.0","netmask":"255.255.255.0","gateway":"x"}]`), "networks[0].routes[0].gateway"},
		{"unknown service", `{"services":[{"type":"ntp","address":"192.0.2.1"}]}`, "services[0].type"},
		{"bad name server", `{"services":[{"type":"dns","address":"x"}]}`, "services[0].address"},
		{"unknown field of a network", net(`"type":"ipv4_dhcp","vrf":"a"`), "networks[0].vrf: not supported"},
		{"links are a mapping", `{"links":{}}`, "links: want a list"},
		{"networks are a mapping", `{"networks":{}}`, "networks: want a list"},
		{"services are text", `{"services":"dns"}`, "services: want a list"},
		{"name of two lines", link(`,{"id":"x","type":"phy","name":"a\nb"}`), "links[1].name: must be a single line"},
		{"port id of a list", link(`,{"id":"x","type":"phy","vif_id":[]}`), "links[1].vif_id: want text"},
		{"bad MTU", link(`,{"id":"x","type":"phy","mtu":12}`), "links[1].mtu"},
		{"bond links are text", link(`,{"id":"b","type":"bond","bond_mode":"1","bond_links":"eth0"}`), "links[1].bond_links: want a list"},
		{"id of a network is a list", net(`"type":"ipv4_dhcp","id":[]`), "networks[0].id: want text"},
		{"network_id is a list", net(`"type":"ipv4_dhcp","network_id":[]`), "networks[0].network_id: want text"},
		{"routes are a mapping", net(`"type":"ipv4_dhcp","routes":{}`), "networks[0].routes: want a list"},
		{"bad metric", net(`"type":"ipv4_dhcp","routes":[{"network":"192.0.2.0/24","metric":-1}]`), "networks[0].routes[0].metric"},
		{"bad name server of a network", net(`"type":"ipv4_dhcp","dns_nameservers":["x"]`), "networks[0].dns_nameservers"},
		{"search entry is no text", net(`"type":"ipv4_dhcp","dns_search":[1]`), "networks[0].dns_search[0]"},
	}
}

func TestNetworkDataRefusals(t *testing.T) {
	for _, c := range networkDataRefusals() {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.FromNetworkData([]byte(c.document))
			g.Expect(err).To(MatchError(network.ErrUnsupported))
			g.Expect(err).To(MatchError(ContainSubstring(c.path)))
		})
	}
}

// takes finds the keys that a source file takes out of a document: as arguments
// of the methods of object, and in its tables.
var takes = regexp.MustCompile(`\.(?:text|name|number|numberOrDefault|remark|station|flag|maybe|child|list|strings|objects|word|mac|ports)\("([^"]+)"|\{name: "([^"]+)"|\{"(ip-[a-z]+)"`)

// A key that is new in the parser needs a row that shows how a bad value of it is
// refused.
func TestEveryKeyHasARefusal(t *testing.T) {
	for file, rows := range map[string][]refusal{
		"parse.go": refusals(), "parsedns.go": refusals(), "parseroute.go": refusals(), "parselink.go": refusals(),
		"parsevirtual.go": refusals(), "identity.go": refusals(), "bondoptions.go": refusals(),
		"networkdata.go": networkDataRefusals(),
	} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := takes.FindAllStringSubmatch(string(source), -1)
		if len(found) == 0 {
			t.Errorf("%s: no key found", file)
		}
		for _, m := range found {
			key := strings.Join(m[1:], "")
			at := regexp.MustCompile(`(^|\.)` + regexp.QuoteMeta(key) + `(\[\d+\])?($|:)`)
			if !slices.ContainsFunc(rows, func(r refusal) bool { return at.MatchString(r.path) }) {
				t.Errorf("%s: key %q has no refusal", file, key)
			}
		}
	}
}
