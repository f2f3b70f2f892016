package kubernetes

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/units"
)

// system adds what a host needs besides Kubernetes: kernel settings, time, proxy,
// credentials and mirrors of registries.
func (p *plan) system(c *config) {
	c.add("/etc/modules-load.d/ironflow-kubernetes.conf", public, []byte("overlay\nbr_netfilter\n"))
	var sysctl strings.Builder
	sysctl.WriteString("-net.bridge.bridge-nf-call-iptables = 1\n-net.bridge.bridge-nf-call-ip6tables = 1\n")
	for _, six := range p.networks.families() {
		if six { // not otherwise: a host that forwards takes no router advertisements from its kernel
			sysctl.WriteString("net.ipv6.conf.all.forwarding = 1\n")
		} else {
			sysctl.WriteString("net.ipv4.ip_forward = 1\n")
		}
	}
	c.add("/etc/sysctl.d/90-ironflow-kubernetes.conf", public, []byte(sysctl.String()))
	if servers := ntpServers(p.order); len(servers) > 0 {
		p.time(c, servers)
	}
	if p.proxied() {
		c.put(units.Proxy, secret, p.proxy())
	}
	if p.order.PullSecret != "" {
		c.add("/var/lib/kubelet/config.json", secret, []byte(p.order.PullSecret))
	}
	for _, m := range p.order.Kubernetes.Mirrors {
		mirror(c, m)
	}
}

// ntpServers are the cluster's time servers, of both settings, each once.
func ntpServers(o *sources.Order) (all []string) {
	for _, one := range strings.FieldsFunc(o.Cluster.AdditionalNTPSource+","+o.Cluster.NTPSources, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// time has chrony, as Fedora and as Debian have it, and systemd-timesyncd ask the servers.
func (p *plan) time(c *config, servers []string) {
	var lines strings.Builder
	for _, one := range servers {
		lines.WriteString("server " + one + " iburst\n")
	}
	c.add("/etc/chrony.conf", public, []byte(lines.String()+"driftfile /var/lib/chrony/drift\nmakestep 1.0 3\nrtcsync\n"))
	c.add("/etc/chrony/sources.d/ironflow.sources", public, []byte(lines.String()))
	c.add("/etc/systemd/timesyncd.conf.d/10-ironflow.conf", public, []byte("[Time]\nNTP="+strings.Join(servers, " ")+"\n"))
}

// proxied tells that the cluster has a proxy.
func (p *plan) proxied() bool {
	return p.order.Cluster.HTTPProxy != "" || p.order.Cluster.HTTPSProxy != ""
}

// proxy is the environment of what goes through the proxy. The cluster itself never does.
func (p *plan) proxy() []byte {
	host, _ := splitEndpoint(p.endpoint)
	direct := []string{"localhost", "127.0.0.1", "::1", ".svc", ".cluster.local", host}
	for _, all := range [][]netip.Prefix{p.networks.machine, p.networks.pods, p.networks.services} {
		for _, one := range all {
			direct = append(direct, one.String())
		}
	}
	if own := p.order.Cluster.NoProxy; own != "" {
		direct = append(direct, own)
	}
	var out strings.Builder
	for _, one := range []struct{ name, value string }{
		{"HTTP_PROXY", p.order.Cluster.HTTPProxy}, {"HTTPS_PROXY", p.order.Cluster.HTTPSProxy}, {"NO_PROXY", strings.Join(direct, ",")},
	} {
		if one.value != "" {
			fmt.Fprintf(&out, "%s=%s\n%s=%s\n", one.name, one.value, strings.ToLower(one.name), one.value)
		}
	}
	return []byte(out.String())
}

// mirror writes containerd's file for the hosts of a registry.
func mirror(c *config, m sources.Mirror) {
	folder := path.Join("/etc/containerd/certs.d", m.Registry)
	var out strings.Builder
	for _, one := range m.URLs {
		fmt.Fprintf(&out, "[host.%q]\n  capabilities = [\"pull\", \"resolve\"]\n", strings.TrimSuffix(one, "/"))
		if m.CA != "" {
			fmt.Fprintf(&out, "  ca = %q\n", path.Join(folder, "ca.crt"))
		}
	}
	c.add(path.Join(folder, "hosts.toml"), public, []byte(out.String()))
	if m.CA != "" {
		c.add(path.Join(folder, "ca.crt"), public, []byte(m.CA))
	}
}

// plainURL tells that a URL is one of http or https that can be put into a line of a file.
func plainURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && plain(text)
}

// plain tells that a text can stand in a line of an environment file or a list.
func plain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`\\$#;", r) })
}
