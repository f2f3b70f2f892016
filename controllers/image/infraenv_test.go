package image_test

import (
	"encoding/json"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

func TestAnInfraEnvsOwnImage(t *testing.T) {
	g := NewWithT(t)
	agent := ignition.Agent{URL: "https://hub.example", InfraEnvID: "0ad6d3b0-1111-4222-8333-000000000001", Version: "1", Token: "t"}
	proxy, arguments := "http://proxy.example:3128", `[{"operation":"append","value":"a=b"},{"operation":"delete","value":"quiet"}]`
	env := wire.InfraEnv{
		NTPSources: "ntp1.example, ntp2.example", Proxy: &wire.Proxy{HTTPProxy: &proxy}, KernelArguments: &arguments,
		SSHAuthorizedKey: "# me\nssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f me\n",
	}
	spec, err := image.OfInfraEnv(env, agent, service.ImageParts{PullSecret: `{"auths":{}}`, Registries: "# mirrors of the site\n"}, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	text, err := url.PathUnescape(string(spec.Ignition))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(text).To(And(
		ContainSubstring("ntp2.example"), ContainSubstring(proxy), ContainSubstring("HR4f me"), ContainSubstring("/etc/authfile.json"),
		ContainSubstring("/etc/containers/registries.conf"),
	))
	g.Expect(text).NotTo(Or(ContainSubstring("ironic-agent.service"), ContainSubstring("agent.gate")), "without Ironic the agent starts by itself")
	g.Expect(spec.Kargs.Operations).To(Equal([]overlay.KargsOperation{{Operation: "append", Value: "a=b"}, {Operation: "delete", Value: "quiet"}}))

	broken := "["
	env.KernelArguments = &broken
	_, err = image.OfInfraEnv(env, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).To(MatchError(images.ErrBadSpec))

	unasked := `[{"operation":"append","value":"quiet"},{"operation":"append","value":"coreos.inst.install_dev=/dev/sda"}]`
	env.KernelArguments = &unasked
	_, err = image.OfInfraEnv(env, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).To(And(MatchError(images.ErrBadSpec), MatchError(ContainSubstring("kernel arguments: [1]: coreos.inst.install_dev: "))), "it would be carried out at each boot")

	env.KernelArguments = nil
	_, err = image.OfInfraEnv(env, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.InitrdFiles).To(BeEmpty())
}

// TestAnInfraEnvsNetworks: an image for many machines has the network of each of them,
// with its cards by their addresses, also where a VLAN or a bond lies over them.
func TestAnInfraEnvsNetworks(t *testing.T) {
	g := NewWithT(t)
	const one = `{interfaces: [{name: nic1, type: ethernet, state: up, ipv4: {enabled: false}},
		{name: nic1.7, type: vlan, state: up, vlan: {base-iface: nic1, id: 7}, ipv4: {enabled: true, dhcp: false, address: [{ip: 192.0.2.7, prefix-length: 24}]}}]}`
	const other = `{interfaces: [{name: nic1, type: ethernet, state: up, ipv4: {enabled: true, dhcp: true}}]}`
	config, err := json.Marshal([]wire.HostStaticNetworkConfig{
		{NetworkYaml: one, MACInterfaceMap: wire.MACInterfaceMap{{MACAddress: "52:54:00:00:00:01", LogicalNICName: "nic1"}}},
		{NetworkYaml: other, MACInterfaceMap: wire.MACInterfaceMap{{MACAddress: "52:54:00:00:00:02", LogicalNICName: "nic1"}}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	env := wire.InfraEnv{StaticNetworkConfig: string(config), NetworkDiscoveryDelaySeconds: new(int64(30))}
	agent := ignition.Agent{URL: "https://hub.example", InfraEnvID: "0ad6d3b0-1111-4222-8333-000000000001", Version: "1", Token: "t"}
	spec, err := image.OfInfraEnv(env, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]string{}
	for _, f := range spec.InitrdFiles {
		files[f.Name] = string(f.Data)
	}
	g.Expect(files["etc/assisted/network/host0/mac_interface.ini"]).To(Equal("52:54:00:00:00:01=nic1\n"))
	g.Expect(files["etc/assisted/network/host0/nic1.nmconnection"]).To(ContainSubstring("mac-address=52:54:00:00:00:01"))
	g.Expect(files["etc/assisted/network/host0/nic1.7.nmconnection"]).To(And(ContainSubstring("192.0.2.7/24"), Not(ContainSubstring("parent=nic1"))), "whatever the card is called there")
	g.Expect(files["etc/assisted/network/host1/nic1.nmconnection"]).To(ContainSubstring("mac-address=52:54:00:00:00:02"))
	g.Expect(files["etc/systemd/system/pre-network-manager-config.service"]).To(ContainSubstring("DISCOVERY_DELAY_SECONDS=30"))

	env.StaticNetworkConfig = `[{"network_yaml":"interfaces: [{name: a, type: tun}]"}]`
	spec, err = image.OfInfraEnv(env, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.Lacks).To(MatchError(ContainSubstring("static_network_config[0].network_yaml")))
	env.StaticNetworkConfig = "{"
	_, err = image.OfInfraEnv(env, agent, service.ImageParts{}, network.Live{})
	g.Expect(err).To(MatchError(images.ErrBadSpec))
}
