//go:build e2e

package kubernetes

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/balance"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
	"github.com/ironflow/ironflow/test/vm/node"
)

// settings are those of a cluster at the site.
func (w *world) settings() *wire.KubernetesSettings {
	given := w.site.Settings()
	s := &wire.KubernetesSettings{Version: given.Version, ImageRepository: given.ImageRepository}
	for _, p := range given.Programs {
		s.Programs = append(s.Programs, wire.KubernetesProgram{URL: p.URL, Checksum: p.Checksum, Kind: p.Kind, Name: p.Name})
	}
	for _, m := range given.Mirrors {
		s.Mirrors = append(s.Mirrors, wire.KubernetesMirror{Registry: m.Registry, URLs: m.URLs})
	}
	if systemdtest.CgroupV1() {
		s.IgnorePreflight = []string{"SystemVerification"}
	}
	return s
}

// newCluster makes a cluster with so many hosts in its control plane, whose user adds a pod.
func (w *world) newCluster(masters int64, settings *wire.KubernetesSettings) (id string) {
	w.Helper()
	var made wire.Cluster
	w.Expect(json.Unmarshal(w.do(http.MethodPost, "/clusters", wire.ClusterCreateParams{
		Name: "plain", BaseDNSDomain: "lab.example", PullSecret: pullSecret, ControlPlaneCount: &masters,
		IgnitionSource: string(sources.Kubernetes), Kubernetes: settings, NetworkType: new(wire.ClusterNetworkTypeNone), UserManagedNetworking: new(true),
		MachineNetworks: []wire.MachineNetwork{{CIDR: wire.Subnet(gateway.Masked().String())}},
		ClusterNetworks: []wire.ClusterNetwork{{CIDR: node.PodNetwork, HostPrefix: 24}},
		ServiceNetworks: []wire.ServiceNetwork{{CIDR: "10.96.0.0/16"}},
	}), &made)).To(Succeed())
	for name, text := range map[string]string{"hello.yaml": w.site.Manifest(), "kube-proxy.yaml": proxy} {
		w.do(http.MethodPost, "/clusters/"+made.ID+"/manifests", wire.CreateManifestParams{FileName: name, Content: base64.StdEncoding.EncodeToString([]byte(text))})
	}
	return made.ID
}

// proxy is what the hosts' users have kube-proxy do: leave the size of the kernel's table of
// connections as it is, which only this computer's own network can change.
const proxy = `apiVersion: v1
kind: ConfigMap
metadata: {name: kube-proxy, namespace: kube-system}
data:
  config.conf: |
    apiVersion: kubeproxy.config.k8s.io/v1alpha1
    kind: KubeProxyConfiguration
    clientConnection: {kubeconfig: /var/lib/kube-proxy/kubeconfig.conf}
    clusterCIDR: ` + node.PodNetwork + `
    conntrack: {maxPerCore: 0, min: 0}
`

func (w *world) newPool(cluster, name string) (pool wire.InfraEnv) {
	w.Helper()
	w.Expect(json.Unmarshal(w.do(http.MethodPost, "/infra-envs", wire.InfraEnvCreateParams{Name: name, PullSecret: pullSecret, ClusterID: &cluster}), &pool)).To(Succeed())
	return pool
}

func (w *world) cluster(id string) (c wire.Cluster) {
	w.Helper()
	w.get("/clusters/"+id, &c)
	return c
}

// said tells what the cluster waits for.
func (w *world) said(text string) {
	w.Logf("%4.0f s: %s", time.Since(w.begun).Seconds(), text)
}

// kubeconfig is the one that the hub hands out.
func (w *world) kubeconfig(cluster string) *node.Cluster {
	w.Helper()
	running, err := node.Open(w.do(http.MethodGet, "/clusters/"+cluster+"/downloads/credentials?file_name=kubeconfig-noingress", nil))
	w.Expect(err).NotTo(HaveOccurred())
	return running
}

// up waits until the cluster has so many nodes that are all Ready, and all its pods.
func (w *world) up(id string, running *node.Cluster, nodes int) node.State {
	w.Helper()
	state, err := running.Await(w.Context(), nodes, upLimit, w.said)
	if err != nil {
		w.Fatalf("%v\n%s", err, w.story(id))
	}
	w.said("nodes and pods are ready")
	return state
}

// over are the statuses of a cluster that is installed.
var over = []string{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts}

// installed waits until ironflow-cluster has said the end.
func (w *world) installed(id string) {
	w.Helper()
	w.Eventually(func() string { return w.cluster(id).Status }, upLimit, look).Should(BeElementOf(over), func() string { return w.story(id) })
	w.said("the hub says that the cluster is installed")
}

// done expects the host to be one that its cluster's own program has told of.
func (h *host) done(status string) {
	h.w.Helper()
	h.w.Eventually(func() wire.Host {
		h.look()
		return h.found
	}, patience, look).Should(And(HaveField("Status", status), HaveField("Progress.CurrentStage", wire.HostStageDone)), h.name())
}

// install brings the hosts to the cluster, and starts what was installed.
func (w *world) install(id string, hosts ...*host) {
	w.Helper()
	for _, h := range hosts {
		h.known(id)
		h.cgroupV1()
	}
	w.Eventually(func() string { return w.cluster(id).Status }, patience, look).Should(Equal(wire.ClusterStatusReady), func() string { return w.story(id) })
	w.do(http.MethodPost, "/clusters/"+id+"/actions/install", nil)
	for _, h := range hosts {
		h.installs(id)
		h.start()
		w.said(h.name() + " starts")
	}
}

// TestFromAHostToACluster: one host becomes a Kubernetes, and another one joins it later.
// The last line of its output is JSON.
func TestFromAHostToACluster(t *testing.T) {
	w := newWorld(t)
	id := w.newCluster(1, w.settings())
	first := w.boot(w.newPool(id, "first"))
	w.install(id, first)
	running := w.kubeconfig(id)
	state := w.up(id, running, 1)
	w.installed(id)
	first.done(wire.HostStatusInstalled)
	w.works(running, 0)
	state.Seconds = int(time.Since(w.begun).Seconds())
	t.Logf("one node: %s", line(w, state))

	w.do(http.MethodPost, "/clusters/"+id+"/actions/allow-add-hosts", nil)
	second := w.boot(w.newPool(id, "second"))
	second.known(id)
	second.cgroupV1()
	w.do(http.MethodPost, second.path()+"/actions/install", nil)
	second.installs(id)
	second.start()
	state = w.up(id, running, 2)
	second.done(wire.HostStatusAddedToExistingCluster)
	w.works(running, 1)
	state.Seconds = int(time.Since(w.begun).Seconds())
	fmt.Println(line(w, state))
}

// TestThreeControlPlanes: one of them initialises the cluster, the others join it, behind a
// balancer as a site has one. The last line of its output is JSON.
func TestThreeControlPlanes(t *testing.T) {
	w := newWorld(t)
	_, running, state := w.threeControlPlanes()
	w.works(running, 2)
	state.Seconds = int(time.Since(w.begun).Seconds())
	fmt.Println(line(w, state))
}

// threeControlPlanes are the first three hosts as a cluster that is installed.
func (w *world) threeControlPlanes() (id string, running *node.Cluster, state node.State) {
	w.Helper()
	settings := w.settings()
	settings.Endpoint = balance.Start(w.T, gateway.Addr().String(), balance.TCP(address(1)+":6443", address(2)+":6443", address(3)+":6443")...)
	id = w.newCluster(3, settings)
	pool := w.newPool(id, "pool")
	w.install(id, w.boot(pool), w.boot(pool), w.boot(pool))
	running = w.kubeconfig(id)
	state = w.up(id, running, 3)
	w.installed(id)
	for _, h := range w.hosts {
		h.done(wire.HostStatusInstalled)
	}
	return id, running, state
}

// works expects that a pod has an address of the network of pods, and that ironflow-cluster
// has approved all that kubelets have asked for: so many clients, and all servers.
func (w *world) works(running *node.Cluster, clients int) {
	w.Helper()
	w.Expect(running.PodAddress(w.Context())).To(WithTransform(func(a string) bool {
		return netip.MustParsePrefix(node.PodNetwork).Contains(netip.MustParseAddr(a))
	}, BeTrue()), "the pod has an address of the network of pods")
	w.Eventually(func() error { return running.Logs(w.Context()) }, patience, look).
		Should(Succeed(), "the kubelet fetches its certificate of the cluster and answers with it")
	for _, h := range w.hosts {
		w.Eventually(func() error { return h.reaches(apiService) }, patience, look).Should(Succeed(), "the API's Service, by any of its servers, from "+h.name())
	}
	requests, err := running.Requests(w.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(requests["kubernetes.io/kubelet-serving"]).To(And(Not(BeEmpty()), HaveEach("Approved")))
	joined := requests["kubernetes.io/kube-apiserver-client-kubelet"] // one each, and more where an attempt was repeated
	w.Expect(len(joined)).To(BeNumerically(">=", clients))
	w.Expect(joined).To(Or(BeEmpty(), HaveEach("Approved")))
}

// apiService is where the API is inside of a cluster.
const apiService = "10.96.0.1:443"

func line(w *world, s node.State) string {
	raw, err := json.Marshal(s)
	w.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}
