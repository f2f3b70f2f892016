package installconfig_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/installconfig"
	"github.com/ironflow/ironflow/hub/wire"
)

func edge() installconfig.Cluster {
	return installconfig.Cluster{
		Masters: 3, Workers: 2, PullSecret: `{"auths":{}}`,
		API: wire.Cluster{
			Name: "edge", BaseDNSDomain: "example", SSHPublicKey: "ssh-ed25519 A\n", ControlPlaneCount: 3, HTTPSProxy: "http://proxy.example:3128",
			APIVIPs: []wire.APIVIP{{IP: "192.0.2.100"}}, IngressVIPs: []wire.IngressVIP{{IP: "192.0.2.101"}},
			MachineNetworks: []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}}, ClusterNetworks: []wire.ClusterNetwork{{CIDR: "10.128.0.0/14", HostPrefix: 23}},
			ServiceNetworks: []wire.ServiceNetwork{{CIDR: "172.30.0.0/16"}}, Hyperthreading: "masters",
			Hosts: []wire.Host{{Role: wire.HostRoleMaster, RequestedHostname: "m-0", Inventory: `{"hostname":"x","interfaces":[{"mac_address":"52:54:00:00:00:01"}]}`}},
		},
	}
}

func TestRender(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*installconfig.Cluster)
		want   string
	}{
		"three control-plane hosts on bare metal": {func(*installconfig.Cluster) {}, `
apiVersion: v1
baseDomain: example
compute:
- {architecture: amd64, hyperthreading: Disabled, name: worker, replicas: 2}
controlPlane: {architecture: amd64, hyperthreading: Enabled, name: master, replicas: 3}
metadata: {name: edge}
networking:
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  machineNetwork: [{cidr: 192.0.2.0/24}]
  networkType: OVNKubernetes
  serviceNetwork: [172.30.0.0/16]
platform:
  baremetal:
    apiVIPs: [192.0.2.100]
    ingressVIPs: [192.0.2.101]
    provisioningNetwork: Disabled
    hosts: [{bootMACAddress: "52:54:00:00:00:01", bootMode: UEFI, hardwareProfile: unknown, name: m-0, role: master}]
proxy: {httpsProxy: "http://proxy.example:3128"}
pullSecret: '{"auths":{}}'
sshKey: ssh-ed25519 A
`},
		"one host, with overrides": {func(c *installconfig.Cluster) {
			c.Masters, c.Workers, c.API.ControlPlaneCount, c.API.HTTPSProxy, c.API.CPUArchitecture = 1, 0, 1, "", "aarch64"
			c.API.Hosts[0].InstallationDiskID = "/dev/disk/by-id/a"
			c.API.InstallConfigOverrides = `{"networking":{"networkType":"Calico","machineNetwork":null},"fips":true}`
		}, `
apiVersion: v1
baseDomain: example
bootstrapInPlace: {installationDisk: /dev/disk/by-id/a}
compute:
- {architecture: arm64, hyperthreading: Disabled, name: worker, replicas: 0}
controlPlane: {architecture: arm64, hyperthreading: Enabled, name: master, replicas: 1}
fips: true
metadata: {name: edge}
networking:
  clusterNetwork: [{cidr: 10.128.0.0/14, hostPrefix: 23}]
  networkType: Calico
  serviceNetwork: [172.30.0.0/16]
platform: {none: {}}
pullSecret: '{"auths":{}}'
sshKey: ssh-ed25519 A
`},
		"a load balancer of the user's": {func(c *installconfig.Cluster) {
			c.API.LoadBalancer = &wire.LoadBalancer{Type: wire.LoadBalancerTypeUserManaged}
			c.API.InstallConfigOverrides = `{"compute":null,"controlPlane":null,"networking":null,"proxy":null,"platform":{"baremetal":{"hosts":null}}}`
		}, `
apiVersion: v1
baseDomain: example
metadata: {name: edge}
platform:
  baremetal:
    apiVIPs: [192.0.2.100]
    ingressVIPs: [192.0.2.101]
    loadBalancer: {type: UserManaged}
    provisioningNetwork: Disabled
pullSecret: '{"auths":{}}'
sshKey: ssh-ed25519 A
`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := edge()
			tc.change(&c)
			raw, err := installconfig.Render(c)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(raw).To(MatchYAML(tc.want))
		})
	}
}

func TestOverridesThatAreNone(t *testing.T) {
	for _, text := range []string{"x", "[]", `"a"`, "null", "{"} {
		t.Run(text, func(t *testing.T) { NewWithT(t).Expect(installconfig.Check(text)).NotTo(Succeed()) })
	}
	NewWithT(t).Expect(installconfig.Check("")).To(Succeed())
}

// TestTheBootAddressTellsMachinesApart: BMCs show a USB card to the host that has the same
// address in every machine, and comes first.
func TestTheBootAddressTellsMachinesApart(t *testing.T) {
	const usb = "be:3a:f2:b6:05:9f"
	inventory := func(cards ...wire.Interface) string {
		raw, err := json.Marshal(wire.Inventory{Hostname: "m", Interfaces: append([]wire.Interface{{Name: "lo"}, {Name: "enp0s20f0u8u3c2", MACAddress: usb}}, cards...)})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return string(raw)
	}
	card := func(mac string, addresses ...string) wire.Interface {
		return wire.Interface{Name: "ens1f0", MACAddress: mac, Ipv4Addresses: addresses}
	}
	for name, tc := range map[string]struct{ inventory, want string }{
		"in the machine network": {inventory(card("52:54:00:00:00:02", "198.51.100.1/24"), card("52:54:00:00:00:01", "192.0.2.1/24")), "52:54:00:00:00:01"},
		"by IPv6":                {inventory(card("52:54:00:00:00:02", "198.51.100.1/24"), wire.Interface{MACAddress: "52:54:00:00:00:01", Ipv6Addresses: []string{"2001:db8::1/64"}}), "52:54:00:00:00:01"},
		"in none":                {inventory(card("52:54:00:00:00:02", "198.51.100.1/24")), "52:54:00:00:00:02"},
		"without addresses":      {inventory(card("52:54:00:00:00:02")), usb},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := edge()
			c.API.MachineNetworks = append(c.API.MachineNetworks, wire.MachineNetwork{CIDR: "2001:db8::/64"})
			c.API.Hosts = []wire.Host{{RequestedHostname: "m0", Role: wire.HostRoleMaster, Inventory: tc.inventory}}
			text, err := installconfig.Render(c)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(text)).To(MatchRegexp(`bootMACAddress: "?` + tc.want + `"?\n`))
		})
	}
}
