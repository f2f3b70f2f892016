package staticnetwork_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/staticnetwork"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestArchive(t *testing.T) {
	g := NewWithT(t)
	files := unpacked(
		t,
		`[{"network_yaml":"`+
			`interfaces: [{name: eth0, type: ethernet, state: up, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.10, prefix-length: 24}]}}]\n`+
			`dns-resolver: {config: {server: [192.0.2.1]}}\n`+
			`routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eth0}]}",
		"mac_interface_map":[{"mac_address":"52:54:00:00:00:01","logical_nic_name":"eth0"}]},
		{"network_yaml":"interfaces: [{name: eth0}, {name: vx, type: vxlan}]","mac_interface_map":[{"mac_address":"52:54:00:00:00:02","logical_nic_name":"eth0"}]}]`,
	)
	g.Expect(files).To(HaveLen(4))
	g.Expect(files["host0/eth0.nmconnection"]).To(And(
		HavePrefix("[connection]\n"), ContainSubstring("autoconnect=true\nautoconnect-priority=1\n"), ContainSubstring("mac-address=52:54:00:00:00:01\n"),
		ContainSubstring("address1=192.0.2.10/24\n"), ContainSubstring("dns=192.0.2.1;\n"), ContainSubstring("method=manual\n")))
	g.Expect(files["host0/mac_interface.ini"]).To(Equal("52:54:00:00:00:01=eth0\n"))
	g.Expect(files["host1/mac_interface.ini"]).To(Equal("52:54:00:00:00:02=eth0\n"))
	g.Expect(files["host1/ymlFile1.yml"]).To(ContainSubstring("vxlan"), "nmstatectl does it on the host")
	for _, none := range []string{"", "[]"} {
		raw, err := staticnetwork.Archive(none)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(raw).To(BeNil())
	}
	_, err := staticnetwork.Archive("x")
	g.Expect(err).To(HaveOccurred())
	_, err = staticnetwork.Archive(`[{"network_yaml":"interfaces: {a: b}"}]`)
	g.Expect(err).To(MatchError(ContainSubstring("static_network_config[0].network_yaml")))
}

// unpacked are the files of the archive, each for its owner alone.
func unpacked(t *testing.T, config string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	raw, err := staticnetwork.Archive(config)
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(raw)); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(header.Mode).To(BeEquivalentTo(0o600))
		content, err := io.ReadAll(r)
		g.Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(content)
	}
}

func TestCheck(t *testing.T) {
	card := func(mac, name string) wire.MACInterfaceMap {
		return wire.MACInterfaceMap{{MACAddress: mac, LogicalNICName: name}}
	}
	for name, tc := range map[string]struct {
		hosts []wire.HostStaticNetworkConfig
		want  string
	}{
		"two hosts": {[]wire.HostStaticNetworkConfig{
			{NetworkYaml: "interfaces: []", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}, {NetworkYaml: "{}", MACInterfaceMap: card("52:54:00:00:00:02", "eth0")},
		}, ""},
		"no card":        {[]wire.HostStaticNetworkConfig{{NetworkYaml: "{}"}}, "mac_interface_map is empty"},
		"no YAML":        {[]wire.HostStaticNetworkConfig{{NetworkYaml: "a: [", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "[0].network_yaml"},
		"a list":         {[]wire.HostStaticNetworkConfig{{NetworkYaml: "- a", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "[0].network_yaml"},
		"no address":     {[]wire.HostStaticNetworkConfig{{NetworkYaml: "{}", MACInterfaceMap: card("eth0", "eth0")}}, "no MAC address"},
		"no name":        {[]wire.HostStaticNetworkConfig{{NetworkYaml: "{}", MACInterfaceMap: card("52:54:00:00:00:01", "a b")}}, "no name of a card"},
		"the same name":  {[]wire.HostStaticNetworkConfig{{NetworkYaml: "{}", MACInterfaceMap: append(card("52:54:00:00:00:01", "a"), card("52:54:00:00:00:02", "a")...)}}, "two cards have the name a"},
		"empty":          {[]wire.HostStaticNetworkConfig{{NetworkYaml: " \n", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "[0].network_yaml: is empty"},
		"no nmstate":     {[]wire.HostStaticNetworkConfig{{NetworkYaml: "interfaces: {a: b}", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "[0].network_yaml"},
		"a mistake":      {[]wire.HostStaticNetworkConfig{{NetworkYaml: "interfaces: [{name: eth0, mtu: big}]", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "interfaces[0].mtu"},
		"for nmstatectl": {[]wire.HostStaticNetworkConfig{{NetworkYaml: "interfaces: [{name: eth0}, {name: vx, type: vxlan}]", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, ""},
		"Open vSwitch":   {[]wire.HostStaticNetworkConfig{{NetworkYaml: "interfaces: [{name: br, type: ovs-bridge}]", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "Open vSwitch is not there"},
		"another address": {
			[]wire.HostStaticNetworkConfig{{NetworkYaml: `interfaces: [{name: eth0, identifier: mac-address, mac-address: "52:54:00:00:00:09"}]`, MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}},
			"the map of addresses says 52:54:00:00:00:01",
		},
		"a bond as a card": {
			[]wire.HostStaticNetworkConfig{{NetworkYaml: "interfaces: [{name: eth0, type: bond, link-aggregation: {mode: 802.3ad}}]", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}},
			"is a card in the map of addresses",
		},
		"not in the map": {
			[]wire.HostStaticNetworkConfig{{NetworkYaml: "interfaces: [{name: nic2, ipv4: {enabled: true, dhcp: true}}]", MACInterfaceMap: card("52:54:00:00:00:01", "nic1")}},
			"nic2 has no address in the map",
		},
		"an empty one": {[]wire.HostStaticNetworkConfig{{NetworkYaml: " ", MACInterfaceMap: card("52:54:00:00:00:01", "eth0")}}, "[0].network_yaml: is empty"},
		"the same address": {
			[]wire.HostStaticNetworkConfig{{NetworkYaml: "{}", MACInterfaceMap: append(card("52:54:00:00:00:01", "a"), card("52:54:00:00:00:01", "b")...)}},
			"two cards have the address 52:54:00:00:00:01",
		},
		"a card of two hosts": {[]wire.HostStaticNetworkConfig{
			{NetworkYaml: "{}", MACInterfaceMap: card("52:54:00:00:00:0a", "eth0")}, {NetworkYaml: "{}", MACInterfaceMap: card("52:54:00:00:00:0A", "eth0")},
		}, "[1]: address 52:54:00:00:00:0a is that of a card of static_network_config[0], too"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := staticnetwork.Check(tc.hosts)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestAddresses(t *testing.T) {
	for name, tc := range map[string]struct {
		document string
		want     []string
	}{
		"of every kind of interface": {"interfaces:\n- {name: a, ipv4: {enabled: true, address: [{ip: 192.0.2.1, prefix-length: 24}, {ip: 192.0.2.2, prefix-length: 24}]}}\n" +
			"- {name: b, type: bond, ipv6: {enabled: true, address: [{ip: '2001:DB8:0::1', prefix-length: 64}]}}\n", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}},
		"by DHCP":            {"interfaces: [{name: a, ipv4: {enabled: true, dhcp: true}}]", nil},
		"what is no address": {"interfaces: [{name: a, ipv4: {address: [{ip: 1.5}, {ip: [x]}, {ip: 192.0.2.1}]}}]", []string{"192.0.2.1"}},
		"no document":        {"interfaces: {a: b}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range staticnetwork.Addresses(wire.HostStaticNetworkConfig{NetworkYaml: tc.document}) {
				got = append(got, a.String())
			}
			NewWithT(t).Expect(got).To(Equal(tc.want))
		})
	}
}
