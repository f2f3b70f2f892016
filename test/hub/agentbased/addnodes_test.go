//go:build e2e

package agentbased

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// runningID is what the running cluster calls itself.
const runningID = "33333333-3333-4333-8333-333333333333"

// nodes is the input of an image for hosts that join a running cluster.
func nodes(hosts int) map[string]string {
	var text strings.Builder
	text.WriteString("hosts:\n")
	for i := range hosts {
		fmt.Fprintf(&text, "- hostname: extra-%d\n  rootDeviceHints: {deviceName: /dev/nvme0n1}\n  interfaces: [{name: eno1, macAddress: \"%s\"}]\n", i, mac(i))
	}
	return map[string]string{
		"nodes-config.yaml":                           text.String(),
		"add-nodes.env":                               "CLUSTER_ID=" + runningID + "\nCLUSTER_NAME=edge\nCLUSTER_API_VIP_DNS_NAME=198.51.100.3\n",
		"pull-secret.json":                            `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`,
		"clusterconfig/import-cluster-config.json":    `{"networking": {"userManagedNetworking": true}}`,
		"clusterconfig/worker-ignition-endpoint.json": `{"url": "https://198.51.100.3:22623/config/worker"}`,
	}
}

// joining makes an image for hosts that join, and a site of each: every one is its own node zero.
func joining(t *testing.T, hosts int, flags ...string) (all []*site) {
	t.Helper()
	var cards [][]card
	for i := range hosts {
		cards = append(cards, []card{{"eno1", mac(i), "edge", []string{four.address(i) + "/24"}, "198.51.100.1"}})
	}
	image := imaged(t, nodes(hosts), cards, append(flags, "--workflow", "addnodes")...)
	for i := range hosts {
		s := &site{WithT: image.WithT, T: t, dir: image.dir, hosts: image.hosts[i : i+1], inside: image.inside[i : i+1]}
		s.dials()
		all = append(all, s)
	}
	return all
}

// TestHostsJoinARunningCluster: three hosts boot one image, and each installs itself for a
// cluster that runs elsewhere. The hub of one is killed on the way.
func TestHostsJoinARunningCluster(t *testing.T) {
	t.Parallel()
	all := joining(t, 3)
	leads := make([]*process, len(all))
	for i, s := range all {
		s.decides()
		s.Expect(s.url).To(Equal(fmt.Sprintf("http://198.51.100.%d:8090/", 10+i)), "each is its own node zero")
		s.Expect(s.holds(0, "/etc/assisted/node0")).To(Equal("BOOTSTRAP_HOST_MAC=\"" + mac(i) + "\"\n"))
		s.startHub()
		s.start(s.hosts[0], nil, "ironflow-agent-based", "auth-token-status")
		s.start(s.hosts[0], nil, "ironflow-agent-based", "report-messages")
		s.oneshot("agent-installer-client", "importCluster")
		s.oneshot("agent-installer-client", "registerInfraEnv")
		s.agents = append(s.agents, s.boot(0))
		if i == 1 {
			s.hub.kill()
			s.startHub()
			s.oneshot("agent-installer-client", "importCluster") // as a unit that was interrupted
			s.oneshot("agent-installer-client", "registerInfraEnv")
		}
		s.oneshot("agent-installer-client", "configure")
		leads[i] = s.start(s.hosts[0], nil, "ironflow-agent-based", "add-node")
	}
	for i, s := range all {
		s.Eventually(leads[i].ended, patience).Should(BeClosed(), func() string { return leads[i].tail() + s.story() })
		s.Expect(leads[i].command.ProcessState.ExitCode()).To(Equal(0), leads[i].tail)
		s.ends(s.agents[0])
		c := s.cluster()
		s.Expect([]any{c.Status, c.OpenshiftClusterID, *c.UserManagedNetworking}).To(Equal([]any{wire.ClusterStatusAddingHosts, runningID, true}))
		s.Expect(c.Hosts).To(HaveLen(1), "the others are not its business")
		h := c.Hosts[0]
		s.Expect([]any{h.Status, string(h.Role), h.InstallationDiskPath}).To(Equal([]any{wire.HostStatusAddedToExistingCluster, "worker", "/dev/nvme0n1"}), s.story)
		s.Expect(s.told(h.ID, "reached stage "+string(wire.HostStageWritingImageToDisk))).To(Equal(1), "written once: %s", s.story)
		s.Expect(s.ignition(h)).To(ContainSubstring(`"https://198.51.100.3:22623/config/worker`), "the cluster has its configuration")
		s.Eventually(s.story, patience, look).Should(ContainSubstring("This host is being installed for the cluster"), "who is far away reads what the console says")
	}
}

// TestAnImageWhoseTimeIsOver: the console says so, and the hub refuses the host's tokens.
func TestAnImageWhoseTimeIsOver(t *testing.T) {
	t.Parallel()
	s := joining(t, 1, "--token-lifetime", "1s")[0]
	s.decides()
	s.start(s.hosts[0], nil, "ironflow-agent-based", "auth-token-status")
	s.Eventually(func() string { return s.holds(0, "/etc/motd.d/65_token") }, patience, look).Should(ContainSubstring("the authentication token of this image has ended at "))
	env := s.environment(s.hosts[0], "/usr/local/share/assisted-service/assisted-service.env", "/etc/assisted/rendezvous-host.env", "/etc/assisted/node0")
	env["IRONFLOW_DATA_DIR"] = s.data()
	s.start(s.hosts[0], env, "ironflow", "hub", "agent-based")
	s.Eventually(func() error { return s.get("/clusters", nil) }, patience, look).Should(MatchError(ContainSubstring(http.StatusText(http.StatusUnauthorized))))
	client := s.start(s.hosts[0], s.environment(s.hosts[0], "/etc/assisted/add-nodes.env", "/etc/assisted/rendezvous-host.env"), "ironflow-agent-based", "agent-installer-client", "importCluster")
	s.Eventually(client.ended, patience).Should(BeClosed(), client.tail)
	s.Expect(client.command.ProcessState.ExitCode()).To(Equal(1), client.tail)
	s.Expect(client.tail()).To(ContainSubstring("401"))
}
