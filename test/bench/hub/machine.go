package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// group is an infra-env with its hosts, and the cluster that they belong to, if any.
type group struct {
	InfraEnv, Token string
	// Cluster is empty for the pool.
	Cluster string
	// First is the number of its first host, Size how many there are.
	First, Size int
	// Network is the number of its subnet.
	Network int
}

// hostID is the id of the i-th host.
func hostID(i int) string { return fmt.Sprintf("c0000000-0000-4000-8000-%012d", i) }

// address is the n-th address of a group's subnet, which has 1,022.
func (g group) address(n int) string {
	a := uint32(10)<<24 + uint32(g.Network)<<10 + uint32(n)
	return netip.AddrFrom4([4]byte{byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a)}).String()
}

// machine is one simulated host.
type machine struct {
	group group
	// number counts over all groups, place within the group.
	number, place int
}

func (m machine) ip() string { return m.group.address(20 + m.place) }

func (m machine) mac() string {
	return fmt.Sprintf("52:54:%02x:%02x:%02x:01", m.number>>16&0xff, m.number>>8&0xff, m.number&0xff)
}

// inventorySize is how many bytes an inventory has at least.
const inventorySize = 30_000

// inventory is what the machine reports, which may have lost its disks.
func (m machine) inventory(whole bool) string {
	in := wire.Inventory{
		Hostname: fmt.Sprintf("node-%d", m.number),
		CPU:      &wire.CPU{Count: 32, Architecture: "x86_64", ModelName: "Example CPU", Flags: []string{"vmx", "sse4_2", "avx2"}, Frequency: 2400},
		Memory:   &wire.Memory{PhysicalBytes: 128 << 30, UsableBytes: 128 << 30},
		Interfaces: []wire.Interface{{
			Name: "eno1", MACAddress: m.mac(), Type: "physical", HasCarrier: true, SpeedMbps: 25000, MTU: 1500, Ipv4Addresses: []string{m.ip() + "/22"}, Ipv6Addresses: []string{}, Flags: []string{"up"},
		}},
		Routes:       []wire.Route{{Destination: "0.0.0.0", Gateway: m.group.address(1), Interface: "eno1", Family: 2}},
		SystemVendor: &wire.SystemVendor{Manufacturer: "Example", ProductName: "Box", SerialNumber: fmt.Sprintf("SER-%d", m.number)},
		Boot:         &wire.Boot{CurrentBootMode: "uefi"},
	}
	for d := range 2 {
		in.Disks = append(in.Disks, wire.Disk{
			ID: fmt.Sprintf("/dev/disk/by-id/wwn-0x5000c5%02d%08x", d, m.number), Path: fmt.Sprintf("/dev/sd%c", 'a'+d), Name: fmt.Sprintf("sd%c", 'a'+d),
			DriveType: wire.DriveTypeSsd, SizeBytes: 960_000_000_000, Serial: fmt.Sprintf("D-%d-%d", m.number, d),
			// What disks say about their health is most of a real inventory, too.
			Smart:                   strings.Repeat("SMART attribute ok; ", inventorySize/2/20),
			InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true},
		})
	}
	if !whole {
		in.Disks = []wire.Disk{}
	}
	return text(in)
}

// text is JSON of types that always can be.
func text(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) //nolint:forbidigo // texts, numbers and lists of them
	}
	return string(raw)
}

// answer is what a healthy machine replies to a step; false for a step whose reply
// comes when something has ended.
func (m machine) answer(step wire.Step) (string, bool) {
	switch step.StepType {
	case wire.StepTypeInventory:
		return m.inventory(true), true
	case wire.StepTypeNTPSynchronizer:
		return text(wire.NTPSynchronizationResponse{NTPSources: []wire.NTPSource{{SourceName: "192.0.2.1", SourceState: wire.SourceStateSynced}}}), true
	case wire.StepTypeInstallationDiskSpeedCheck:
		return text(wire.DiskSpeedCheckResponse{IoSyncDuration: 1, Path: asked[wire.DiskSpeedCheckRequest](step).Path}), true
	case wire.StepTypeConnectivityCheck:
		return m.connectivity(asked[wire.ConnectivityCheckParams](step)), true
	case wire.StepTypeDomainResolution:
		var out wire.DomainResolutionResponse
		for _, d := range asked[wire.DomainResolutionRequest](step).Domains {
			name, _ := d["domain_name"].(string)
			found := wire.DomainResolutionResponseResolutions{DomainName: name, Ipv4Addresses: []string{m.group.address(2)}}
			if strings.HasPrefix(name, "validateNoWildcardDNS") {
				found.Ipv4Addresses = []string{}
			}
			out.Resolutions = append(out.Resolutions, found)
		}
		return text(out), true
	case wire.StepTypeContainerImageAvailability:
		var out wire.ContainerImageAvailabilityResponse
		for _, name := range asked[wire.ContainerImageAvailabilityRequest](step).Images {
			out.Images = append(out.Images, wire.ContainerImageAvailability{Name: name, Result: wire.ContainerImageAvailabilityResultSuccess, DownloadRate: 100, SizeBytes: 1 << 20, Time: 1})
		}
		return text(out), true
	case wire.StepTypeVerifyVIPs:
		out := wire.VerifyVIPsResponse{}
		for _, v := range asked[wire.VerifyVIPsRequest](step) {
			out = append(out, wire.VerifiedVIP{VIP: v.VIP, VIPType: v.VIPType, Verification: new(wire.VIPVerificationSucceeded)})
		}
		return text(out), true
	case wire.StepTypeFreeNetworkAddresses:
		return text(wire.FreeNetworksAddresses{{Network: m.group.address(0) + "/22", FreeAddresses: []string{m.group.address(2), m.group.address(3)}}}), true
	default:
		return "", false
	}
}

// asked decodes a step's argument; what cannot be read asks for nothing.
func asked[T any](step wire.Step) (out T) {
	if len(step.Args) > 0 {
		_ = json.Unmarshal([]byte(step.Args[0]), &out)
	}
	return out
}

// connectivity reports that all peers are reached.
func (m machine) connectivity(peers wire.ConnectivityCheckParams) string {
	out := wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{}}
	for _, p := range peers {
		remote := wire.ConnectivityRemoteHost{HostID: p.HostID}
		for _, nic := range p.Nics {
			for _, ip := range nic.IPAddresses {
				remote.L2Connectivity = append(remote.L2Connectivity, wire.L2Connectivity{
					OutgoingIPAddress: m.ip(), OutgoingNIC: "eno1", RemoteIPAddress: ip, RemoteMAC: nic.MAC, Successful: true,
				})
				remote.L3Connectivity = append(remote.L3Connectivity, wire.L3Connectivity{OutgoingNIC: "eno1", RemoteIPAddress: ip, Successful: true, AverageRttMs: 0.2})
			}
		}
		out.RemoteHosts = append(out.RemoteHosts, remote)
	}
	return text(out)
}
