package nodespec

import (
	"github.com/ironflow/ironflow/ironic"
)

// keyExternalURL is driver_info's address under which a BMC reaches Ironic's own
// image server.
const keyExternalURL = "external_http_url"

// addNetwork adds to a node, together with its live image, what that needs to know
// of networks. Data that the host names no more is removed; with a live image per
// host it is in there, and the node's own is left alone.
func addNetwork(in Input, d *ironic.Desired) {
	if !in.Host.DeletionTimestamp.IsZero() {
		return
	}
	if url := externalURL(in); url != "" {
		d.DriverInfo[keyExternalURL] = url
	}
	if in.Settings.BuildImages || in.BMC.Problem != "" {
		return
	}
	d.NetworkData = in.NetworkData
	if d.NetworkData == nil && len(in.Node.NetworkData) > 0 {
		d.NetworkData = map[string]any{}
	}
}

// externalURL is the address by which the host's BMC reaches Ironic's image
// server, empty for the one that Ironic itself knows. A BMC that is named is not
// looked up: a reconcile waits for no name server.
func externalURL(in Input) string {
	if in.BMC.Access.IPv6 {
		return in.Settings.ExternalURLv6
	}
	return ""
}
