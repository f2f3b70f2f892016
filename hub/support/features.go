package support

import (
	"slices"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// rule says where a feature is to be had. The zero value is everywhere.
type rule struct {
	id wire.FeatureSupportLevelID
	// since and until are the first release that has it and the first that has not any more.
	since, until string
	// first is the level in the release since, where that differs.
	first wire.SupportLevel
	// level is the level otherwise; empty means supported.
	level wire.SupportLevel
	// on are the platforms that have it, notOn those that have not; both nil for all.
	on, notOn []wire.PlatformType
	// cpus are the architectures that have it; nil for all.
	cpus []string
	// cpusSince are architectures that came later, with their release.
	cpusSince map[string]string
	// platform tells that it is itself a platform: it has no level beside a given one.
	platform bool
	// without are features that it cannot be combined with; that the other names it
	// is as good.
	without []wire.FeatureSupportLevelID
}

// Architectures as clusters name them.
const (
	x86   = wire.ClusterCPUArchitectureX8664
	arm   = wire.ClusterCPUArchitectureArm64
	power = wire.ClusterCPUArchitecturePpc64le
	z     = wire.ClusterCPUArchitectureS390x
	multi = wire.ClusterCPUArchitectureMulti
)

// rules are the features that are no operators.
var rules = []rule{
	{
		id: wire.FeatureSupportLevelIDSno, notOn: []wire.PlatformType{wire.PlatformTypeNutanix, wire.PlatformTypeVsphere},
		cpus: []string{x86, arm, multi}, cpusSince: map[string]string{power: "4.13", z: "4.13"},
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDNutanixIntegration, wire.FeatureSupportLevelIDVsphereIntegration,
			wire.FeatureSupportLevelIDClusterManagedNetworking, wire.FeatureSupportLevelIDUserManagedLoadBalancer,
		},
	},
	{
		id: wire.FeatureSupportLevelIDTna, since: "4.19", first: wire.SupportLevelTechPreview, on: []wire.PlatformType{wire.PlatformTypeBaremetal, wire.PlatformTypeNone},
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDNutanixIntegration, wire.FeatureSupportLevelIDVsphereIntegration,
			wire.FeatureSupportLevelIDExternalPlatform, wire.FeatureSupportLevelIDExternalPlatformOci,
		},
	},
	{id: wire.FeatureSupportLevelIDTnf, level: wire.SupportLevelUnavailable}, // this hub takes no fencing_credentials
	{
		id:      wire.FeatureSupportLevelIDVIPAutoAlloc,
		without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDSno, wire.FeatureSupportLevelIDUserManagedNetworking},
	},
	{id: wire.FeatureSupportLevelIDCustomManifest},
	{
		id: wire.FeatureSupportLevelIDSingleNodeExpansion, since: "4.11", notOn: []wire.PlatformType{wire.PlatformTypeNutanix, wire.PlatformTypeVsphere},
		cpus: []string{x86, arm, multi}, cpusSince: map[string]string{power: "4.13", z: "4.13"},
	},
	{
		id: wire.FeatureSupportLevelIDNutanixIntegration, since: "4.11", first: wire.SupportLevelDevPreview, cpus: []string{x86}, platform: true,
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDSno, wire.FeatureSupportLevelIDUserManagedNetworking, wire.FeatureSupportLevelIDPlatformManagedNetworking,
			wire.FeatureSupportLevelIDNonStandardHaControlPlane, wire.FeatureSupportLevelIDUserManagedLoadBalancer,
		},
	},
	{
		id: wire.FeatureSupportLevelIDBaremetalPlatform, platform: true,
		without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDPlatformManagedNetworking, wire.FeatureSupportLevelIDUserManagedNetworking},
	},
	{
		id: wire.FeatureSupportLevelIDNonePlatform, platform: true,
		without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDClusterManagedNetworking, wire.FeatureSupportLevelIDUserManagedLoadBalancer},
	},
	{
		id: wire.FeatureSupportLevelIDVsphereIntegration, cpus: []string{x86, arm, multi}, platform: true,
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDSno, wire.FeatureSupportLevelIDPlatformManagedNetworking, wire.FeatureSupportLevelIDNonStandardHaControlPlane,
			wire.FeatureSupportLevelIDUserManagedLoadBalancer,
		},
	},
	{id: wire.FeatureSupportLevelIDDualStackVIPs, since: "4.12", without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDExternalPlatformOci}},
	{
		id: wire.FeatureSupportLevelIDClusterManagedNetworking, notOn: []wire.PlatformType{wire.PlatformTypeExternal},
		cpus: []string{x86, multi}, cpusSince: map[string]string{arm: "4.11"},
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDSno, wire.FeatureSupportLevelIDUserManagedNetworking, wire.FeatureSupportLevelIDExternalPlatformOci,
			wire.FeatureSupportLevelIDNonePlatform, wire.FeatureSupportLevelIDExternalPlatform,
		},
	},
	{
		id: wire.FeatureSupportLevelIDUserManagedNetworking, notOn: []wire.PlatformType{wire.PlatformTypeNutanix},
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDClusterManagedNetworking, wire.FeatureSupportLevelIDNutanixIntegration, wire.FeatureSupportLevelIDBaremetalPlatform,
		},
	},
	{id: wire.FeatureSupportLevelIDMinimalISO, cpus: []string{x86, arm, power, multi}},
	{id: wire.FeatureSupportLevelIDFullISO, without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDExternalPlatformOci}},
	{
		id: wire.FeatureSupportLevelIDExternalPlatformOci, since: "4.14", cpus: []string{x86, arm, multi}, platform: true,
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDClusterManagedNetworking, wire.FeatureSupportLevelIDDualStackVIPs, wire.FeatureSupportLevelIDFullISO,
			wire.FeatureSupportLevelIDNonStandardHaControlPlane, wire.FeatureSupportLevelIDUserManagedLoadBalancer,
		},
	},
	{id: wire.FeatureSupportLevelIDDualStack},
	{
		id: wire.FeatureSupportLevelIDPlatformManagedNetworking, on: []wire.PlatformType{wire.PlatformTypeExternal, wire.PlatformTypeNone},
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDBaremetalPlatform, wire.FeatureSupportLevelIDVsphereIntegration, wire.FeatureSupportLevelIDNutanixIntegration,
		},
	},
	{
		id: wire.FeatureSupportLevelIDExternalPlatform, since: "4.14", platform: true,
		without: []wire.FeatureSupportLevelID{
			wire.FeatureSupportLevelIDClusterManagedNetworking, wire.FeatureSupportLevelIDUserManagedLoadBalancer,
		},
	},
	{id: wire.FeatureSupportLevelIDOvnNetworkType, without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDSdnNetworkType}},
	{id: wire.FeatureSupportLevelIDSdnNetworkType, until: "4.15", without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDOvnNetworkType}},
	{id: wire.FeatureSupportLevelIDCiliumNetworkType},
	{id: wire.FeatureSupportLevelIDCalicoNetworkType},
	{id: wire.FeatureSupportLevelIDCiscoAciNetworkType},
	{id: wire.FeatureSupportLevelIDNoneNetworkType},
	{
		id: wire.FeatureSupportLevelIDNonStandardHaControlPlane, since: "4.18", cpus: []string{x86},
		on:      []wire.PlatformType{wire.PlatformTypeBaremetal, wire.PlatformTypeNone, wire.PlatformTypeExternal},
		without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDNutanixIntegration, wire.FeatureSupportLevelIDVsphereIntegration},
	},
	{
		id: wire.FeatureSupportLevelIDUserManagedLoadBalancer, since: "4.16", on: []wire.PlatformType{wire.PlatformTypeBaremetal, wire.PlatformTypeVsphere},
		without: []wire.FeatureSupportLevelID{wire.FeatureSupportLevelIDSno, wire.FeatureSupportLevelIDNonePlatform},
	},
	{id: wire.FeatureSupportLevelIDDualStackPrimaryIpv6, since: "4.12"},
}

// allows reports whether the rule has the feature there, and otherwise why not.
func (r rule) allows(q Query) (bool, wire.IncompatibilityReason) {
	since, later := r.cpusSince[q.cpu()]
	switch {
	case r.since != "" && older(q.Version, r.since), r.until != "" && !older(q.Version, r.until):
		return false, wire.IncompatibilityReasonOpenshiftVersion
	case r.cpus != nil && !slices.Contains(r.cpus, q.cpu()) && (!later || older(q.Version, since)):
		return false, wire.IncompatibilityReasonCpuArchitecture
	case q.Platform != "" && (r.on != nil && !slices.Contains(r.on, q.Platform) || slices.Contains(r.notOn, q.Platform)):
		return false, wire.IncompatibilityReasonPlatform
	case r.id == wire.FeatureSupportLevelIDFullISO && q.oracle():
		return false, wire.IncompatibilityReasonPlatform
	}
	return true, ""
}

// excluded returns what the feature cannot be combined with, in the order of ids.
func excluded(id wire.FeatureSupportLevelID, offered operators.Table) []wire.FeatureSupportLevelID {
	out := []wire.FeatureSupportLevelID{}
	for _, r := range rules {
		switch {
		case r.id == id:
			out = append(out, r.without...)
		case slices.Contains(r.without, id):
			out = append(out, r.id)
		}
	}
	for i := range offered.Operators {
		if o := &offered.Operators[i]; o.Feature != "" && slices.Contains(without(o, offered), id) {
			out = append(out, o.Feature)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
