package installconfig_test

import (
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
