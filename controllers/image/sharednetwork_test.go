package image_test

import (
	"encoding/json"
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
	_, err := filesOf(t, `{interfaces: [{name: nic2, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}`, cardsOf("nic1", "52:54:00:00:00:01"))
	g.Expect(err).To(HaveOccurred())
	files, err := filesOf(t, `{interfaces: [{name: eno2, type: ethernet, state: up, ipv4: {enabled: false}},
		{name: nic1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}`, cardsOf("nic1", "52:54:00:00:00:01"))
	g.Expect(err).NotTo(HaveOccurred(), "a name of the kernel needs no address (OCPBUGS-34849)")
	g.Expect(files).To(HaveKey("eno2.nmconnection"))
}

func TestDocumentsOfUsers(t *testing.T) {
	for name, tc := range map[string]struct{ network, file, want string }{
		"found by its address": {`{interfaces: [{name: x1, type: ethernet, state: up, identifier: mac-address, mac-address: "52:54:00:00:00:0a", ipv4: {enabled: true, dhcp: true}}]}`, "x1.nmconnection", "mac-address=52:54:00:00:00:0A"},
		"address in capitals":  {`{interfaces: [{name: nic1, type: ethernet, state: up, mac-address: "52:54:00:00:00:01", ipv4: {enabled: true, dhcp: true}}]}`, "nic1.nmconnection", "mac-address=52:54:00:00:00:01"},
		"numbers in quotes":    {`{interfaces: [{name: nic1, type: ethernet, state: up, mtu: "9000", ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.7, prefix-length: "24"}]}}]}`, "nic1.nmconnection", "192.0.2.7/24"},
		"booleans in quotes":   {`{interfaces: [{name: nic1, type: ethernet, state: up, ipv4: {enabled: "true", dhcp: "true"}}]}`, "nic1.nmconnection", "method=auto"},
		"a dotted name":        {`{interfaces: [{name: nic1, type: ethernet, state: up},{name: nic1.104, type: vlan, state: up, vlan: {base-iface: nic1, id: "104"}, ipv4: {enabled: true, dhcp: true}}]}`, "nic1.104.nmconnection", "id=104"},
		"a document mark":      {"---\ninterfaces:\n- name: nic1\n  type: ethernet\n  state: up\n  ipv4: {enabled: true, dhcp: true}\n", "nic1.nmconnection", "method=auto"},
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
	_, err := imageOf(t, beyond, cards, network.Live{Why: "the base image is too old"})
	g.Expect(err).To(And(MatchError(images.ErrBadSpec), MatchError(ContainSubstring("interfaces[1].type")), MatchError(ContainSubstring("too old"))))
	spec, err := imageOf(t, beyond, cards, network.Live{Nmstatectl: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.InitrdFiles).To(BeEmpty(), "it has DHCP until then")
	text, err := url.PathUnescape(string(spec.Ignition))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(And(ContainSubstring("/etc/ironflow/nmstate/host0.cards"), ContainSubstring("vxlan"), ContainSubstring("ironflow-nmstate.service")))
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
