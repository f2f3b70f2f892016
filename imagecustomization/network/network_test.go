package network_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/needs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// cases are the documents in testdata by name.
func cases(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases in testdata", err)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if out[strings.TrimSuffix(filepath.Base(f), ".yaml")], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func joined(files map[string][]byte) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "=== %s\n%s", name, files[name])
	}
	return out.String()
}

func TestGolden(t *testing.T) {
	for name, document := range cases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.Keyfiles(document)
			g.Expect(err).NotTo(HaveOccurred())
			got, path := joined(files), filepath.Join("testdata", name+".golden")
			if *update {
				g.Expect(os.WriteFile(path, []byte(got), 0o600)).To(Succeed())
			}
			want, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(string(want)))
			again, err := network.Keyfiles(document)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(joined(again)).To(Equal(got), "the same document gives the same files")
		})
	}
}

// NetworkManager itself reads every keyfile and must keep every setting.
func TestNetworkManagerReadsEveryKeyfile(t *testing.T) {
	tool := needs.Program(t, "nmcli", "network-manager")
	for name, document := range cases(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := network.Keyfiles(document)
			g.Expect(err).NotTo(HaveOccurred())
			for file, raw := range files {
				var complaints bytes.Buffer
				cmd := exec.CommandContext(t.Context(), tool, "--offline", "connection", "modify", "connection.autoconnect-retries", "7")
				cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), &complaints
				back, err := cmd.Output()
				g.Expect(err).NotTo(HaveOccurred(), "%s: %s\n%s", file, complaints.String(), raw)
				g.Expect(complaints.String()).To(BeEmpty(), file)
				g.Expect(settings(back)).To(ContainElements(changedOnly(raw)), "%s\n%s", file, back)
			}
		})
	}
}

// settings are the lines of a keyfile with their section.
func settings(keyfile []byte) []string {
	var out []string
	section := ""
	for line := range strings.Lines(string(keyfile)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		} else if line != "" {
			out = append(out, section+line)
		}
	}
	return out
}

// changedOnly leaves out what NetworkManager does not write because it is the
// default.
func changedOnly(keyfile []byte) []string {
	defaults := []string{
		"[connection]autoconnect=true", "[ipv4]may-fail=true", "[ipv6]may-fail=true", "[bridge]stp=true", "[bridge]max-age=20",
	}
	return slices.DeleteFunc(settings(keyfile), func(s string) bool { return slices.Contains(defaults, s) })
}

func TestRefusals(t *testing.T) {
	eth := func(more string) string { return "interfaces:\n- {name: eth0, type: ethernet" + more + "}\n" }
	bond := func(mode, options string) string {
		return fmt.Sprintf("interfaces: [{name: b, type: bond, link-aggregation: {mode: %s, options: {%s}}}]", mode, options)
	}
	cases := []struct{ name, document, path string }{
		{"no YAML", "a: [", "document"},
		{"a list", "- a", "want a mapping"},
		{"unknown member", "ovs-db: {}", "ovs-db: not supported"},
		{"hostname", "hostname: {config: x}", "hostname: not supported"},
		{"interfaces is no list", "interfaces: {}", "interfaces: want a list"},
		{"no name", "interfaces: [{type: ethernet}]", "interfaces[0].name"},
		{"long name", "interfaces: [{name: abcdefghijklmnop, type: ethernet}]", "interfaces[0].name"},
		{"unknown type", "interfaces: [{name: a, type: ovs-bridge}]", "interfaces[0].type"},
		{"unknown state", eth(", state: sideways"), "interfaces[0].state"},
		{"twice", eth("") + "- {name: eth0, type: ethernet}", "interfaces[1]: interface eth0 appears twice"},
		{"unknown setting", eth(", ethernet: {speed: 1000}"), "interfaces[0].ethernet: not supported"},
		{"802.1x", eth(", 802.1x: {identity: a}"), "interfaces[0].802.1x"},
		{"bad MAC", eth(`, mac-address: "00:11"`), "interfaces[0].mac-address"},
		{"identifier without MAC", eth(", identifier: mac-address"), "interfaces[0].identifier"},
		{"unknown identifier", eth(", identifier: pci-address"), "interfaces[0].identifier"},
		{"bond by MAC", `interfaces: [{name: b, type: bond, identifier: mac-address, mac-address: "00:11:22:33:44:55", link-aggregation: {mode: "1"}}]`, "interfaces[0].identifier"},
		{"bad MTU", eth(", mtu: 12"), "interfaces[0].mtu"},
		{"MTU is text", eth(", mtu: big"), "interfaces[0].mtu"},
		{"bad address", eth(", ipv4: {enabled: true, address: [{ip: 1.2.3, prefix-length: 24}]}"), "interfaces[0].ipv4.address[0].ip"},
		{"wrong family", eth(`, ipv4: {enabled: true, address: [{ip: "::1", prefix-length: 24}]}`), "interfaces[0].ipv4.address[0].ip"},
		{"prefix missing", eth(", ipv4: {enabled: true, address: [{ip: 192.0.2.1}]}"), "interfaces[0].ipv4.address[0].prefix-length"},
		{"prefix too long", eth(", ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 33}]}"), "interfaces[0].ipv4.address[0].prefix-length"},
		{"unknown address member", eth(", ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 3, peer: x}]}"), "interfaces[0].ipv4.address[0].peer"},
		{"addresses but disabled", eth(", ipv4: {dhcp: true}"), "interfaces[0].ipv4.enabled"},
		{"dhcp is text", eth(", ipv4: {enabled: true, dhcp: maybe}"), "interfaces[0].ipv4.dhcp"},
		{"dhcp-send-hostname", eth(", ipv4: {enabled: true, dhcp: true, dhcp-send-hostname: false}"), "interfaces[0].ipv4.dhcp-send-hostname: not supported"},
		{"IPv6 token", eth(`, ipv6: {enabled: true, autoconf: true, token: "::1"}`), "interfaces[0].ipv6.token: not supported"},
		{"address generation", eth(", ipv6: {enabled: true, addr-gen-mode: random}"), "interfaces[0].ipv6.addr-gen-mode"},
		{"two lines", eth(`, ipv4: {enabled: true, dhcp: true, dhcp-client-id: "a\nb"}`), "interfaces[0].ipv4.dhcp-client-id"},
		{"VLAN without base", "interfaces: [{name: v, type: vlan, vlan: {id: 1}}]", "interfaces[0].vlan.base-iface"},
		{"VLAN without id", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a}}]", "interfaces[0].vlan.id"},
		{"VLAN id too large", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 4095}}]", "interfaces[0].vlan.id"},
		{"VLAN over itself", "interfaces: [{name: v, type: vlan, vlan: {base-iface: v, id: 5}}]", "interfaces[0].vlan.base-iface"},
		{"VLAN protocol", "interfaces: [{name: v, type: vlan, vlan: {base-iface: a, id: 5, protocol: 802.1ad}}]", "interfaces[0].vlan.protocol"},
		{"bond without mode", "interfaces: [{name: b, type: bond, link-aggregation: {port: []}}]", "interfaces[0].link-aggregation.mode"},
		{"unknown bond mode", "interfaces: [{name: b, type: bond, link-aggregation: {mode: fast}}]", "interfaces[0].link-aggregation.mode"},
		{"unknown bond option", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", options: {colour: red}}}]", "interfaces[0].link-aggregation.options.colour"},
		{"bond option of another mode", bond("balance-rr", "lacp_rate: fast"), "interfaces[0].link-aggregation.options.lacp_rate: mode balance-rr does not have this option, only 802.3ad"},
		{"ad_actor_sys_prio", bond("802.3ad", "ad_actor_sys_prio: 0"), ".options.ad_actor_sys_prio: want a number from 1 to 65535"},
		{"ad_actor_system of a group", bond("802.3ad", `ad_actor_system: "01:00:00:00:00:01"`), ".options.ad_actor_system"},
		{"ad_actor_system of nobody", bond("802.3ad", `ad_actor_system: "00:00:00:00:00:00"`), ".options.ad_actor_system"},
		{"ad_select", bond("802.3ad", "ad_select: best"), `.options.ad_select: "best" is none of stable, bandwidth, count`},
		{"ad_user_port_key", bond("802.3ad", "ad_user_port_key: 1024"), ".options.ad_user_port_key"},
		{"all_slaves_active", bond("balance-rr", "all_slaves_active: 2"), ".options.all_slaves_active"},
		{"arp_all_targets", bond("active-backup", "arp_all_targets: some"), ".options.arp_all_targets"},
		{"arp_interval is text", bond("active-backup", "arp_interval: often"), ".options.arp_interval"},
		{"arp_interval without targets", bond("active-backup", "arp_interval: 100"), ".options.arp_interval: needs arp_ip_target"},
		{"arp_interval beside miimon", bond("active-backup", "arp_interval: 100, arp_ip_target: 192.0.2.1, miimon: 100"), ".options.arp_interval: links are watched by miimon"},
		{"arp_ip_target of IPv6", bond("active-backup", `arp_interval: 100, arp_ip_target: "::1"`), ".options.arp_ip_target"},
		{"arp_ip_target without interval", bond("active-backup", "arp_ip_target: 192.0.2.1"), ".options.arp_ip_target: needs an arp_interval"},
		{"arp_validate", bond("802.3ad", "arp_validate: all"), ".options.arp_validate: mode 802.3ad"},
		{"downdelay", bond("balance-rr", "downdelay: -1"), ".options.downdelay"},
		{"fail_over_mac", bond("active-backup", "fail_over_mac: 3"), ".options.fail_over_mac"},
		{"lacp_rate", bond("802.3ad", "lacp_rate: medium"), ".options.lacp_rate"},
		{"lp_interval", bond("balance-tlb", "lp_interval: 0"), ".options.lp_interval"},
		{"miimon", bond("balance-rr", "miimon: abc"), ".options.miimon: want a number from 0"},
		{"min_links", bond("802.3ad", "min_links: 3000000000"), ".options.min_links"},
		{"num_grat_arp", bond("active-backup", "num_grat_arp: 256"), ".options.num_grat_arp"},
		{"num_unsol_na differs", bond("active-backup", "num_grat_arp: 1, num_unsol_na: 2"), ".options.num_unsol_na"},
		{"packets_per_slave", bond("802.3ad", "packets_per_slave: 4"), ".options.packets_per_slave"},
		{"primary of a mode without", bond("balance-rr", "primary: eth0"), ".options.primary: mode balance-rr"},
		{"primary is no port", bond("active-backup", "primary: eth0"), `.options.primary: "eth0" is none of the ports`},
		{"primary_reselect", bond("active-backup", "primary_reselect: never"), ".options.primary_reselect"},
		{"resend_igmp", bond("active-backup", "resend_igmp: 1.5"), ".options.resend_igmp"},
		{"tlb_dynamic_lb", bond("balance-tlb", "tlb_dynamic_lb: maybe"), ".options.tlb_dynamic_lb"},
		{"updelay", bond("balance-rr", "updelay: x"), ".options.updelay"},
		{"use_carrier", bond("balance-rr", "use_carrier: 2"), ".options.use_carrier"},
		{"xmit_hash_policy", bond("balance-xor", "xmit_hash_policy: layer9"), ".options.xmit_hash_policy"},
		{"unknown port", "interfaces: [{name: b, type: bond, link-aggregation: {mode: \"1\", port: [x]}}]", "port x is not among"},
		{"port with addresses", eth(", ipv4: {enabled: true, dhcp: true}") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}", "interfaces[0].ipv4"},
		{"port with IPv6", eth(", ipv6: {enabled: true, dhcp: true}") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}", "interfaces[0].ipv6"},
		{"port of two", eth("") + "- {name: b, type: bond, link-aggregation: {mode: \"1\", port: [eth0]}}\n- {name: c, type: linux-bridge, bridge: {port: [{name: eth0}]}}", "port of both b and c"},
		{"port of itself", "interfaces: [{name: b, type: linux-bridge, bridge: {port: [{name: b}]}}]", "port of itself"},
		{"VLAN filtering", eth("") + "- {name: c, type: linux-bridge, bridge: {port: [{name: eth0, vlan: {mode: trunk}}]}}", "interfaces[1].bridge.port[0].vlan"},
		{"bridge option", "interfaces: [{name: c, type: linux-bridge, bridge: {options: {multicast-router: 1}}}]", "interfaces[0].bridge.options.multicast-router"},
		{"bad DNS server", eth(", ipv4: {enabled: true, dhcp: true}") + "dns-resolver: {config: {server: [dns.example.com]}}", "dns-resolver.config.server[0]"},
		{"DNS without interface", eth("") + "dns-resolver: {config: {server: [192.0.2.53]}}", "dns-resolver.config.server: no interface"},
		{"DNS over link-local addresses", eth(", ipv6: {enabled: true}") + `dns-resolver: {config: {server: ["::1"]}}`, "dns-resolver.config.server: no interface"},
		{"DNS of a family without addresses", eth(", ipv4: {enabled: true}") + "dns-resolver: {config: {server: [192.0.2.53]}}", "dns-resolver.config.server: no interface"},
		{"search where nothing has addresses", eth(", ipv4: {enabled: true}") + "dns-resolver: {config: {search: [a]}}", "dns-resolver.config.search"},
		{"route of a family without addresses", eth(", ipv4: {enabled: true}") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0}]}", "no addresses of the destination's family"},
		{"unknown DUID", eth(", ipv6: {enabled: true, dhcp: true, dhcp-duid: en}"), "interfaces[0].ipv6.dhcp-duid"},
		{"search without interface", eth("") + "dns-resolver: {config: {search: [a]}}", "dns-resolver.config.search"},
		{"DNS options", "dns-resolver: {config: {options: [rotate]}}", "dns-resolver.config.options: not supported"},
		{"bad destination", eth(", ipv4: {enabled: true, dhcp: true}") + "routes: {config: [{destination: default, next-hop-interface: eth0}]}", "routes.config[0].destination"},
		{"bad next hop", eth(", ipv4: {enabled: true, dhcp: true}") + `routes: {config: [{destination: 192.0.2.0/24, next-hop-address: "::1", next-hop-interface: eth0}]}`, "routes.config[0].next-hop-address"},
		{"route without interface", "routes: {config: [{destination: 192.0.2.0/24}]}", "routes.config[0].next-hop-interface"},
		{"route over a foreign interface", "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth9}]}", "eth9 is not among"},
		{"route of a family that is off", eth("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0}]}", "no addresses of the destination's family"},
		{"absent route", eth("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, state: absent}]}", "routes.config[0].state"},
		{"route weight", eth("") + "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth0, weight: 3}]}", "routes.config[0].weight: not supported"},
		{"empty rule", eth("") + "route-rules: {config: [{priority: 1}]}", "route-rules.config[0]: needs"},
		{"rule of two families", `route-rules: {config: [{priority: 1, ip-from: 192.0.2.0/24, ip-to: "::/0"}]}`, "different families"},
		{"rule without priority", "route-rules: {config: [{ip-from: 192.0.2.0/24}]}", "route-rules.config[0].priority"},
		{"rule without interface", eth("") + "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: 5}]}", "route-rules.config[0]: no interface"},
		{"rule by mark", "route-rules: {config: [{ip-from: 192.0.2.0/24, priority: 5, fwmark: 1}]}", "route-rules.config[0].fwmark: not supported"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := network.Keyfiles([]byte(tc.document))
			g.Expect(err).To(MatchError(network.ErrUnsupported))
			g.Expect(err.Error()).To(ContainSubstring(tc.path))
		})
	}
}

func TestEverythingWrongIsNamedAtOnce(t *testing.T) {
	_, err := network.Keyfiles([]byte("interfaces: [{name: a, type: x, mtu: 1}, {name: b, state: y}]"))
	for _, path := range []string{"interfaces[0].type", "interfaces[0].mtu", "interfaces[1].state"} {
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(path)))
	}
}

func TestEmptyDocumentHasNoKeyfiles(t *testing.T) {
	for _, document := range []string{"", "---\n", "{}", "--- {}\n", "interfaces: []"} {
		files, err := network.Keyfiles([]byte(document))
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(files).To(BeEmpty())
	}
}

func TestFromSecret(t *testing.T) {
	g := NewWithT(t)
	eth := []byte("interfaces: [{name: eth0, ipv4: {enabled: true, dhcp: true}}]")
	ready := []byte("[connection]\nid=mine\n")
	files, err := network.FromSecret(map[string][]byte{"nmstate": eth, "eth1.nmconnection": ready})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveKeyWithValue("eth1.nmconnection", ready))
	g.Expect(files).To(HaveKey("eth0.nmconnection"))
	for name, data := range map[string]map[string][]byte{
		"empty":       {},
		"other key":   {"nmstate": eth, "networkData": nil},
		"no keyfile":  {"a.nmconnection": []byte("hello")},
		"bad nmstate": {"nmstate": []byte("x: y")},
	} {
		_, err := network.FromSecret(data)
		g.Expect(err).To(MatchError(network.ErrUnsupported), name)
	}
}

func FuzzKeyfiles(f *testing.F) {
	for _, document := range cases(f) {
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		files, err := network.Keyfiles(document)
		if err != nil {
			return
		}
		for name, raw := range files {
			if strings.ContainsAny(name, "/\x00") {
				t.Fatalf("file name %q", name)
			}
			for _, line := range settings(raw) {
				if !strings.Contains(line, "=") {
					t.Fatalf("a line without a key: %q", line)
				}
			}
		}
	})
}
