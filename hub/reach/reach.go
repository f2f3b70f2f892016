// Package reach judges addresses that are published to BMCs and machines. As a rule these are outside of the Kubernetes cluster, and so
// neither resolve its names nor reach the addresses of its Services. It asks nobody: it knows such addresses by how they look, and by what
// a pod is told of the cluster around it. What it does not know is taken to be reachable.
package reach

import (
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

const (
	// suffixOfService is how a pod's environment names the addresses of the
	// Services of its namespace.
	suffixOfService = "_SERVICE_HOST"
	// apiServer is the one of these that many set themselves, to an address that
	// is reached from outside and may be shared with the hub.
	apiServer = "KUBERNETES" + suffixOfService
	// resolverFile has the domains in which a pod looks for names.
	resolverFile = "/etc/resolv.conf"
)

// Cluster is what a process is told of the cluster that it runs in; the zero value
// is for one that runs elsewhere.
type Cluster struct {
	// Services are the addresses of the Services of the pod's namespace that were
	// there when it started.
	Services []string
	// Domains are those below which names of Services lie, such as
	// svc.cluster.local.
	Domains []string
}

// Around is the cluster around this process.
func Around() Cluster {
	resolver, err := os.ReadFile(resolverFile)
	if err != nil {
		resolver = nil // no pod is without one
	}
	return read(os.Environ(), string(resolver))
}

func read(environment []string, resolver string) (c Cluster) {
	for _, variable := range environment {
		if name, value, _ := strings.Cut(variable, "="); strings.HasSuffix(name, suffixOfService) && name != apiServer && value != "" {
			c.Services = append(c.Services, value)
		}
	}
	for line := range strings.Lines(resolver) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "search" {
			continue
		}
		for _, domain := range fields[1:] {
			if domain = canonical(domain); strings.HasPrefix(domain, "svc.") {
				c.Domains = append(c.Domains, domain)
			}
		}
	}
	return c
}

// Unset says whether a URL stands where somebody has to fill one in: no name below
// .invalid ever exists.
func Unset(address string) bool {
	host := hostOf(address)
	return host == "invalid" || strings.HasSuffix(host, ".invalid")
}

// Unreachable says why nobody outside of the cluster reaches a URL, as the end of
// a sentence that begins with its host; empty if nothing is known against it, or
// if it is no URL.
func (c Cluster) Unreachable(address string) string {
	host := hostOf(address)
	switch {
	case host == "":
		return ""
	case isName(host, append([]string{"svc", "svc.cluster.local", "pod.cluster.local"}, c.Domains...)):
		return "is a name that only pods of the cluster resolve"
	case slices.ContainsFunc(c.Services, func(service string) bool { return same(service, host) }):
		return "is the address of a Service, which only the cluster reaches"
	}
	return ""
}

func isName(host string, domains []string) bool {
	return slices.ContainsFunc(domains, func(domain string) bool { return strings.HasSuffix(host, "."+domain) })
}

// same compares addresses, of which version 6 has several spellings.
func same(service, host string) bool {
	a, err := netip.ParseAddr(service)
	if err != nil {
		return canonical(service) == host
	}
	b, err := netip.ParseAddr(host)
	return err == nil && a.Unmap() == b.Unmap()
}

// hostOf is a URL's host without its port; empty if there is none.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return canonical(parsed.Hostname())
}

func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }
