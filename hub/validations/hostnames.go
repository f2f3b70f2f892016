package validations

import (
	"net/netip"
	"slices"
	"strings"
)

// Names below a cluster's zone, as agents are asked for them.
const (
	apiName      = "api."
	apiIntName   = "api-int."
	appsName     = "console-openshift-console.apps."
	wildcardName = "validateNoWildcardDNS."
)

// resolved returns the addresses of a name; nil means that it does not resolve.
// False tells that the host has not been asked, or has not answered.
func (f *HostFacts) resolved(name string) (addresses []string, asked bool) {
	if f.Domains == nil {
		return nil, false
	}
	name = strings.TrimSuffix(name, ".")
	for _, r := range f.Domains.Resolutions {
		if strings.EqualFold(strings.TrimSuffix(r.DomainName, "."), name) {
			asked = true
			addresses = append(addresses, slices.Concat(r.Ipv4Addresses, r.Ipv6Addresses)...)
		}
	}
	return addresses, asked
}

func apiResolves(in HostInput) verdict { return resolves(in, apiName, in.Cluster.APIVIPs) }

func apiIntResolves(in HostInput) verdict { return resolves(in, apiIntName, in.Cluster.APIVIPs) }

func appsResolve(in HostInput) verdict { return resolves(in, appsName, in.Cluster.IngressVIPs) }

// waitForNames is the verdict while nothing is known about names.
func waitForNames(in HostInput) *verdict {
	v := wait("Waiting for the host to resolve names")
	switch {
	case in.unread(theDomains):
		v = unreadable(theDomains)
	case in.Cluster.Zone() == "":
		v = wait("Waiting for the cluster's base_dns_domain")
	case in.Domains != nil:
		return nil
	}
	return &v
}

func resolves(in HostInput, prefix string, vips []VIP) verdict {
	if v := waitForNames(in); v != nil {
		return *v
	}
	name := prefix + in.Cluster.Zone()
	addresses, _ := in.resolved(name)
	if len(addresses) == 0 {
		return fail("The host cannot resolve %s; add it to DNS", name)
	}
	if in.Cluster.userBalances() && !slices.ContainsFunc(vips, func(v VIP) bool { return resolvesTo(addresses, v) }) {
		return fail("%s resolves to %s, which is not the load balancer's address; correct DNS, or the cluster's virtual addresses", name, list(addresses))
	}
	return pass("%s resolves to %s", name, list(addresses))
}

func resolvesTo(addresses []string, v VIP) bool {
	return slices.ContainsFunc(addresses, func(text string) bool {
		a, err := netip.ParseAddr(text)
		return err == nil && v.Address.IsValid() && a.Unmap() == v.Address
	})
}

func releaseResolves(in HostInput) verdict {
	registry := Registry(in.Cluster.Cluster.OcpReleaseImage)
	switch {
	case registry == "":
		return pass("The release image needs no name")
	case in.unread(theDomains):
		return unreadable(theDomains)
	}
	addresses, asked := in.resolved(registry)
	switch {
	case !asked:
		return wait("Waiting for the host to resolve %s", registry)
	case len(addresses) == 0:
		return fail("The host cannot resolve %s, where the release image is; correct its DNS servers, or use a mirror", registry)
	}
	return pass("%s resolves to %s", registry, list(addresses))
}

// Registry is the host name that an image is pulled from, or "" for an address
// and for images of no registry.
func Registry(image string) string {
	hostPort, _, found := strings.Cut(image, "/")
	if !found {
		return ""
	}
	if _, err := netip.ParseAddrPort(hostPort); err == nil {
		return ""
	}
	host, _, _ := strings.Cut(hostPort, ":")
	if _, err := netip.ParseAddr(strings.Trim(hostPort, "[]")); err == nil || net4(host) {
		return ""
	}
	return host
}

func net4(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func noWildcard(in HostInput) verdict {
	if v := waitForNames(in); v != nil {
		return *v
	}
	if addresses, _ := in.resolved(wildcardName + in.Cluster.Zone()); len(addresses) > 0 {
		return fail("Any name of %s resolves (to %s), so that hosts may take the wrong way; remove the wildcard record *.%s from DNS",
			in.Cluster.Zone(), list(addresses), in.Cluster.Zone())
	}
	return pass("No wildcard record answers in %s", in.Cluster.Zone())
}
