package support

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Usage is the cluster's feature_usage: by name, the features that it makes use of, as a
// JSON object in text. It follows from what the cluster is, and is kept nowhere.
func Usage(c *wire.Cluster) string {
	used := map[string]wire.Usage{}
	note := func(applies bool, name string, data map[string]map[string]any) {
		if applies {
			used[name] = wire.Usage{ID: usageID(name), Name: name, Data: data}
		}
	}
	yes := func(b *bool) bool { return b != nil && *b }
	single := c.HighAvailabilityMode != nil && *c.HighAvailabilityMode == wire.ClusterHighAvailabilityModeNone
	note(single, "High Availability Mode None", nil)
	note(c.AdditionalNTPSource != "" || c.NTPSources != "", "Additional NTP Source", nil)
	note(c.HTTPProxy != "" || c.HTTPSProxy != "" || c.NoProxy != "", "Proxy", nil)
	note(yes(c.VIPDHCPAllocation), "VIP DHCP allocation", nil)
	note(yes(c.UserManagedNetworking) && !single, "User Managed Networking", nil)
	note(yes(c.SchedulableMasters), "schedulable masters", nil)
	note(c.SSHPublicKey != "", "SSH Key", nil)
	note(len(c.APIVIPs) > 1, "Dual-stack VIPs", nil)
	note(dualStack(c), "Dual-stack", nil)
	note(c.Hyperthreading != "" && c.Hyperthreading != wire.ClusterHyperthreadingAll, "Hyperthreading", nil)
	note(c.CPUArchitecture == arm || c.CPUArchitecture == wire.ClusterCPUArchitectureAarch64, "ARM64 CPU architecture", nil)
	note(c.InstallConfigOverrides != "", "Install Config Overrides", nil)
	note(c.Tags != "", "Cluster Tags", nil)
	if c.NetworkType != nil {
		note(*c.NetworkType == wire.ClusterNetworkTypeOVNKubernetes, "OVN network type", nil)
		note(*c.NetworkType == wire.ClusterNetworkTypeOpenShiftSDN, "SDN network type", nil)
	}
	if c.Platform != nil && c.Platform.Type != "" {
		note(true, "Platform selection", map[string]map[string]any{"platform_type": {"value": c.Platform.Type}})
	}
	if e := c.DiskEncryption; e != nil && e.EnableOn != nil && *e.EnableOn != wire.DiskEncryptionEnableOnNone {
		note(true, "Disk encryption", map[string]map[string]any{"enable_on": {"value": *e.EnableOn}, "mode": {"value": wire.Value(e.Mode)}})
	}
	for _, o := range c.MonitoredOperators {
		note(o.OperatorType == wire.OperatorTypeOlm, strings.ToUpper(o.Name), nil)
	}
	raw, err := json.Marshal(used)
	if err != nil {
		return "{}" // all of it can be encoded
	}
	return string(raw)
}

// usageID is a feature's name as an id.
func usageID(name string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' {
			return '_'
		}
		return r
	}, strings.ToUpper(name))
}

// dualStack tells that the cluster has machine or service networks of both families.
func dualStack(c *wire.Cluster) bool {
	six := func(cidr wire.Subnet) bool { return strings.Contains(string(cidr), ":") }
	both := func(list []wire.Subnet) bool {
		return slices.ContainsFunc(list, six) && slices.ContainsFunc(list, func(s wire.Subnet) bool { return !six(s) })
	}
	var machine, service []wire.Subnet
	for _, n := range c.MachineNetworks {
		machine = append(machine, n.CIDR)
	}
	for _, n := range c.ServiceNetworks {
		service = append(service, n.CIDR)
	}
	return both(machine) || both(service)
}
