package clusters

import (
	"cmp"

	"github.com/ironflow/ironflow/hub/wire"
)

// Defaults fills in what a record leaves open because nobody has set it. The record itself
// goes on telling what was set from what was not, and no decision hangs on a default.
func Defaults(c wire.Cluster) wire.Cluster {
	c.HighAvailabilityMode = cmp.Or(c.HighAvailabilityMode, new(wire.ClusterHighAvailabilityModeFull))
	one := *c.HighAvailabilityMode == wire.ClusterHighAvailabilityModeNone
	c.UserManagedNetworking = cmp.Or(c.UserManagedNetworking, &one)
	c.Platform = cmp.Or(c.Platform, &wire.Platform{Type: defaultPlatform(*c.UserManagedNetworking)})
	c.NetworkType = cmp.Or(c.NetworkType, new(defaultNetworkType(c.OpenshiftVersion)))
	c.VIPDHCPAllocation = cmp.Or(c.VIPDHCPAllocation, new(false))
	c.SchedulableMasters = cmp.Or(c.SchedulableMasters, new(false))
	c.Imported = cmp.Or(c.Imported, new(false))
	c.LoadBalancer = cmp.Or(c.LoadBalancer, &wire.LoadBalancer{Type: wire.LoadBalancerTypeClusterManaged})
	c.DiskEncryption = defaultEncryption(c.DiskEncryption)
	c.Hyperthreading = cmp.Or(c.Hyperthreading, wire.ClusterHyperthreadingAll)
	c.CPUArchitecture = cmp.Or(c.CPUArchitecture, wire.ClusterCPUArchitectureX8664)
	return c
}

// defaultPlatform is what the install-config has where nobody asks for a platform.
func defaultPlatform(userManaged bool) wire.PlatformType {
	if userManaged {
		return wire.PlatformTypeNone
	}
	return wire.PlatformTypeBaremetal
}

// defaultNetworkType is that of a release; only OpenShift brings its own network.
func defaultNetworkType(version string) string {
	if version == "" {
		return wire.ClusterNetworkTypeNone
	}
	return wire.ClusterNetworkTypeOVNKubernetes
}

func defaultEncryption(given *wire.DiskEncryption) *wire.DiskEncryption {
	out := wire.DiskEncryption{}
	if given != nil {
		out = *given
	}
	out.EnableOn = cmp.Or(out.EnableOn, new(wire.DiskEncryptionEnableOnNone))
	out.Mode = cmp.Or(out.Mode, new(wire.DiskEncryptionModeTpmv2))
	return &out
}
