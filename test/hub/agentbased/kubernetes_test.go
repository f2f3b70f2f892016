//go:build e2e

package agentbased

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// plainKubernetes makes the site's manifests those of a plain Kubernetes.
func (s *site) plainKubernetes() {
	s.Helper()
	install := four.input(3, "eno1")["cluster-manifests/agent-cluster-install.yaml"]
	install = strings.Replace(install, "{ironflow.io/ignition-source: files}", "{ironflow.io/ignition-source: kubernetes, ironflow.io/kubernetes-version: v1.37.1}", 1)
	s.Expect(install).To(ContainSubstring("v1.37.1"))
	s.write(s.hosts[0], "/etc/assisted/manifests/agent-cluster-install.yaml", install)
	settings := s.holds(0, "/usr/local/share/assisted-service/assisted-service.env")
	s.write(s.hosts[0], "/usr/local/share/assisted-service/assisted-service.env", settings+"IRONFLOW_HUB_CLUSTER_IMAGE=registry.example/ironflow-cluster:e2e\n")
}

// written is what the hub has put into the cluster: the manifests of ironflow-cluster, in the
// Ignition of the host that initialises it.
func (s *site) written(hosts []wire.Host) (text string) {
	s.Helper()
	for _, h := range hosts {
		if found, err := incluster.Manifests([]byte(s.ignition(h))); err == nil {
			s.Expect(text).To(BeEmpty(), "one host initialises the cluster")
			s.Expect(h.Bootstrap).To(BeFalse(), "and not node zero, which joins it")
			text = found
		}
	}
	s.Expect(text).NotTo(BeEmpty())
	return text
}

// pod starts the shipped ironflow-cluster as its Deployment says, with the account's access.
func (s *site) pod(c *incluster.Cluster, text string) *process {
	s.Helper()
	env, err := incluster.Environment(text)
	s.Expect(err).NotTo(HaveOccurred())
	env["IRONFLOW_CLUSTER_LISTEN"] = "0"
	kubeconfig, err := c.Kubeconfig()
	s.Expect(err).NotTo(HaveOccurred())
	s.write(s.dir, "inside.kubeconfig", string(kubeconfig))
	env["KUBECONFIG"] = filepath.Join(s.dir, "inside.kubeconfig")
	return s.start(s.dir, env, "ironflow-cluster", "run")
}

// kubelet is played: that of a host's installed system. It returns its node's name.
func (s *site) kubelet(c *incluster.Cluster, h wire.Host) string {
	s.Helper()
	var inventory wire.Inventory
	s.Expect(json.Unmarshal([]byte(h.Inventory), &inventory)).To(Succeed())
	address, err := netip.ParsePrefix(inventory.Interfaces[0].Ipv4Addresses[0])
	s.Expect(err).NotTo(HaveOccurred())
	k := incluster.Kubelet{Cluster: c, Name: cmp.Or(h.RequestedHostname, inventory.Hostname), Address: address.Addr().String()}
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	s.Expect(k.Joins(ctx)).To(Succeed())
	s.Expect(k.GetsReady(ctx)).To(Succeed())
	return k.Name
}

// TestAPlainKubernetesWithoutABootstrapHost: another host initialises the cluster, node zero
// is installed last and takes the hub with it, and its node becomes Ready all the same. The
// kubelets are played, on a real kube-apiserver; the hub, the client, the agents, who works
// inside the cluster and who waits for the end are the shipped programs.
func TestAPlainKubernetesWithoutABootstrapHost(t *testing.T) {
	s := newSite(t, 3)
	s.plainKubernetes()
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	cluster, err := incluster.New(t.Context(), plane)
	s.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(cluster.Close)
	s.startHub()
	s.register()
	for i := range s.hosts {
		s.agents = append(s.agents, s.boot(i))
	}
	s.oneshot("agent-installer-client", "configure")
	s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	wait := s.start(s.dir, map[string]string{"WATCHER_AUTH_TOKEN": s.tokens["WATCHER_AUTH_TOKEN"]},
		"ironflow", "agent-image", "wait-for", "install-complete", "--url", s.url, "--kubeconfig", plane.Kubeconfig, "--interval", "1s", "--output", "json")
	s.reaches(1, wire.HostStageRebooting)
	s.reaches(2, wire.HostStageRebooting)
	s.Expect(s.zero().StatusInfo).To(ContainSubstring("it is installed last"))

	text := s.written(s.cluster().Hosts)
	s.Expect(cluster.ApplyText(t.Context(), text)).To(Succeed())
	pod := s.pod(cluster, text)
	zero := s.zero()
	for _, h := range s.cluster().Hosts {
		if h.ID != zero.ID {
			s.kubelet(cluster, h)
		}
	}
	s.reaches(0, wire.HostStageRebooting)
	s.ends(s.agents[0])
	s.hub.kill() // it ends with the live system of its host

	pod.kill() // and whoever works inside may be started on another host
	s.pod(cluster, text)
	name := s.kubelet(cluster, zero)
	s.ends(wait)
	s.Expect(wait.tail()).To(ContainSubstring("the cluster says so: 3 nodes are Ready"))
	var node struct {
		Metadata struct{ Labels map[string]string }
	}
	s.Eventually(func() map[string]string {
		s.Expect(cluster.Admin.Get(t.Context(), observe.Nodes+"/"+name, &node)).To(Succeed())
		return node.Metadata.Labels
	}, patience, look).Should(HaveKey("node-role.kubernetes.io/control-plane"))
}
