//go:build machine

package flows

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
	"github.com/ironflow/ironflow/test/vm/medium"
	"github.com/ironflow/ironflow/test/vm/node"
)

// clusterLimit is how long a cluster may take from the first boot of its host to its end: on
// two busy cores kubeadm has begun after 22 minutes, and pulls of images, certificates and
// the first start of each program come after that.
const clusterLimit = 150 * time.Minute

// TestKubernetes is the way from the address of a BMC to a Kubernetes that runs: the live
// system, the installation by the agent, kubeadm on the installed host, and the end, which
// ironflow-cluster tells from inside. The last line of its output is JSON.
func TestKubernetes(t *testing.T) {
	needs.Root(t)
	needs.Program(t, "docker-registry", "docker-registry")
	programs := node.Needs(t, "../../..")
	var site *node.Site
	w := newWorld(t, func(o *Options) {
		o.Network = lan.Options{Prefix: netip.MustParsePrefix("172.20.0.1/24")}
		inside := filepath.Join(o.BinDir, "ironflow-cluster")
		NewWithT(t).Expect(inside).To(BeARegularFile(), "run make build")
		o.Prepare = func(ctx context.Context, network *lan.Network) (map[string]string, error) {
			var err error
			site, err = startSite(ctx, node.Options{Address: network.Address, Dir: filepath.Join(o.Dir, "site"), Programs: programs, Cluster: inside})
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { NewWithT(t).Expect(site.Close(context.Background())).To(Succeed()) })
			return map[string]string{"IRONFLOW_HUB_CLUSTER_IMAGE": site.ClusterImage()}, nil
		}
		// The hub's own limits are for real processors; its host reboots until the cluster's program speaks.
		o.Settings = map[string]string{"IRONFLOW_HUB_KUBERNETES": "true", "IRONFLOW_HUB_STAGE_TIMEOUTS": "Rebooting=5h,Configuring=5h,Joined=5h"}
	})
	state := kubernetes(newFlow(t, w), site)
	raw, err := json.Marshal(state)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	fmt.Println(string(raw))
}

// startSite starts a mirror and a registry for the nodes of a world.
func startSite(ctx context.Context, o node.Options) (*node.Site, error) {
	root, err := medium.Root(ctx)
	if err != nil {
		return nil, err
	}
	o.Root = root
	return node.Start(ctx, o)
}

func kubernetes(f *flow, site *node.Site) node.State {
	const cluster, name, word = "plain", "alpha", "alpha-k1"
	begun := time.Now()
	h := f.host(Spec{Name: name, Config: func(c *vm.Config) { c.MemoryMiB, c.NICs = 4096, c.NICs[:1] }})
	f.Expect(f.world.CreateInfraEnv(f.Context())).To(Succeed())
	f.Expect(f.world.CreateKubernetes(f.Context(), cluster, site)).To(Succeed())
	console := h.Console()
	f.Expect(h.Create(f.Context(), both(ForCluster(cluster, "master"), ForNode(word)))).To(Succeed())

	f.inspected(h)
	f.arrives(h, console, word, cluster)
	defer node.Follow(h.Machine.JournalLog(), func(what string) { h.Timeline.Happened(time.Now(), what) })()

	var kubeconfig []byte
	f.Eventually(func() (err error) {
		kubeconfig, err = f.world.Kubeconfig(f.Context(), cluster)
		return err
	}).WithTimeout(installLimit).WithPolling(look).Should(Succeed(), "the hub hands out the kubeconfig")
	running, err := node.Open(kubeconfig)
	f.Expect(err).NotTo(HaveOccurred())
	state, err := running.Await(f.Context(), 1, clusterLimit, func(waits string) { h.Timeline.Happened(time.Now(), waits) })
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(running.PodAddress(f.Context())).To(WithTransform(func(a string) bool {
		return netip.MustParsePrefix(node.PodNetwork).Contains(netip.MustParseAddr(a))
	}, BeTrue()), "the pod has an address of the network of pods")

	// ironflow-cluster has approved what the kubelet has asked for, and has said the end.
	f.Eventually(func() (hiveextv1.AgentClusterInstall, error) {
		var aci hiveextv1.AgentClusterInstall
		return aci, f.world.Client.Get(f.Context(), client.ObjectKey{Namespace: Namespace, Name: cluster}, &aci)
	}).WithTimeout(clusterLimit).WithPolling(look).Should(And(
		HaveField("Status.DebugInfo.State", wire.ClusterStatusAddingHosts), // where an installed cluster goes at once
		HaveField("Status.Conditions", ContainElement(And(HaveField("Type", hiveextv1.ConditionCompleted), HaveField("Status", BeEquivalentTo("True"))))),
	), "the cluster is installed, as its own program says")
	h.Timeline.Happened(time.Now(), "the hub says that the cluster is installed")
	f.Expect(running.Requests(f.Context())).To(And(HaveKey(serving), HaveEach(HaveEach("Approved"))), "all requests of kubelets are approved")
	f.Eventually(func() error { return running.Logs(f.Context()) }).WithTimeout(clusterLimit).WithPolling(look).
		Should(Succeed(), "the kubelet fetches its certificate of the cluster and answers with it")
	agent, err := f.agentOf(h)
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(agent.Status.Progress.CurrentStage).To(BeEquivalentTo(wire.HostStageDone))

	h.Timeline.Happened(time.Now(), fmt.Sprintf("one node is Ready, after %d s", int(time.Since(begun).Seconds())))

	state = joins(f, running, cluster)
	state.Seconds = int(time.Since(begun).Seconds())
	return state
}

// serving signs what kubelets are asked with.
const serving = "kubernetes.io/kubelet-serving"

// joins has a second machine become a worker of the cluster that runs.
func joins(f *flow, running *node.Cluster, cluster string) node.State {
	const name, word = "beta", "beta-k2"
	before, err := running.Requests(f.Context())
	f.Expect(err).NotTo(HaveOccurred())
	h := f.host(Spec{Name: name, Config: func(c *vm.Config) { c.NICs = c.NICs[:1] }})
	console := h.Console()
	f.Expect(h.Create(f.Context(), both(ForCluster(cluster, "worker"), ForNode(word)))).To(Succeed())
	f.inspected(h)
	f.arrives(h, console, word, cluster)
	defer node.Follow(h.Machine.JournalLog(), func(what string) { h.Timeline.Happened(time.Now(), what) })()
	state, err := running.Await(f.Context(), 2, clusterLimit, func(waits string) { h.Timeline.Happened(time.Now(), waits) })
	f.Expect(err).NotTo(HaveOccurred())
	f.Eventually(func() (string, error) {
		agent, err := f.agentOf(h)
		return string(agent.Status.Progress.CurrentStage), err
	}).WithTimeout(clusterLimit).WithPolling(look).Should(BeEquivalentTo(wire.HostStageDone), "as the cluster's own program says")
	after, err := running.Requests(f.Context())
	f.Expect(err).NotTo(HaveOccurred())
	f.Expect(after).To(HaveEach(HaveEach("Approved")), "the worker's requests are approved as well")
	for _, signer := range []string{serving, "kubernetes.io/kube-apiserver-client-kubelet"} {
		f.Expect(len(after[signer])).To(BeNumerically(">", len(before[signer])), signer)
	}
	return state
}
