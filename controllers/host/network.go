package host

import (
	"context"
	"fmt"

	"github.com/ironflow/ironflow/ironic"
)

// keyExternalURL is driver_info's address under which a BMC reaches Ironic's own
// image server.
const keyExternalURL = "external_http_url"

// observeNetwork reads how the live image gets its network where it cannot carry
// that itself, and refuses BMCs that need a network which is not there. What is
// wrong is a problem of the way to the machine; nothing of it matters to a host
// that goes.
func (r *Reconciler) observeNetwork(ctx context.Context, o *Observed) error {
	b := &o.BMC
	if b.Problem != "" || b.Access.Driver == "" || o.deleting() {
		return nil
	}
	if o.Settings.NoProvisioningNetwork && !b.Access.TakesISO {
		b.Problem = "the BMC address needs a provisioning network, and there is none: use a scheme that boots an ISO, such as redfish-virtualmedia"
		return nil
	}
	name := o.Host.Spec.PreprovisioningNetworkDataName
	if o.Settings.BuildImages || name == "" {
		return nil
	}
	raw, _, problem, err := r.secrets.value(ctx, o.Host, name, "networkData")
	if err != nil {
		return err
	}
	if problem == "" {
		if o.NetworkData, err = parseObject(raw); err != nil {
			problem = fmt.Sprintf("the network data in Secret %s cannot be used: %v", quote(name), err)
		}
	}
	b.Problem = problem
	return nil
}

// addNetwork adds to a node, together with its live image, what that needs to know
// of networks. Data that the host names no more is removed; with a live image per
// host it is in there, and the node's own is left alone.
func addNetwork(o *Observed, d *ironic.Desired) {
	if o.deleting() {
		return
	}
	if url := externalURL(o); url != "" {
		d.DriverInfo[keyExternalURL] = url
	}
	if o.Settings.BuildImages || o.BMC.Problem != "" {
		return
	}
	d.NetworkData = o.NetworkData
	if d.NetworkData == nil && len(o.Node.NetworkData) > 0 {
		d.NetworkData = map[string]any{}
	}
}

// externalURL is the address by which the host's BMC reaches Ironic's image
// server, empty for the one that Ironic itself knows. A BMC that is named is not
// looked up: a reconcile waits for no name server.
func externalURL(o *Observed) string {
	if o.BMC.Access.IPv6 {
		return o.Settings.ExternalURLv6
	}
	return ""
}
