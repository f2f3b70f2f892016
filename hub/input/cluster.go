package input

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/installconfig"
	"github.com/ironflow/ironflow/hub/wire"
)

// Cluster is what people write of a cluster.
type Cluster struct {
	wire.Cluster
	// PullSecret is empty where there is none; whether there has to be one says a check.
	PullSecret string `json:"pull_secret"`
}

// CheckCluster refuses the first setting of a cluster that breaks a rule and did not before
// the change; nil before is of a new cluster.
func CheckCluster(before, now *Cluster) error { return first(clusterRules, before, now) }

// oneOf refuses a value that is none of a list; empty leaves it to the hub.
func oneOf(member, value string, want []string) error {
	if value != "" && !slices.Contains(want, value) {
		return apierror.Value(member, value, "want one of %s", strings.Join(want, "; "))
	}
	return nil
}

// The values of members that have a list of them.
var (
	architectures = []string{
		wire.ClusterCPUArchitectureX8664, wire.ClusterCPUArchitectureAarch64, wire.ClusterCPUArchitectureArm64,
		wire.ClusterCPUArchitecturePpc64le, wire.ClusterCPUArchitectureS390x, wire.ClusterCPUArchitectureMulti,
	}
	networkTypes = []string{
		wire.ClusterNetworkTypeOpenShiftSDN, wire.ClusterNetworkTypeOVNKubernetes, wire.ClusterNetworkTypeCiscoACI,
		wire.ClusterNetworkTypeCilium, wire.ClusterNetworkTypeCalico, wire.ClusterNetworkTypeNone,
	}
	hyperthreadings = []string{
		wire.ClusterHyperthreadingNone, wire.ClusterHyperthreadingMasters, wire.ClusterHyperthreadingArbiters, wire.ClusterHyperthreadingWorkers,
		wire.ClusterHyperthreadingMastersArbiters, wire.ClusterHyperthreadingMastersWorkers, wire.ClusterHyperthreadingArbitersWorkers,
		wire.ClusterHyperthreadingMastersArbitersWorkers, wire.ClusterHyperthreadingAll,
	}
	// encryptable are the names of roles in a list of those whose disks are encrypted.
	encryptable = []string{wire.DiskEncryptionEnableOnMasters, wire.DiskEncryptionEnableOnArbiters, wire.DiskEncryptionEnableOnWorkers}
)

// mostMasters is how many hosts the protocol lets make a control plane.
const mostMasters = 5

// controlPlane refuses a number of hosts that etcd is not run on; none is of a cluster that
// runs elsewhere.
func controlPlane(c *Cluster) error {
	if n := c.ControlPlaneCount; n < 0 || n > mostMasters {
		return apierror.Field("control_plane_count", "%d: want 1 to %d", n, mostMasters)
	}
	return nil
}

// releaseImage refuses a release image that every host would look for somewhere else.
func releaseImage(c *Cluster) error {
	if c.OcpReleaseImage == "" {
		return nil
	}
	if err := imagename.Full(c.OcpReleaseImage); err != nil {
		return apierror.Field("ocp_release_image", "%v", err)
	}
	return nil
}

// endpoint refuses a place that no Ignition can come from.
func endpoint(c *Cluster) error {
	e := c.IgnitionEndpoint
	if e == nil {
		return nil
	}
	u, err := url.Parse(wire.Value(e.URL))
	if wire.Value(e.URL) != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(*e.URL, " \t\r\n")) {
		return apierror.Field("ignition_endpoint.url", "want a URL such as https://api.example:22623/config")
	}
	return base64Bundle("ignition_endpoint.ca_certificate", wire.Value(e.CaCertificate))
}

// apiName refuses what hosts that join cannot ask for their Ignition.
func apiName(c *Cluster) error {
	if name := wire.Value(c.APIVIPDNSName); name != "" && !isServer(name) {
		return apierror.Value("api_vip_dns_name", name, "want a name or an IP address, such as api.edge.example")
	}
	return nil
}

// encryption refuses what no disk would be encrypted by.
func encryption(c *Cluster) error {
	e := c.DiskEncryption
	if e == nil {
		return nil
	}
	on := cmp.Or(wire.Value(e.EnableOn), wire.DiskEncryptionEnableOnNone)
	if on == wire.DiskEncryptionEnableOnNone {
		return nil
	}
	for role := range strings.SplitSeq(on, ",") {
		if on != wire.DiskEncryptionEnableOnAll && !slices.Contains(encryptable, role) {
			return apierror.Value("disk_encryption.enable_on", on, "want none, all, or a list of %q", encryptable)
		}
	}
	asked := ignition.Encryption{Mode: cmp.Or(wire.Value(e.Mode), wire.DiskEncryptionModeTpmv2), TangServers: e.TangServers}
	if err := asked.Check(); err != nil {
		return &apierror.Error{Code: http.StatusBadRequest, Reason: "disk_encryption." + err.Error(), Field: "disk_encryption"}
	}
	return nil
}

func overrides(c *Cluster) error { return CheckOverrides(c.InstallConfigOverrides) }

// CheckOverrides refuses overrides of an install-config that would be merged into none.
func CheckOverrides(text string) error {
	const member = "install_config_overrides"
	if err := installconfig.Check(text); err != nil {
		return apierror.Field(member, "%s", strings.TrimPrefix(err.Error(), member+": "))
	}
	return nil
}
