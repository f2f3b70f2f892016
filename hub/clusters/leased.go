package clusters

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func asksDHCP(c wire.Cluster) bool { return c.VIPDHCPAllocation != nil && *c.VIPDHCPAllocation }

// checkLeased refuses addresses beside a DHCP server that gives them, and such a server
// for a cluster without addresses of its own.
func checkLeased(c wire.Cluster, api []wire.APIVIP, ingress []wire.IngressVIP) error {
	switch {
	case !asksDHCP(c):
		return nil
	case len(api)+len(ingress) > 0:
		return apierror.BadRequest("vip_dhcp_allocation: a DHCP server gives api_vips and ingress_vips; leave them out, or switch it off")
	case c.ControlPlaneCount == 1:
		return apierror.BadRequest("vip_dhcp_allocation: a cluster of one host has no virtual addresses; switch it off")
	case c.UserManagedNetworking != nil && *c.UserManagedNetworking:
		return apierror.BadRequest("vip_dhcp_allocation: a cluster whose network is the user's has no addresses of its own; switch it off")
	}
	return nil
}

// switchDHCP forgets addresses that come from elsewhere from now on. What was taken once is no reason to refuse
// other changes.
func switchDHCP(c *store.Cluster, before wire.Cluster, p wire.V2ClusterUpdateParams) error {
	if err := checkLeased(c.API, p.APIVIPs, p.IngressVIPs); err != nil && (len(p.APIVIPs)+len(p.IngressVIPs) > 0 || checkLeased(before, nil, nil) == nil) {
		return err
	}
	was, is := asksDHCP(before), asksDHCP(c.API)
	moved := is && (len(before.MachineNetworks) != len(c.API.MachineNetworks) || len(before.MachineNetworks) > 0 && before.MachineNetworks[0].CIDR != c.API.MachineNetworks[0].CIDR)
	if is && !was || moved || was && !is {
		c.Leases = store.Leases{}
		if p.APIVIPs == nil {
			c.API.APIVIPs = nil
		}
		if p.IngressVIPs == nil {
			c.API.IngressVIPs = nil
		}
	}
	return nil
}
