package reports

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// maxLease bounds what is kept of a lease, in bytes; hosts get it with every poll.
	maxLease = 1 << 10
	// leaseRest is how long the same addresses with another lease change nothing: all
	// hosts of a cluster renew, each once a minute.
	leaseRest = 10 * time.Minute
)

// storeLeases notes the virtual addresses that a DHCP server gave. Once an installation
// has begun with some, they stay.
func storeLeases(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	var found wire.DHCPAllocationResponse
	if err := decode(reply, &found); err != nil {
		return err
	}
	c, err := w.ClusterOf(host)
	if err != nil || c == nil || c.API.VIPDHCPAllocation == nil || !*c.API.VIPDHCPAllocation || !slices.Contains(clustermachine.Open, c.API.Status) {
		return err
	}
	if err := leasable(c, found); err != nil {
		return err
	}
	api, ingress := wire.IP(found.APIVIPAddress), wire.IP(found.IngressVIPAddress)
	same := len(c.API.APIVIPs) == 1 && c.API.APIVIPs[0].IP == api && len(c.API.IngressVIPs) == 1 && c.API.IngressVIPs[0].IP == ingress
	if same && w.Now.Sub(c.Leases.At) < leaseRest {
		return nil
	}
	c.Leases = store.Leases{API: shortEnough(found.APIVIPLease), Ingress: shortEnough(found.IngressVIPLease), At: w.Now}
	w.TouchCluster(c)
	if same {
		return nil
	}
	c.API.APIVIPs = []wire.APIVIP{{IP: api, ClusterID: c.API.ID}}
	c.API.IngressVIPs = []wire.IngressVIP{{IP: ingress, ClusterID: c.API.ID}}
	return w.ClusterEvent(c, "api_ingress_vip_updated", wire.EventSeverityInfo, "a DHCP server gave it "+string(api)+" and "+string(ingress),
		unit.Props{"api_vip": api, "ingress_vip": ingress})
}

// leasable refuses addresses that the cluster cannot have.
func leasable(c *store.Cluster, found wire.DHCPAllocationResponse) error {
	for _, text := range []string{found.APIVIPAddress, found.IngressVIPAddress} {
		a, err := netip.ParseAddr(text)
		if err != nil || !slices.ContainsFunc(c.API.MachineNetworks, func(n wire.MachineNetwork) bool {
			p, err := netip.ParsePrefix(string(n.CIDR))
			return err == nil && p.Contains(a)
		}) {
			return apierror.BadRequest("the address %.60q that a DHCP server gave is in none of the machine networks of cluster %s", text, c.API.Name)
		}
	}
	return nil
}

// shortEnough is a lease, or nothing for one that is too long: it is asked for anew.
func shortEnough(lease string) string {
	if len(lease) > maxLease {
		return ""
	}
	return lease
}
