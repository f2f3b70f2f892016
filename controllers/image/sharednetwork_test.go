package image_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

func cardsOf(pairs ...string) (out wire.MACInterfaceMap) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, wire.MACInterfaceMapItem{LogicalNICName: pairs[i], MACAddress: pairs[i+1]})
	}
	return out
}

// imageOf is the image of an infra-env with one host.
func imageOf(t *testing.T, document string, cards wire.MACInterfaceMap, live network.Live) (images.Spec, error) {
	t.Helper()
	config, err := json.Marshal([]wire.HostStaticNetworkConfig{{NetworkYaml: document, MACInterfaceMap: cards}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	agent := ignition.Agent{URL: "https://hub.example", InfraEnvID: "0ad6d3b0-1111-4222-8333-000000000001", Version: "1", Token: "t"}
	return image.OfInfraEnv(wire.InfraEnv{StaticNetworkConfig: string(config)}, agent, service.ImageParts{}, live)
}

// filesOf are the files of the host in the initrd of that image.
func filesOf(t *testing.T, document string, cards wire.MACInterfaceMap) (map[string]string, error) {
	t.Helper()
	spec, err := imageOf(t, document, cards, network.Live{})
	files := map[string]string{}
	for _, f := range spec.InitrdFiles {
		if name, ok := strings.CutPrefix(f.Name, "etc/assisted/network/host0/"); ok {
			files[name] = string(f.Data)
		}
	}
	return files, err
}

// The example of the manual for the agent-based installer: a VLAN over a bond whose ports
// are named in the map of addresses only.
const manualsBond = `
interfaces:
  - name: bond0.300
    type: vlan
    state: up
    vlan: {base-iface: bond0, id: 300}
    ipv4: {enabled: true, dhcp: false, address: [{ip: 10.10.10.14, prefix-length: 24}]}
  - name: bond0
    type: bond
    state: up
    mac-address: 00:21:50:90:c0:10
    ipv4: {enabled: false}
    ipv6: {enabled: false}
    link-aggregation:
      mode: active-backup
      options: {miimon: "150"}
      port: [enp0s4, enp0s5]
dns-resolver: {config: {server: [10.10.10.11, 10.10.10.12]}}
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 10.10.10.10, next-hop-interface: bond0.300, table-id: 254}]}
`

func TestBondOfTheManual(t *testing.T) {
	g := NewWithT(t)
	files, err := filesOf(t, manualsBond, cardsOf("enp0s4", "00:21:50:90:c0:10", "enp0s5", "00:21:50:90:c0:20"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(And(HaveKey("bond0.nmconnection"), HaveKey("bond0.300.nmconnection"), HaveKey("enp0s4.nmconnection"), HaveKey("enp0s5.nmconnection")))
	g.Expect(files["enp0s5.nmconnection"]).To(And(ContainSubstring("mac-address=00:21:50:90:C0:20"), ContainSubstring("master=bond0")))
}

// A card that is in no map and whose name no kernel gives: nothing would ever be configured (assisted-service#6305).
func TestCardWithoutAnAddress(t *testing.T) {
	g := NewWithT(t)
	spec, err := imageOf(t, `{interfaces: [{name: nic2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}`, cardsOf("nic1", "52:54:00:00:00:01"), network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.Lacks).To(MatchError(ContainSubstring("nic2")))
	files, err := filesOf(t, `{interfaces: [{name: eno2, type: ethernet, state: up, ipv4: {enabled: false}},
		{name: nic1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}`, cardsOf("nic1", "52:54:00:00:00:01"))
	g.Expect(err).NotTo(HaveOccurred(), "a name of the kernel needs no address (OCPBUGS-34849)")
	g.Expect(files).To(HaveKey("eno2.nmconnection"))
}

func TestDocumentsOfUsers(t *testing.T) {
	for name, tc := range map[string]struct{ network, file, want string }{
		"found by its address": {
			`{interfaces: [{name: x1, type: ethernet, state: up, identifier: mac-address, mac-address: "52:54:00:00:00:0a", ipv4: {enabled: true, dhcp: true}}]}`,
			"x1.nmconnection", "mac-address=52:54:00:00:00:0A",
		},
		"address in capitals": {
			`{interfaces: [{name: nic1, type: ethernet, state: up, mac-address: "52:54:00:00:00:01", ipv4: {enabled: true, dhcp: true}}]}`, "nic1.nmconnection",
			"mac-address=52:54:00:00:00:01",
		},
		"numbers in quotes": {
			`{interfaces: [{name: nic1, type: ethernet, state: up, mtu: "9000", ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.7, prefix-length: "24"}]}}]}`,
			"nic1.nmconnection", "192.0.2.7/24",
		},
		"booleans in quotes": {`{interfaces: [{name: nic1, type: ethernet, state: up, ipv4: {enabled: "true", dhcp: "true"}}]}`, "nic1.nmconnection", "method=auto"},
		"a dotted name": {
			`{interfaces: [{name: nic1, type: ethernet, state: up},{name: nic1.104, type: vlan, state: up, vlan: {base-iface: nic1, id: "104"}, ipv4: {enabled: true, dhcp: true}}]}`,
			"nic1.104.nmconnection", "id=104",
		},
		"a document mark": {"---\ninterfaces:\n- name: nic1\n  type: ethernet\n  state: up\n  ipv4: {enabled: true, dhcp: true}\n", "nic1.nmconnection", "method=auto"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			files, err := filesOf(t, tc.network, cardsOf("nic1", "52:54:00:00:00:01"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(files[tc.file]).To(ContainSubstring(tc.want))
		})
	}
}

// TestAnInfraEnvsHostsWithNmstatectl: what no keyfile says is set up by the live system of
// the machine that has the cards.
func TestAnInfraEnvsHostsWithNmstatectl(t *testing.T) {
	g := NewWithT(t)
	const beyond = "{interfaces: [{name: nic1, type: ethernet}, {name: vx, type: vxlan, vxlan: {id: 7, base-iface: nic1, remote: 192.0.2.1}}]}"
	cards := cardsOf("nic1", "52:54:00:00:00:01")
	spec, err := imageOf(t, beyond, cards, network.Live{Nmstatectl: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.InitrdFiles).To(BeEmpty(), "it has DHCP until then")
	text, err := url.PathUnescape(string(spec.Ignition))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(And(ContainSubstring("/etc/ironflow/nmstate/host0.cards"), ContainSubstring("vxlan"), ContainSubstring("ironflow-nmstate.service")))
}

// TestANetworkThatNobodyCanDoIsThatOfOneHost: the image is made for the others, its owner
// hears of it, and the host's console says so.
func TestANetworkThatNobodyCanDoIsThatOfOneHost(t *testing.T) {
	const beyond = "{interfaces: [{name: nic1, type: ethernet}, {name: vx, type: vxlan, vxlan: {id: 7, base-iface: nic1, remote: 192.0.2.1}}]}"
	const odd = "{interfaces: [{name: nic1, mtu: large}]}"
	for name, tc := range map[string]struct{ document, why string }{
		"beyond the live system": {beyond, "interfaces[1].type"},
		"a mistake":              {odd, "interfaces[0].mtu"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config, err := json.Marshal([]wire.HostStaticNetworkConfig{
				{NetworkYaml: tc.document, MACInterfaceMap: cardsOf("nic1", "52:54:00:00:00:01")},
				{NetworkYaml: "{interfaces: [{name: nic1, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.7, prefix-length: 24}]}}]}", MACInterfaceMap: cardsOf("nic1", "52:54:00:00:00:02")},
			})
			g.Expect(err).NotTo(HaveOccurred())
			agent := ignition.Agent{URL: "https://hub.example", InfraEnvID: "0ad6d3b0-1111-4222-8333-000000000001", Version: "1", Token: "t"}
			spec, err := image.OfInfraEnv(wire.InfraEnv{StaticNetworkConfig: string(config)}, agent, service.ImageParts{}, network.Live{Why: "the base image is too old"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(spec.InitrdFiles).To(And(ContainElement(HaveField("Name", "etc/assisted/network/host0/nic1.nmconnection")), Not(ContainElement(HaveField("Name", ContainSubstring("host1"))))))
			g.Expect(spec.Lacks).To(MatchError(And(
				HavePrefix("1 of 2 static networks are left out"), ContainSubstring("static_network_config[0]"), ContainSubstring("52:54:00:00:00:01"),
				ContainSubstring(tc.why),
			)))
			_, isThat := errors.AsType[*image.LeftOutError](spec.Lacks)
			g.Expect(isThat).To(BeTrue())
			text, err := url.PathUnescape(string(spec.Ignition))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(text).To(And(ContainSubstring("/etc/ironflow/nmstate/host0.refused"), ContainSubstring("/etc/ironflow/nmstate/host0.cards"), ContainSubstring(tc.why)))
		})
	}
}

// TestManyNetworksThatNobodyCanDoAreAFewWords: they become an event.
func TestManyNetworksThatNobodyCanDoAreAFewWords(t *testing.T) {
	g := NewWithT(t)
	var configs []wire.HostStaticNetworkConfig
	for n := range 9 {
		configs = append(configs, wire.HostStaticNetworkConfig{NetworkYaml: "{interfaces: [{name: nic1, mtu: large}]}", MACInterfaceMap: cardsOf("nic1", fmt.Sprintf("52:54:00:00:00:0%d", n))})
	}
	config, err := json.Marshal(configs)
	g.Expect(err).NotTo(HaveOccurred())
	agent := ignition.Agent{URL: "https://hub.example", InfraEnvID: "0ad6d3b0-1111-4222-8333-000000000001", Version: "1", Token: "t"}
	spec, err := image.OfInfraEnv(wire.InfraEnv{StaticNetworkConfig: string(config)}, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.InitrdFiles).To(BeEmpty())
	g.Expect(spec.Lacks).To(MatchError(And(HavePrefix("9 of 9"), ContainSubstring("static_network_config[4]"), Not(ContainSubstring("static_network_config[5]")), HaveSuffix("; and 4 more"))))
}

func TestAnInfraEnvsHostsHaveTheirNames(t *testing.T) {
	g := NewWithT(t)
	spec, err := imageOf(t, "{hostname: {config: node-7}, interfaces: [{name: nic1}]}", cardsOf("nic1", "52:54:00:00:00:01"), network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.InitrdFiles).NotTo(BeEmpty())
	text, err := url.PathUnescape(string(spec.Ignition))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(And(ContainSubstring("/etc/ironflow/nmstate/host0.hostname"), ContainSubstring("node-7")))
}
