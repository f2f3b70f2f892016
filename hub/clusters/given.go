package clusters

import (
	"cmp"
	"crypto/x509"
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/wire"
)

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
)

// checkGiven refuses settings of a user that mean nothing, before they are stored: the
// checks of a cluster only judge how settings go together.
func checkGiven(c *wire.Cluster) error {
	for _, m := range []struct {
		name, value string
		want        []string
	}{
		{"cpu_architecture", c.CPUArchitecture, architectures},
		{"network_type", wire.Value(c.NetworkType), networkTypes},
		{"hyperthreading", c.Hyperthreading, hyperthreadings},
	} {
		if m.value != "" && !slices.Contains(m.want, m.value) {
			return refusal.BadRequest("%s %.40q: want one of %q", m.name, m.value, m.want)
		}
	}
	if err := checkRelease(c.OcpReleaseImage); err != nil {
		return err
	}
	if err := checkAddresses(c); err != nil {
		return err
	}
	if err := checkNetworks(c); err != nil {
		return err
	}
	if err := checkEndpoint(c.IgnitionEndpoint); err != nil {
		return err
	}
	if name := wire.Value(c.APIVIPDNSName); name != "" && !apiNameForm.MatchString(name) {
		return refusal.BadRequest("api_vip_dns_name %.80q: want a name or an IP address, such as api.edge.example", name)
	}
	if err := checkEncryption(c.DiskEncryption); err != nil {
		return err
	}
	return checkProxies(c)
}

// apiNameForm is a name in DNS or an address: hosts that join ask it for their Ignition.
var apiNameForm = regexp.MustCompile(`^[A-Za-z0-9.:-]{1,253}$`)

// checkRelease refuses a release image that every host would look for somewhere else; empty for none.
func checkRelease(image string) error {
	if image == "" {
		return nil
	}
	if err := imagename.Full(image); err != nil {
		return refusal.BadRequest("ocp_release_image: %v", err)
	}
	return nil
}

// checkEndpoint refuses a place that no Ignition can come from.
func checkEndpoint(e *wire.IgnitionEndpoint) error {
	if e == nil {
		return nil
	}
	u, err := url.Parse(wire.Value(e.URL))
	if wire.Value(e.URL) != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return refusal.BadRequest("ignition_endpoint.url: want a URL such as https://api.example:22623/config")
	}
	pem64 := wire.Value(e.CaCertificate)
	if raw, err := base64.StdEncoding.DecodeString(pem64); pem64 != "" && (err != nil || !x509.NewCertPool().AppendCertsFromPEM(raw)) {
		return refusal.BadRequest("ignition_endpoint.ca_certificate: want certificates in PEM, in base64")
	}
	return nil
}

func checkAddresses(c *wire.Cluster) error {
	for _, v := range c.APIVIPs {
		if err := checkAddress("api_vips", v.IP); err != nil {
			return err
		}
	}
	for _, v := range c.IngressVIPs {
		if err := checkAddress("ingress_vips", v.IP); err != nil {
			return err
		}
	}
	return nil
}

func checkAddress(name string, ip wire.IP) error {
	if _, err := netip.ParseAddr(string(ip)); err != nil && ip != "" {
		return refusal.BadRequest("%s %.60q: want an IP address", name, ip)
	}
	return nil
}

func checkNetworks(c *wire.Cluster) error {
	for _, n := range c.MachineNetworks {
		if _, err := subnet("machine_networks", n.CIDR); err != nil {
			return err
		}
	}
	for _, n := range c.ServiceNetworks {
		if _, err := subnet("service_networks", n.CIDR); err != nil {
			return err
		}
	}
	for _, n := range c.ClusterNetworks {
		p, err := subnet("cluster_networks", n.CIDR)
		if err != nil {
			return err
		}
		if longest := int64(p.Addr().BitLen()); n.HostPrefix < 1 || n.HostPrefix > longest {
			return refusal.BadRequest("host_prefix %d of cluster network %s: want 1 to %d", n.HostPrefix, p, longest)
		}
	}
	return nil
}

// subnet reads a network, whose address has to be the first one in it.
func subnet(name string, text wire.Subnet) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(string(text))
	switch {
	case err != nil:
		return p, refusal.BadRequest("%s %.60q: want a network, such as 192.0.2.0/24", name, text)
	case p != p.Masked():
		return p, refusal.BadRequest("%s %s: want the network's own address, which is %s", name, p, p.Masked())
	}
	return p, nil
}

func checkProxies(c *wire.Cluster) error {
	for _, proxy := range []struct{ name, value string }{{"http_proxy", c.HTTPProxy}, {"https_proxy", c.HTTPSProxy}} {
		u, err := url.Parse(proxy.value)
		if proxy.value != "" && (err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, strings.ToLower(u.Scheme))) {
			return refusal.BadRequest("%s: want a URL such as http://proxy.example:3128", proxy.name) // it may hold a password
		}
	}
	return nil
}

// oldNetworks are the networks of clients that still give one of each kind. The lists
// come later, so that they win.
type oldNetworks struct {
	machine, cluster, service *string
	hostPrefix                int64
}

func (o oldNetworks) apply(c *wire.Cluster) {
	if o.machine != nil {
		c.MachineNetworks = []wire.MachineNetwork{{CIDR: wire.Subnet(*o.machine)}}
	}
	if o.cluster != nil {
		c.ClusterNetworks = []wire.ClusterNetwork{{CIDR: wire.Subnet(*o.cluster), HostPrefix: cmp.Or(o.hostPrefix, defaultHostPrefix)}}
	}
	if o.service != nil {
		c.ServiceNetworks = []wire.ServiceNetwork{{CIDR: wire.Subnet(*o.service)}}
	}
}

// lists are the networks that a client gives; nil leaves what was there.
type lists struct {
	machine []wire.MachineNetwork
	cluster []wire.ClusterNetwork
	service []wire.ServiceNetwork
}

func (l lists) apply(c *wire.Cluster) {
	if l.machine != nil {
		c.MachineNetworks = l.machine
	}
	if l.cluster != nil {
		c.ClusterNetworks = l.cluster
	}
	if l.service != nil {
		c.ServiceNetworks = l.service
	}
}
