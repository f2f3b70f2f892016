package input

import (
	"slices"

	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/wire"
)

// usersOwn are the platforms that manage no network.
var usersOwn = []wire.PlatformType{wire.PlatformTypeNone, wire.PlatformTypeExternal}

// whoseNetwork refuses a network that is to be kept by nobody, or by two.
func whoseNetwork(c *Cluster) error {
	const member = "user_managed_networking"
	single := wire.Value(c.HighAvailabilityMode) == wire.ClusterHighAvailabilityModeNone
	platform := wire.PlatformType("")
	if c.Platform != nil {
		platform = c.Platform.Type
	}
	switch {
	case c.UserManagedNetworking == nil:
	case !*c.UserManagedNetworking && slices.Contains(usersOwn, platform):
		return refusal.Field(member, "false does not go with platform %s, whose network is the user's: want one of them", platform)
	case !*c.UserManagedNetworking && single:
		return refusal.Field(member, "false does not go with a single node, whose network is the user's: want it left out")
	case *c.UserManagedNetworking && platform == wire.PlatformTypeBaremetal && !single:
		return refusal.Field(member, "true does not go with platform baremetal, whose network is the cluster's: want one of them")
	}
	return nil
}

// nobodyKeeps refuses virtual addresses of a release that has nothing to answer on them.
func nobodyKeeps(c *Cluster) error {
	if c.UserManagedNetworking == nil || !*c.UserManagedNetworking || c.OpenshiftVersion == "" || len(c.APIVIPs)+len(c.IngressVIPs) == 0 {
		return nil
	}
	list := "api_vips"
	if len(c.APIVIPs) == 0 {
		list = "ingress_vips"
	}
	return refusal.Field(list, "the cluster's network is the user's (a single node's is, too), so nobody would keep them: want none")
}
