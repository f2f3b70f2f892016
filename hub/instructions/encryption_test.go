package instructions_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestTheNetworkIsThereForTangServers at each start, before there is a root file system.
func TestTheNetworkIsThereForTangServers(t *testing.T) {
	raw, err := json.Marshal([]wire.HostStaticNetworkConfig{{
		MACInterfaceMap: []wire.MACInterfaceMapItem{{MACAddress: "52:54:00:aa:00:01", LogicalNICName: "eno1"}},
		NetworkYaml: "interfaces:\n- name: eno1\n  ipv4: {address: [{ip: 192.0.2.7, prefix-length: 24}]}\n  ipv6: {address: [{ip: \"2001:db8::7\", prefix-length: 64}]}\n" +
			"dns-resolver:\n  config:\n    server: [192.0.2.53, \"2001:db8::53\", name.example]\n",
	}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	static := func(in *instructions.Input) {
		in.InfraEnv = &wire.InfraEnv{StaticNetworkConfig: string(raw)}
		in.Cluster.MachineNetworks = append(in.Cluster.MachineNetworks, wire.MachineNetwork{CIDR: "2001:db8::/64"})
		in.Inventory.Routes = []wire.Route{
			{Destination: "0.0.0.0", Gateway: "192.0.2.1", Interface: "eno1"},
			{Destination: "0.0.0.0", Gateway: "10.0.0.254", Interface: "eno2"},
			{Destination: "::", Gateway: "fe80::1", Interface: "eno1"},
			{Destination: "192.0.2.0", Gateway: "0.0.0.0", Interface: "eno1"},
		}
	}
	for name, tc := range map[string]struct {
		change func(*instructions.Input)
		want   string
	}{
		"addresses by DHCP": {func(*instructions.Input) {}, `["--append-karg","rd.neednet=1","--append-karg","ip=52-54-00-aa-00-01:dhcp"]`},
		"a static network": {static, `["--copy-network","--append-karg","rd.neednet=1",
			"--append-karg","ip=192.0.2.7::192.0.2.1:255.255.255.0::52-54-00-aa-00-01:none","--append-karg","ip=[2001:db8::7]::[fe80::1]:64::52-54-00-aa-00-01:none",
			"--append-karg","nameserver=192.0.2.53","--append-karg","nameserver=2001:db8::53"]`},
		"a static network that the live system has left out": {func(in *instructions.Input) {
			static(in)
			in.Inventory.Interfaces[0].Ipv4Addresses, in.Inventory.Interfaces[0].Ipv6Addresses = []string{"192.0.2.99/24"}, []string{"2001:db8::99/64"}
		}, `["--copy-network","--append-karg","rd.neednet=1"]`},
		"network data of the host's own": {func(in *instructions.Input) {
			static(in)
			in.InfraEnv, in.Host.InstallerArgs = nil, `["--copy-network"]`
		}, `["--append-karg","rd.neednet=1",
			"--append-karg","ip=192.0.2.7::192.0.2.1:255.255.255.0::52-54-00-aa-00-01:none","--append-karg","ip=[2001:db8::7]::[fe80::1]:64::52-54-00-aa-00-01:none","--copy-network"]`},
		"as a user says": {func(in *instructions.Input) {
			static(in)
			in.Host.InstallerArgs = `["--append-karg","ip=eno1:dhcp"]`
		}, `["--append-karg","rd.neednet=1","--append-karg","ip=eno1:dhcp"]`},
		"another role's disks": {func(in *instructions.Input) { in.Cluster.DiskEncryption.EnableOn = new("masters") }, dhcp},
		"a TPM":                {func(in *instructions.Input) { in.Cluster.DiskEncryption.Mode = new("tpmv2") }, dhcp},
		"nobody's disks":       {func(in *instructions.Input) { in.Cluster.DiskEncryption.EnableOn = new("none") }, dhcp},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, skipped := instructions.For(input(wire.HostStatusInstalling, func(in *instructions.Input) {
				released(in)
				in.Cluster.DiskEncryption = &wire.DiskEncryption{EnableOn: new("workers"), Mode: new("tang"), TangServers: `[{"url":"http://tang.example","thumbprint":"t"}]`}
				tc.change(in)
			}))
			g.Expect(skipped).To(BeEmpty())
			var request wire.InstallCmdRequest
			g.Expect(json.Unmarshal([]byte(built.Instructions[0].Args[0]), &request)).To(Succeed())
			g.Expect(request.InstallerArgs).To(MatchJSON(tc.want))
		})
	}
}
