package instructions

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// builders make the arguments of each step type.
var builders = map[wire.StepType]func(Input) ([]string, error){
	inventory:     func(in Input) ([]string, error) { return []string{in.Host.ID}, nil },
	connectivity:  buildConnectivity,
	freeAddresses: buildFreeAddresses,
	tang:          buildTang,
	ntp:           buildNTP,
	domains:       buildDomains,
	verifyVIPs:    buildVerifyVIPs,
	dhcpLease:     buildLease,
	apiVIP:        buildAPIVIP,
	diskSpeed:     buildDiskSpeed,
	images:        buildImages,
	install:       buildInstall,
	logs:          buildLogs,
	stop:          func(Input) ([]string, error) { return []string{}, nil },
	upgrade:       func(in Input) ([]string, error) { return encode(wire.UpgradeAgentRequest{AgentImage: in.AgentImage}) },
	bootArtifacts: buildBootArtifacts,
	reclaimReboot: func(in Input) ([]string, error) { return encode(wire.RebootForReclaimRequest{HostFsMountDir: "/host"}) },
}

// encode makes the usual single argument: JSON in a string.
func encode(v any) ([]string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return []string{string(raw)}, nil
}

// buildConnectivity leaves the argument to [Complete].
func buildConnectivity(in Input) ([]string, error) {
	if !in.HasPeers {
		return nil, errNothing
	}
	return nil, nil
}

// smallest is the largest network that is scanned for free addresses.
const smallest = 22

// buildFreeAddresses asks only for clusters whose virtual addresses a person
// still has to choose.
func buildFreeAddresses(in Input) ([]string, error) {
	if in.Cluster == nil || in.Inventory == nil || len(in.Cluster.MachineNetworks) == 0 || len(in.Cluster.APIVIPs) > 0 || singleNode(in.Cluster) || asksDHCP(in.Cluster) {
		return nil, errNothing
	}
	var networks wire.FreeAddressesRequest
	for _, nic := range in.Inventory.Interfaces {
		for _, address := range nic.Ipv4Addresses {
			prefix, err := netip.ParsePrefix(address)
			if err == nil && prefix.Bits() >= smallest && !slices.Contains(networks, prefix.Masked().String()) {
				networks = append(networks, prefix.Masked().String())
			}
		}
	}
	if len(networks) == 0 {
		return nil, errNothing
	}
	return encode(networks)
}

func buildTang(in Input) ([]string, error) {
	if in.Cluster == nil || in.Cluster.DiskEncryption == nil || in.Cluster.DiskEncryption.Mode == nil ||
		*in.Cluster.DiskEncryption.Mode != wire.DiskEncryptionModeTang || in.Cluster.DiskEncryption.TangServers == "" {
		return nil, errNothing
	}
	return encode(wire.TangConnectivityRequest{TangServers: in.Cluster.DiskEncryption.TangServers})
}

func buildNTP(in Input) ([]string, error) {
	var sources []string
	if in.InfraEnv != nil {
		sources = append(sources, in.InfraEnv.AdditionalNTPSources)
	}
	if in.Cluster != nil {
		sources = append(sources, in.Cluster.AdditionalNTPSource, in.Cluster.NTPSources)
	}
	sources = slices.DeleteFunc(sources, func(s string) bool { return s == "" })
	return encode(wire.NTPSynchronizationRequest{NTPSource: strings.Join(slices.Compact(sources), ",")})
}

func buildDomains(in Input) ([]string, error) {
	if in.Cluster == nil || in.Cluster.Name == "" || in.Cluster.BaseDNSDomain == "" {
		return nil, errNothing
	}
	zone := in.Cluster.Name + "." + in.Cluster.BaseDNSDomain
	names := []string{
		"api." + zone, "api-int." + zone, "console-openshift-console.apps." + zone,
		"validateNoWildcardDNS." + zone, "validateNoWildcardDNS." + zone + ".",
	}
	if registry, _, found := strings.Cut(in.Images.Release, "/"); found && !isAddress(registry) {
		host, _, _ := strings.Cut(registry, ":")
		names = append(names, host)
	}
	var request wire.DomainResolutionRequest
	for _, name := range names {
		request.Domains = append(request.Domains, map[string]any{"domain_name": name})
	}
	return encode(request)
}

func isAddress(hostPort string) bool {
	if _, err := netip.ParseAddr(strings.Trim(hostPort, "[]")); err == nil {
		return true
	}
	_, err := netip.ParseAddrPort(hostPort)
	return err == nil
}

func buildVerifyVIPs(in Input) ([]string, error) {
	if in.Cluster == nil {
		return nil, errNothing
	}
	var request wire.VerifyVIPsRequest
	for _, vip := range in.Cluster.APIVIPs {
		request = append(request, wire.VerifyVIP{VIP: vip.IP, VIPType: wire.VIPTypeAPI})
	}
	for _, vip := range in.Cluster.IngressVIPs {
		request = append(request, wire.VerifyVIP{VIP: vip.IP, VIPType: wire.VIPTypeIngress})
	}
	if len(request) == 0 {
		return nil, errNothing
	}
	return encode(request)
}

func buildDiskSpeed(in Input) ([]string, error) {
	device := BootDevice(in.Host)
	switch {
	case in.DiskChecked:
		return nil, errNothing
	case device == "":
		return nil, errors.New("no installation disk is chosen")
	}
	args, err := encode(wire.DiskSpeedCheckRequest{Path: device})
	return append(args, seconds(in.DiskCheckTimeout)), err
}

// seconds writes a limit as the agent reads it: a float with two digits.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

func buildImages(in Input) ([]string, error) {
	wanted := in.Images.ToCheck()
	if in.ImagesChecked || len(wanted) == 0 {
		return nil, errNothing
	}
	return encode(wire.ContainerImageAvailabilityRequest{Images: wanted, Timeout: int64(in.ImageTimeout.Seconds())})
}

// BootDevice is the device that an installation writes to: the disk's id, or
// its path for inventories without ids. Empty means that none is chosen.
func BootDevice(h *wire.Host) string {
	if strings.HasPrefix(h.InstallationDiskID, "/dev/") {
		return h.InstallationDiskID
	}
	return h.InstallationDiskPath
}

func buildLogs(in Input) ([]string, error) {
	if in.Cluster == nil || !in.Host.LogsCollectedAt.IsZero() {
		return nil, errNothing
	}
	return encode(wire.LogsGatherCmdRequest{
		ClusterID: in.Cluster.ID, HostID: in.Host.ID, InfraEnvID: in.Host.InfraEnvID, Bootstrap: in.Host.Bootstrap, InstallerGather: true,
		MasterIPs: in.MasterIPs,
	})
}

func buildBootArtifacts(in Input) ([]string, error) {
	if in.Artifacts == nil {
		return nil, errors.New("the live image's parts are not served")
	}
	return encode(in.Artifacts)
}

func singleNode(c *wire.Cluster) bool {
	return c.ControlPlaneCount == 1 || (c.HighAvailabilityMode != nil && *c.HighAvailabilityMode == wire.ClusterHighAvailabilityModeNone)
}
