package input

import (
	"github.com/ironflow/ironflow/api/usernetwork"
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/wire"
)

// platformOf is the cluster's; empty for none.
func platformOf(c *Cluster) string {
	if c.Platform == nil {
		return ""
	}
	return string(c.Platform.Type)
}

// isSingle tells that the cluster is one node.
func isSingle(c *Cluster) bool {
	return wire.Value(c.HighAvailabilityMode) == wire.ClusterHighAvailabilityModeNone
}

// whoseNetwork refuses a network that is to be kept by nobody, or by two.
func whoseNetwork(c *Cluster) error {
	if with := usernetwork.Refused(platformOf(c), isSingle(c), c.UserManagedNetworking); with != "" {
		return apierror.Field("user_managed_networking", "%t does not go with %s: want one of them", *c.UserManagedNetworking, with)
	}
	return nil
}

// nobodyKeeps refuses virtual addresses of a release that has nothing to answer on them.
func nobodyKeeps(c *Cluster) error {
	if !usernetwork.Users(platformOf(c), c.UserManagedNetworking) || c.OpenshiftVersion == "" || len(c.APIVIPs)+len(c.IngressVIPs) == 0 {
		return nil
	}
	list := "api_vips"
	if len(c.APIVIPs) == 0 {
		list = "ingress_vips"
	}
	return apierror.Field(list, "the cluster's network is the user's (a single node's is, too), so nobody would keep them: want none")
}
