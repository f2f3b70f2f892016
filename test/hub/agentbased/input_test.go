//go:build e2e || machine

package agentbased

import (
	"fmt"
	"strings"
)

// network is that of an installation.
type network struct {
	machine, api, ingress, cluster, service string
	prefix, share                           int
	// address is a host's, family its name in nmstate.
	address func(i int) string
	family  string
}

var (
	four = network{
		"198.51.100.0/24", "198.51.100.3", "198.51.100.4", "10.128.0.0/14", "172.30.0.0/16", 24, 23,
		func(i int) string { return fmt.Sprintf("198.51.100.%d", 10+i) }, "ipv4",
	}
	six = network{
		"2001:db8:1::/64", "2001:db8:1::3", "2001:db8:1::4", "fd01::/48", "fd02::/112", 64, 64,
		func(i int) string { return fmt.Sprintf("2001:db8:1::%d", 10+i) }, "ipv6",
	}
)

// input are the manifests of an installation whose hosts have static addresses on a card.
func (n network) input(hosts int, nic string) map[string]string {
	all := map[string]string{}
	for name, text := range manifests(hosts) {
		all["cluster-manifests/"+name] = text
	}
	install := all["cluster-manifests/agent-cluster-install.yaml"]
	install = strings.NewReplacer(
		"apiVIP: 198.51.100.3", "apiVIP: '"+n.api+"'", "ingressVIP: 198.51.100.4", "ingressVIP: '"+n.ingress+"'",
		"machineNetwork: [{cidr: 198.51.100.0/24}]",
		fmt.Sprintf("machineNetwork: [{cidr: '%s'}]\n    clusterNetwork: [{cidr: '%s', hostPrefix: %d}]\n    serviceNetwork: ['%s']", n.machine, n.cluster, n.share, n.service),
	).Replace(install)
	all["cluster-manifests/agent-cluster-install.yaml"] = install
	all["cluster-manifests/infraenv.yaml"] += "  nmStateConfigLabelSelector: {matchLabels: {site: edge}}\n"
	var networks []string
	for i := range hosts {
		networks = append(networks, fmt.Sprintf(`apiVersion: agent-install.openshift.io/v1beta1
kind: NMStateConfig
metadata: {name: edge-%d, labels: {site: edge}}
spec:
  interfaces: [{name: %[2]s, macAddress: "%[3]s"}]
  config:
    interfaces:
    - {name: %[2]s, type: ethernet, state: up, %[4]s: {enabled: true, dhcp: false, address: [{ip: "%[5]s", prefix-length: %[6]d}]}}
`, i, nic, mac(i), n.family, n.address(i), n.prefix))
	}
	all["cluster-manifests/nmstateconfig.yaml"] = strings.Join(networks, "---\n")
	all["hostconfig/zero/mac_addresses"] = mac(0) + "\n"
	all["hostconfig/zero/root-device-hints.yaml"] = "deviceName: /dev/nvme0n1\n"
	return all
}

// dynamic is the same without static addresses: the network gives them, as with DHCP.
func (n network) dynamic(hosts int) map[string]string {
	all := n.input(hosts, "")
	delete(all, "cluster-manifests/nmstateconfig.yaml")
	all["cluster-manifests/infraenv.yaml"] = manifests(hosts)["infraenv.yaml"]
	return all
}
