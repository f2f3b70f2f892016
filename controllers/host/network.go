package host

import (
	"github.com/ironflow/ironflow/ironic"
)

// keyExternalURL is driver_info's address under which a BMC reaches Ironic's own
// image server.
const keyExternalURL = "external_http_url"

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
