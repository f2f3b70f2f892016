//go:build machine

package edge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
	"github.com/ironflow/ironflow/test/vm/medium"
	"github.com/ironflow/ironflow/test/vm/node"
)

const (
	machineID = "0d1c0000-0000-4000-8000-0000000000e1"
	card      = "52:54:00:00:00:e1"
	hostname  = "edge-0"
	// patience is for one stage on two busy cores, clusterLimit for the last: kubeadm alone has
	// begun after 22 minutes there, and images, certificates and the first start of each program
	// come after that. Nothing is measured by them.
	patience     = 90 * time.Minute
	clusterLimit = 150 * time.Minute
	// look is the time between two looks at what is waited for.
	look = 2 * time.Second
)

// The network of the site, and the host's address there.
var (
	network = netip.MustParsePrefix("172.25.0.1/24")
	address = netip.MustParseAddr("172.25.0.10")
)

// TestAgentBasedKubernetes is the way from a folder of manifests to a Kubernetes of one node
// that nobody outside has installed.
func TestAgentBasedKubernetes(t *testing.T) {
	e := newEdge(t)
	e.image()
	e.reached("image made")

	e.power()
	e.says("Reached target ignition-complete.target")
	e.reached("the image boots, Ignition has run")
	for _, said := range []string{
		"Started node-zero.service", "Started assisted-service.service", "Finished agent-register-cluster.service", "Finished agent-register-infraenv.service",
	} {
		e.says(said)
		e.reached(said)
	}

	e.Eventually(e.cluster).WithTimeout(patience).WithPolling(look).Should(HaveField("Name", "edge"))
	e.reached("hub answers, the cluster is registered")
	e.Eventually(e.host).WithTimeout(patience).WithPolling(look).Should(HaveField("Inventory", Not(BeEmpty())), e.story)
	e.reached("agent registered, with its inventory")
	e.Eventually(e.stage).WithTimeout(patience).WithPolling(look).Should(Not(BeEmpty()), e.story)
	e.reached("installation begun")
	e.Eventually(e.hasTable).WithTimeout(patience).WithPolling(look).Should(BeTrue(), e.story)
	e.reached("disk is being written")
	e.Eventually(e.events, patience, look).Should(ContainElement(vm.EventReset), e.story)
	e.reached("disk written, the host has rebooted")
	e.says("INSTALLED host=" + hostname)
	e.reached("the installed system runs")

	defer node.Follow(e.machine.JournalLog(), func(what string) { e.said("%s", what) })()
	kubeconfig, err := os.ReadFile(filepath.Join(e.dir, "auth", "kubeconfig"))
	e.Expect(err).NotTo(HaveOccurred(), "it was there before the cluster")
	cluster, err := node.Open(kubeconfig)
	e.Expect(err).NotTo(HaveOccurred())
	e.Eventually(func() error { _, err := cluster.Look(t.Context()); return err }).WithTimeout(clusterLimit).WithPolling(look).Should(Succeed())
	e.reached("the API of the cluster answers")
	state, err := cluster.Await(t.Context(), 1, clusterLimit, func(waits string) { e.said("%s", waits) })
	e.Expect(err).NotTo(HaveOccurred())
	e.reached("node Ready, with its addons, ironflow-cluster and a user's pod")

	e.Eventually(func() (map[string][]string, error) { return cluster.Requests(t.Context()) }, patience, look).Should(
		HaveKeyWithValue("kubernetes.io/kubelet-serving", HaveEach("Approved")), "ironflow-cluster works inside, though its hub has gone")
	e.Eventually(func() error { return cluster.Logs(t.Context()) }, patience, look).
		Should(Succeed(), "the kubelet fetches its certificate of the cluster and answers with it")
	e.Eventually(e.waiting.ended, patience).Should(BeClosed())
	e.Expect(e.waiting.code()).To(Equal(0), e.waiting.said.String)
	e.reached("ironflow agent-image wait-for install-complete has seen the end")
	state.Seconds = int(time.Since(e.begun).Seconds())
	raw, err := json.Marshal(state)
	e.Expect(err).NotTo(HaveOccurred())
	fmt.Println(string(raw))
}

// newEdge is the site, without the host.
func newEdge(t *testing.T) *edge {
	t.Helper()
	needs.Root(t)
	for program, debianPackage := range map[string]string{
		"qemu-system-x86_64": "qemu-system-x86", "dnsmasq": "dnsmasq-base", "docker-registry": "docker-registry", "mmdebstrap": "mmdebstrap",
	} {
		needs.Program(t, program, debianPackage)
	}
	needs.CoreOSInstaller(t)
	ctrl.SetLogger(logr.Discard())
	programs := node.Needs(t, "../../..")
	e := &edge{WithT: NewWithT(t), T: t, dir: t.TempDir(), bin: bin(t), begun: time.Now()}
	t.Cleanup(e.tellEnd)
	media, err := medium.Make(t.Context())
	e.Expect(err).NotTo(HaveOccurred())
	e.base = media.ISO
	root, err := medium.Root(t.Context())
	e.Expect(err).NotTo(HaveOccurred())
	e.network, err = lan.Start(t.Context(), lan.Options{
		Prefix: network, Dir: t.TempDir(), DHCP: lan.DHCP{Hosts: []lan.Host{{MAC: card, Address: address, Name: hostname}}},
	})
	e.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { e.Expect(e.network.Close()).To(Succeed()) })
	e.site, err = node.Start(t.Context(), node.Options{
		Address: e.network.Address, Dir: t.TempDir(), Programs: programs, Cluster: filepath.Join(e.bin, "ironflow-cluster"), Root: root,
	})
	e.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { e.Expect(e.site.Close(context.Background())).To(Succeed()) })
	e.reached("registry, mirror, DNS and DHCP")
	return e
}

// bin is the folder of the programs as shipped; `make test-machine` says where.
func bin(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("IRONFLOW_BIN")
	if dir == "" {
		dir = "../../../bin"
	}
	dir, err := filepath.Abs(dir)
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	for _, program := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-cluster", "ironflow-step"} {
		g.Expect(filepath.Join(dir, program)).To(BeARegularFile(), "run make build")
	}
	return dir
}

// image makes the ISO out of manifests, as a person does.
func (e *edge) image() {
	e.Helper()
	settings, err := json.Marshal(e.site.Settings())
	e.Expect(err).NotTo(HaveOccurred())
	for name, text := range e.manifests(string(settings)) {
		path := filepath.Join(e.dir, name)
		e.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		e.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	}
	made := e.start("agent-image", "create", "--dir", e.dir, "--base-image", e.base, "--rendezvous-ip", address.String())
	e.Eventually(made.ended, patience).Should(BeClosed())
	e.Expect(made.code()).To(Equal(0), made.said.String)
	e.said("%s", made.said.String())
}

// manifests are the input, by the files of the folder.
func (e *edge) manifests(settings string) map[string]string {
	return map[string]string{
		"cluster-manifests/pull-secret.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: pull-secret}\nstringData:\n" +
			"  .dockerconfigjson: '{\"auths\":{\"" + e.network.Address.String() + "\":{\"auth\":\"dXNlcjpub3RoaW5n\"}}}'\n",
		"cluster-manifests/cluster-deployment.yaml": `apiVersion: hive.openshift.io/v1
kind: ClusterDeployment
metadata: {name: edge}
spec:
  baseDomain: lab.example
  clusterName: edge
  pullSecretRef: {name: pull-secret}
`,
		"cluster-manifests/agent-cluster-install.yaml": `apiVersion: extensions.hive.openshift.io/v1beta1
kind: AgentClusterInstall
metadata:
  name: edge
  annotations:
    ironflow.io/ignition-source: kubernetes
    ironflow.io/kubernetes: '` + settings + `'
spec:
  clusterDeploymentRef: {name: edge}
  platformType: None
  networking:
    machineNetwork: [{cidr: ` + network.Masked().String() + `}]
    clusterNetwork: [{cidr: ` + node.PodNetwork + `, hostPrefix: 24}]
    serviceNetwork: [10.96.0.0/16]
  provisionRequirements: {controlPlaneAgents: 1}
`,
		"cluster-manifests/infraenv.yaml": `apiVersion: agent-install.openshift.io/v1beta1
kind: InfraEnv
metadata: {name: edge}
spec:
  clusterRef: {name: edge}
  pullSecretRef: {name: pull-secret}
  cpuArchitecture: x86_64
`,
		"openshift/hello.yaml": e.site.Manifest(),
		// An emulated processor needs longer than any host for what a stage has.
		"hub.env": "IRONFLOW_HUB_CLUSTER_IMAGE=" + e.site.ClusterImage() + "\n" +
			"IRONFLOW_HUB_STAGE_TIMEOUTS=" + strings.Join([]string{"Starting installation=5h", "Installing=5h", "Writing image to disk=5h", "Rebooting=5h"}, ",") + "\n",
	}
}

// power switches the host on, with the image as its medium, and has somebody wait for the end.
func (e *edge) power() {
	e.Helper()
	tap, err := e.network.Tap(e.Context(), "edge0")
	e.Expect(err).NotTo(HaveOccurred())
	dir := e.TempDir()
	e.machine, err = vm.New(context.WithoutCancel(e.Context()), vm.Config{
		UUID: machineID, Name: hostname, Dir: dir, MemoryMiB: 4096,
		Disks: []vm.Disk{{Kind: vm.DiskSCSI, SizeMiB: 12 << 10, Serial: "EDGE1", WWN: "0x5000c500000000e1"}},
		NICs:  []vm.NIC{{MAC: card, Tap: tap}},
	})
	e.Expect(err).NotTo(HaveOccurred())
	e.Cleanup(func() { e.Expect(e.machine.Close()).To(Succeed()) })
	e.Expect(e.machine.Take(emulator.SystemChange{
		UUID: machineID, Change: emulator.ChangePower, Reset: emulator.ResetOn, PowerState: emulator.PowerOn,
		Media: map[string]emulator.Medium{emulator.MediaCd: {Image: e.serve("agent.x86_64.iso"), Inserted: true}},
	})).To(Succeed())
	e.waiting = e.start("agent-image", "wait-for", "install-complete", "--url", "http://"+netip.AddrPortFrom(address, 8090).String(),
		"--token-file", filepath.Join(e.dir, "auth", "watcher-token"), "--kubeconfig", filepath.Join(e.dir, "auth", "kubeconfig"),
		"--timeout", "24h", "--patience", "24h")
}

// host is the cluster's only one.
func (e *edge) host() (wire.Host, error) {
	c, err := e.cluster()
	if err == nil && len(c.Hosts) != 1 {
		err = fmt.Errorf("the cluster has %d hosts", len(c.Hosts))
	}
	if err != nil {
		return wire.Host{}, err
	}
	return c.Hosts[0], nil
}

// stage is that of the installation.
func (e *edge) stage() (wire.HostStage, error) {
	h, err := e.host()
	if err != nil || h.Progress == nil {
		return "", err
	}
	return h.Progress.CurrentStage, nil
}
