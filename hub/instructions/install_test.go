package instructions_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/wire"
)

// released is a host of a cluster with a release, with two disks and two cards.
func released(in *instructions.Input) {
	in.Cluster.OpenshiftVersion = "4.20.1"
	in.Host.InstallationDiskID, in.Host.InstallationDiskPath = "/dev/disk/by-id/one", "/dev/sda"
	in.Inventory.Interfaces = []wire.Interface{
		{Name: "eno1", Type: "physical", MACAddress: "52:54:00:AA:00:01", Ipv4Addresses: []string{"192.0.2.7/24"}, Ipv6Addresses: []string{"2001:db8::7/64"}},
		{Name: "eno2", Type: "physical", MACAddress: "52:54:00:aa:00:02", Ipv4Addresses: []string{"10.0.0.1/8"}},
		{Name: "bond0", Type: "bond", MACAddress: "52:54:00:aa:00:03", Ipv4Addresses: []string{"192.0.2.8/24"}},
	}
	in.Inventory.Disks = []wire.Disk{
		{ID: "/dev/disk/by-id/one", Path: "/dev/sda", Name: "sda", DriveType: wire.DriveTypeSsd, Bootable: true},
		{ID: "/dev/disk/by-id/two", Path: "/dev/sdb", Name: "sdb", DriveType: wire.DriveTypeSsd, Bootable: true},
		{ID: "/dev/disk/by-id/data", Path: "/dev/sdc", Name: "sdc", DriveType: wire.DriveTypeHdd},
	}
}

const dhcp = `["--append-karg","ip=52-54-00-aa-00-01:dhcp"]`

func TestTheOrderToInstall(t *testing.T) {
	driven := func(kind wire.DriveType) func(*instructions.Input) {
		return func(in *instructions.Input) {
			in.Cluster.MachineNetworks = nil
			in.Inventory.Disks[0].DriveType = kind
		}
	}
	for name, tc := range map[string]struct {
		change func(*instructions.Input)
		want   func(*wire.InstallCmdRequest)
	}{
		"as a rule": {nil, func(*wire.InstallCmdRequest) {}},
		"a card with addresses of both families": {
			func(in *instructions.Input) {
				in.Cluster.MachineNetworks = append(in.Cluster.MachineNetworks, wire.MachineNetwork{CIDR: "2001:db8::/64"})
			}, func(r *wire.InstallCmdRequest) {
				r.InstallerArgs = `["--append-karg","ip=52-54-00-aa-00-01:dhcp,dhcp6"]`
			},
		},
		"a static network": {
			func(in *instructions.Input) { in.InfraEnv = &wire.InfraEnv{StaticNetworkConfig: `[{}]`} },
			func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--copy-network"]` },
		},
		"what a user says comes last": {
			func(in *instructions.Input) { in.Host.InstallerArgs = `["--append-karg","a=b"]` },
			func(r *wire.InstallCmdRequest) {
				r.InstallerArgs = `["--append-karg","ip=52-54-00-aa-00-01:dhcp","--append-karg","a=b"]`
			},
		},
		"a user's own network": {
			func(in *instructions.Input) { in.Host.InstallerArgs = `["--append-karg","ip=eno1:off"]` },
			func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--append-karg","ip=eno1:off"]` },
		},
		"a user's static network": {
			func(in *instructions.Input) {
				in.InfraEnv, in.Host.InstallerArgs = &wire.InfraEnv{StaticNetworkConfig: `[{}]`}, `["--copy-network"]`
			},
			func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--copy-network"]` },
		},
		"a multipath device": {driven(wire.DriveTypeMultipath), func(r *wire.InstallCmdRequest) {
			r.InstallerArgs = `["--append-karg","root=/dev/disk/by-label/dm-mpath-root","--append-karg","rw","--append-karg","rd.multipath=default"]`
		}},
		"a multipath device over iSCSI": {
			func(in *instructions.Input) {
				driven(wire.DriveTypeMultipath)(in)
				in.Inventory.Disks[0].Name = "mpatha"
				in.Inventory.Disks = append(in.Inventory.Disks, wire.Disk{ID: "path", Name: "sdd", Holders: "mpatha", DriveType: wire.DriveTypeISCSI, Bootable: true})
			}, func(r *wire.InstallCmdRequest) {
				r.InstallerArgs = `["--append-karg","root=/dev/disk/by-label/dm-mpath-root","--append-karg","rw","--append-karg","rd.multipath=default","--append-karg","rd.iscsi.firmware=1"]`
			},
		},
		"an iSCSI disk": {driven(wire.DriveTypeISCSI), func(r *wire.InstallCmdRequest) { r.InstallerArgs = `["--append-karg","rd.iscsi.firmware=1"]` }},
		"a RAID": {driven(wire.DriveTypeRaid), func(r *wire.InstallCmdRequest) {
			r.InstallerArgs = `["--append-karg","rd.md=1","--append-karg","rd.auto=1"]`
		}},
		"a mainframe": {
			func(in *instructions.Input) {
				in.Inventory.CPU = &wire.CPU{Architecture: "s390x"}
				in.Inventory.Boot = &wire.Boot{CommandLine: "quiet rd.znet=qeth,0.0.1 rd.dasd=0.0.2 ip=192.0.2.7::192.0.2.1:24::enc1:none"}
			}, func(r *wire.InstallCmdRequest) {
				r.InstallerArgs = `["--append-karg","rd.znet=qeth,0.0.1","--append-karg","rd.dasd=0.0.2","--append-karg","ip=192.0.2.7::192.0.2.1:24::enc1:none"]`
				r.EnableSkipMcoReboot = false
			},
		},
		"an old release": {func(in *instructions.Input) { in.Cluster.OpenshiftVersion = "4.14.9" }, func(r *wire.InstallCmdRequest) {
			r.OpenshiftVersion, r.EnableSkipMcoReboot = "4.14.9", false
		}},
		"our own installer": {
			func(in *instructions.Input) { in.Images.Installer = "quay.example/site/ironflow-agent:1" },
			func(r *wire.InstallCmdRequest) {
				r.InstallerImage, r.EnableSkipMcoReboot = "quay.example/site/ironflow-agent:1", false
			},
		},
		"the installer of the host's own agent": {
			func(in *instructions.Input) {
				in.Images.Installer, in.Host.DiscoveryAgentVersion = "quay.example/a:1", "quay.example/a@sha256:01"
			},
			func(r *wire.InstallCmdRequest) { r.InstallerImage, r.EnableSkipMcoReboot = "quay.example/a:1", false },
		},
		"a mapped device": {func(in *instructions.Input) { in.Host.InstallationDiskPath = "/dev/dm-0" }, func(r *wire.InstallCmdRequest) {
			r.EnableSkipMcoReboot = false
		}},
		"without a release": {func(in *instructions.Input) { in.Cluster.OpenshiftVersion, in.TellReboots = "", true }, func(r *wire.InstallCmdRequest) {
			r.OpenshiftVersion, r.EnableSkipMcoReboot, r.DisksToFormat = "", false, nil
		}},
		"somebody counts restarts": {func(in *instructions.Input) { in.TellReboots = true }, func(r *wire.InstallCmdRequest) { r.NotifyNumReboots = true }},
		"a disk to keep":           {func(in *instructions.Input) { in.Host.SkipFormattingDisks = "/dev/sdb" }, func(r *wire.InstallCmdRequest) { r.DisksToFormat = nil }},
		"a logical volume":         {func(in *instructions.Input) { in.Inventory.Disks[1].DriveType = wire.DriveTypeLvm }, func(r *wire.InstallCmdRequest) { r.DisksToFormat = nil }},
		"drives of other machines": {func(in *instructions.Input) { in.Inventory.Disks[1].DriveType = wire.DriveTypeFc }, func(r *wire.InstallCmdRequest) { r.DisksToFormat = nil }},
		"partitions to keep": {func(in *instructions.Input) { in.Host.InstallerArgs = `["--save-partlabel","data"]` }, func(r *wire.InstallCmdRequest) {
			r.InstallerArgs, r.SkipInstallationDiskCleanup = `["--append-karg","ip=52-54-00-aa-00-01:dhcp","--save-partlabel","data"]`, true
		}},
		"a live system on a disk": {
			func(in *instructions.Input) {
				in.Inventory.Boot, in.Images.CoreOS = &wire.Boot{DeviceType: wire.BootDeviceTypePersistent}, "os"
			},
			func(r *wire.InstallCmdRequest) { r.CoreosImage = "os" },
		},
		"a live system on a disk, our own installer": {
			func(in *instructions.Input) {
				in.Inventory.Boot, in.Images.CoreOS = &wire.Boot{DeviceType: wire.BootDeviceTypePersistent}, "os"
				in.Images.Installer = "quay.example/site/ironflow-agent:1"
			},
			func(r *wire.InstallCmdRequest) {
				r.InstallerImage, r.EnableSkipMcoReboot = "quay.example/site/ironflow-agent:1", false
			},
		},
		"a live system in memory": {func(in *instructions.Input) { in.Images.CoreOS = "os" }, func(*wire.InstallCmdRequest) {}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			want := wire.InstallCmdRequest{
				ClusterID: "c", InfraEnvID: "e", HostID: "h", Role: wire.HostRoleWorker, BootDevice: "/dev/disk/by-id/one", InstallerImage: "i", ControllerImage: "k",
				OpenshiftVersion: "4.20.1", ControlPlaneCount: 3, CheckCvo: new(false), EnableSkipMcoReboot: true,
				InstallerArgs: dhcp, DisksToFormat: []string{"/dev/disk/by-id/two"},
			}
			tc.want(&want)
			built, skipped := instructions.For(input(wire.HostStatusInstalling, func(in *instructions.Input) {
				released(in)
				if tc.change != nil {
					tc.change(in)
				}
			}))
			g.Expect(skipped).To(BeEmpty())
			var got wire.InstallCmdRequest
			g.Expect(json.Unmarshal([]byte(built.Instructions[0].Args[0]), &got)).To(Succeed())
			g.Expect(got).To(Equal(want))
		})
	}
}

// TestOtherDisks: what is formatted beside the installation disk is never a logical
// volume, whatever it begins with (assisted-service#3982).
func TestOtherDisks(t *testing.T) {
	g := NewWithT(t)
	h := &wire.Host{InstallationDiskID: "/dev/sda", InstallationDiskPath: "/dev/sda"}
	disk := func(name string, kind wire.DriveType, holders string) wire.Disk {
		return wire.Disk{ID: "/dev/" + name, Path: "/dev/" + name, Name: name, DriveType: kind, Bootable: true, Holders: holders}
	}
	inventory := &wire.Inventory{Disks: []wire.Disk{
		disk("sda", wire.DriveTypeSsd, ""), disk("sdb", wire.DriveTypeHdd, "dm-0"), disk("dm-0", wire.DriveTypeLvm, ""), disk("sdc", wire.DriveTypeHdd, ""),
		disk("sdd", wire.DriveTypeFc, ""), disk("sde", wire.DriveTypeISCSI, ""), disk("dm-1", wire.DriveTypeMultipath, ""),
	}}
	format, keep := instructions.OtherDisks(h, inventory, &wire.Cluster{OpenshiftVersion: "4.20.1"})
	g.Expect(format).To(ConsistOf(HaveField("ID", "/dev/sdc")))
	g.Expect(keep).To(BeEmpty())
}

// TestTheNetworkOfTheDisk: the card that an iSCSI disk is reached over lies outside of the
// machine network by rule, and has to have its address before the root file system is
// there (assisted-service#6218, #6602, #7192).
func TestTheNetworkOfTheDisk(t *testing.T) {
	iscsi := func(id, name, holders, address string) wire.Disk {
		return wire.Disk{ID: id, Path: "/dev/" + name, Name: name, DriveType: wire.DriveTypeISCSI, Holders: holders, Iscsi: &wire.Iscsi{HostIPAddress: address}}
	}
	mapped := wire.Disk{ID: "/dev/disk/by-id/one", Path: "/dev/dm-0", Name: "dm-0", DriveType: wire.DriveTypeMultipath}
	single := iscsi("/dev/disk/by-id/one", "sda", "", "10.0.0.1")
	inMap := func(mac, address string) *wire.InfraEnv {
		family := "ipv4"
		if strings.Contains(address, ":") {
			family = "ipv6"
		}
		return &wire.InfraEnv{StaticNetworkConfig: `[{"network_yaml":"interfaces: [{name: san, ` + family + `: {enabled: true, address: [{ip: '` + address + `', prefix-length: 8}]}}]",` +
			`"mac_interface_map":[{"mac_address":"` + mac + `","logical_nic_name":"san"}]}]`}
	}
	const machine, san = "ip=52-54-00-aa-00-01:dhcp", "ip=52-54-00-aa-00-02:dhcp"
	for name, tc := range map[string]struct {
		disks  []wire.Disk
		change func(*instructions.Input)
		want   []string // beside rd.iscsi.firmware=1
	}{
		"a disk":              {[]wire.Disk{single}, nil, []string{san, machine}},
		"over IPv6":           {[]wire.Disk{iscsi("/dev/disk/by-id/one", "sda", "", "fd00::1")}, nil, []string{"ip=52-54-00-aa-00-02:dhcp6", machine}},
		"the paths of one":    {[]wire.Disk{mapped, iscsi("p1", "sdb", "dm-0", "10.0.0.1"), iscsi("p2", "sdc", "dm-0", "10.1.0.1")}, nil, []string{san, "ip=52-54-00-aa-00-04:dhcp", machine}},
		"two paths of a card": {[]wire.Disk{mapped, iscsi("p1", "sdb", "dm-0", "10.0.0.1"), iscsi("p2", "sdc", "dm-0", "10.0.0.1")}, nil, []string{san, machine}},
		"the machine network's card": {
			[]wire.Disk{iscsi("/dev/disk/by-id/one", "sda", "", "192.0.2.7")}, nil, []string{machine},
		},
		"an address of nobody": {[]wire.Disk{iscsi("/dev/disk/by-id/one", "sda", "", "10.9.9.9")}, nil, []string{machine}},
		"a bond":               {[]wire.Disk{iscsi("/dev/disk/by-id/one", "sda", "", "192.0.2.8")}, nil, []string{machine}},
		"paths of a card by both families": {
			[]wire.Disk{mapped, iscsi("p1", "sdb", "dm-0", "fd00::1"), iscsi("p2", "sdc", "dm-0", "10.0.0.1")}, nil, []string{"ip=52-54-00-aa-00-02:dhcp,dhcp6", machine},
		},
		"a user's own network": {[]wire.Disk{single}, func(in *instructions.Input) { in.Host.InstallerArgs = `["--append-karg","ip=eno2:off"]` }, []string{"ip=eno2:off"}},
		"a user's files": {
			[]wire.Disk{single},
			func(in *instructions.Input) { in.Host.InstallerArgs = `["--copy-network"]` },
			[]string{"ip=10.0.0.1:::255.0.0.0::52-54-00-aa-00-02:none", "--copy-network"},
		},
		"a user's files beside a static network that has the card ask": {
			[]wire.Disk{single}, func(in *instructions.Input) {
				in.Host.InstallerArgs, in.InfraEnv = `["-n"]`, inMap("52:54:00:AA:00:02", "10.0.0.9")
			}, []string{san},
		},
		"a static network of another card": {[]wire.Disk{single}, func(in *instructions.Input) { in.InfraEnv = inMap("52:54:00:AA:00:01", "10.0.0.1") }, []string{"--copy-network", san}},
		"a static network of the card that the live system has left out": {
			[]wire.Disk{single}, func(in *instructions.Input) { in.InfraEnv = inMap("52:54:00:AA:00:02", "10.0.0.9") }, []string{"--copy-network", san},
		},
		"a static network that has the card ask": {
			[]wire.Disk{single}, func(in *instructions.Input) {
				in.InfraEnv = inMap("52:54:00:AA:00:02", "10.0.0.9")
				in.InfraEnv.StaticNetworkConfig = strings.Replace(in.InfraEnv.StaticNetworkConfig, "address: [{ip: '10.0.0.9', prefix-length: 8}]", "dhcp: true", 1)
			}, []string{"--copy-network", san},
		},
		"a static network of the card": {
			[]wire.Disk{single},
			func(in *instructions.Input) { in.InfraEnv = inMap("52:54:00:AA:00:02", "10.0.0.1") },
			[]string{"--copy-network", "ip=10.0.0.1:::255.0.0.0::52-54-00-aa-00-02:none"},
		},
		"a static network of the card over IPv6": {
			[]wire.Disk{iscsi("/dev/disk/by-id/one", "sda", "", "fd00::1")},
			func(in *instructions.Input) { in.InfraEnv = inMap("52:54:00:AA:00:02", "FD00:0::1") },
			[]string{"--copy-network", "ip=[fd00::1]:::64::52-54-00-aa-00-02:none"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, skipped := instructions.For(input(wire.HostStatusInstalling, func(in *instructions.Input) {
				released(in)
				in.Inventory.Interfaces[1].Ipv6Addresses = []string{"fd00::1/64"}
				in.Inventory.Interfaces = append(in.Inventory.Interfaces, wire.Interface{Name: "eno3", MACAddress: "52:54:00:aa:00:04", Ipv4Addresses: []string{"10.1.0.1/16"}})
				in.Inventory.Disks = tc.disks
				if tc.change != nil {
					tc.change(in)
				}
			}))
			g.Expect(skipped).To(BeEmpty())
			var request wire.InstallCmdRequest
			g.Expect(json.Unmarshal([]byte(built.Instructions[0].Args[0]), &request)).To(Succeed())
			var args []string
			g.Expect(json.Unmarshal([]byte(request.InstallerArgs), &args)).To(Succeed())
			g.Expect(args).To(ContainElement("rd.iscsi.firmware=1"))
			args = slices.DeleteFunc(args, func(a string) bool {
				return a == "--append-karg" || a == "rd.iscsi.firmware=1" || !strings.HasPrefix(a, "ip=") && a != "--copy-network"
			})
			g.Expect(args).To(Equal(tc.want))
		})
	}
}

func TestArgumentsThatCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	_, skipped := instructions.For(input(wire.HostStatusInstalling, func(in *instructions.Input) { in.Host.InstallerArgs = "--quiet" }))
	g.Expect(skipped).To(HaveLen(1))
	g.Expect(skipped[0].Err).To(MatchError(ContainSubstring("installer arguments")))
}

func TestWhereAJoiningHostGetsItsIgnition(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*instructions.Input)
		want   string
	}{
		"the API's address": {nil, `{"url":"https://api.c.example:22623/config/worker"}`},
		"its pool":          {func(in *instructions.Input) { in.Host.MachineConfigPoolName = "infra" }, `{"url":"https://api.c.example:22623/config/infra"}`},
		"an IPv6 address":   {func(in *instructions.Input) { in.Cluster.APIVIPDNSName = new("2001:db8::1") }, `{"url":"https://[2001:db8::1]:22623/config/worker"}`},
		"an endpoint of its own": {func(in *instructions.Input) {
			in.Endpoint = &wire.IgnitionEndpoint{URL: new("https://ign.example/config/"), CaCertificate: new("Q0E=")}
			in.EndpointToken, in.EndpointHeaders = "t", []wire.IgnitionEndpointHTTPHeadersParams{{Key: "X-Pool", Value: "p"}}
		}, `{"url":"https://ign.example/config/worker","ca_certificate":"Q0E=","ignition_endpoint_token":"t","request_headers":[{"key":"X-Pool","value":"p"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, skipped := instructions.For(input(wire.HostStatusKnown, func(in *instructions.Input) {
				dayTwo(in)
				if tc.change != nil {
					tc.change(in)
				}
			}))
			g.Expect(skipped).To(BeEmpty())
			g.Expect(built.Instructions[1].StepType).To(Equal(wire.StepTypeAPIVIPConnectivityCheck))
			g.Expect(built.Instructions[1].Args).To(HaveExactElements(MatchJSON(tc.want)))
		})
	}
}
