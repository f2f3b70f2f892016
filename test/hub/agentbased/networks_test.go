//go:build e2e

package agentbased

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
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

// installs takes an image of three hosts from their boot to the last one's reboot.
func (s *site) installs() {
	s.Helper()
	s.decides()
	for i := range s.hosts {
		want := ""
		if i == 0 {
			want = "BOOTSTRAP_HOST_MAC=\"" + mac(0) + "\"\n"
		}
		s.Expect(s.holds(i, "/etc/assisted/node0")).To(Equal(want), "host %d", i)
	}
	s.startHub()
	s.register()
	for i := range s.hosts {
		s.agents = append(s.agents, s.boot(i))
	}
	s.oneshot("agent-installer-client", "configure")
	s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	watch := s.waitFor()
	s.reaches(0, wire.HostStageRebooting)
	s.Expect([]wire.HostStage{s.stage(1), s.stage(2)}).To(HaveEach(wire.HostStageRebooting), "before node zero")
	for _, a := range s.agents {
		s.ends(a)
	}
	s.ends(watch)
	zero := s.zero()
	s.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/nvme0n1"}))
}

// TestIPv6Alone: no host of the image has another address.
func TestIPv6Alone(t *testing.T) {
	t.Parallel()
	var hosts [][]card
	for i := range 3 {
		hosts = append(hosts, []card{{"eno1", mac(i), "edge", []string{six.address(i) + "/64"}, "2001:db8:1::1"}})
	}
	s := imaged(t, six.input(3, "eno1"), hosts)
	s.installs()
	s.Expect(s.url).To(Equal("http://[2001:db8:1::10]:8090/"))
	s.Expect(s.holds(1, "/etc/NetworkManager/system-connections/eno1.nmconnection")).To(ContainSubstring("2001:db8:1::11/64"))
}

// TestTwoCards: the rendezvous address is on the second card of the hosts, the way out over the
// first one, and the image calls the card by another name than the kernel does.
func TestTwoCards(t *testing.T) {
	t.Parallel()
	var hosts [][]card
	for i := range 3 {
		hosts = append(hosts, []card{
			{"eno1", fmt.Sprintf("52:54:00:00:01:%02x", i+1), "storage", []string{fmt.Sprintf("203.0.113.%d/24", 10+i)}, "203.0.113.1"},
			{"eno2", mac(i), "edge", []string{four.address(i) + "/24"}, ""},
		})
	}
	s := imaged(t, four.input(3, "lan"), hosts)
	s.installs()
	s.Expect(s.url).To(Equal("http://198.51.100.10:8090/"))
	s.Expect(s.holds(2, "/etc/NetworkManager/system-connections/lan.nmconnection")).To(And(ContainSubstring("mac-address="+mac(2)), ContainSubstring("198.51.100.12/24")))
}
