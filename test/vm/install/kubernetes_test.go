//go:build machine

package install_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
	"github.com/ironflow/ironflow/test/vm/medium"
	kubenode "github.com/ironflow/ironflow/test/vm/node"
)

// nodeLimit is how long a node may take on two busy cores from its first boot; an emulated
// processor that gets a tenth of one needs half an hour until kubeadm begins alone.
const nodeLimit = 150 * time.Minute

// The network of the node, and its address there.
var (
	nodeNetwork = netip.MustParsePrefix("172.23.0.1/24")
	nodeAddress = netip.MustParseAddr("172.23.0.10")
)

// TestNodeOfTheSource boots a disk that holds the installed system with exactly the
// Ignition that the source kubernetes makes for the only host of a cluster: kubeadm,
// kubelet, containerd and CNI plugins make it a node that is Ready, with the addons of
// kubeadm and a pod of a user. There is neither hub nor agent here, and nobody approves
// the request for the kubelet's serving certificate: TestKubernetes of test/vm/flows has them.
func TestNodeOfTheSource(t *testing.T) {
	needs.Program(t, "dnsmasq", "dnsmasq-base")
	needs.Program(t, "docker-registry", "docker-registry")
	ctrl.SetLogger(logr.Discard())
	programs := kubenode.Needs(t, "../../..")
	media, err := medium.Make(t.Context())
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	root, err := medium.Root(t.Context())
	g.Expect(err).NotTo(HaveOccurred())

	network, err := lan.Start(t.Context(), lan.Options{
		Prefix: nodeNetwork, Dir: t.TempDir(), DHCP: lan.DHCP{Hosts: []lan.Host{{MAC: card, Address: nodeAddress}}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(network.Close()).To(Succeed()) })
	site, err := kubenode.Start(t.Context(), kubenode.Options{Address: network.Address, Dir: t.TempDir(), Programs: programs, Root: root})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(site.Close(context.Background())).To(Succeed()) })
	made, err := kubernetes.Source{}.Make(t.Context(), ofOneHost(site))
	g.Expect(err).NotTo(HaveOccurred())
	config, err := ignition.Finish(made.Hosts[nodeID], "alone", "")
	g.Expect(err).NotTo(HaveOccurred())

	s := newStand(t, network.Address.String(), func(c *vm.Config) {
		c.MemoryMiB, c.Disks[0].SizeMiB = 4096, 12<<10
		c.NICs[0].Tap, err = network.Tap(t.Context(), "k8snode0")
		g.Expect(err).NotTo(HaveOccurred())
	})
	g.Expect(write(t, media.Installed, s.machine.DiskPath(0), config)).To(Succeed())
	s.start(emulator.BootHdd, "")
	defer kubenode.Follow(s.machine.JournalLog(), func(what string) { s.said("%s", what) })()
	cluster, err := kubenode.Open(made.Credentials[kubernetes.Kubeconfig])
	g.Expect(err).NotTo(HaveOccurred())
	state, err := cluster.Await(t.Context(), 1, nodeLimit, func(waits string) { s.said("%s", waits) })
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cluster.PodAddress(t.Context())).To(WithTransform(func(a string) bool {
		return netip.MustParsePrefix(kubenode.PodNetwork).Contains(netip.MustParseAddr(a))
	}, BeTrue()), "the pod has an address of the network of pods")
	state.Seconds = int(time.Since(s.begun).Seconds())
	fmt.Println(encoded(state))
}

const nodeID = "00000000-0000-4000-8000-000000000001"

// ofOneHost is a cluster of one host at the site.
func ofOneHost(site *kubenode.Site) *sources.Order {
	return &sources.Order{
		Now: time.Now(), PullSecret: `{"auths":{}}`, Kubernetes: site.Settings(),
		Cluster: wire.Cluster{
			Name: "alone", BaseDNSDomain: "lab.example",
			MachineNetworks: []wire.MachineNetwork{{CIDR: wire.Subnet(nodeNetwork.Masked().String())}},
			ClusterNetworks: []wire.ClusterNetwork{{CIDR: kubenode.PodNetwork, HostPrefix: 24}},
			ServiceNetworks: []wire.ServiceNetwork{{CIDR: "10.96.0.0/16"}},
		},
		Hosts: []sources.Host{{
			ID: nodeID, Name: "alone", Role: wire.HostRoleMaster, Bootstrap: true, Addresses: []string{nodeAddress.String()}, MAC: card,
		}},
		Manifests: []sources.Manifest{{Folder: "manifests", Name: "hello.yaml", Content: []byte(site.Manifest())}},
	}
}

// Where the boot file system of the installed system lies on its disk, as
// test/vm/medium/guest/installed.sh makes it.
const bootOffset, bootSize = 20480 * 512, 204800 * 512

// write writes the installed system to a disk, with the Ignition where coreos-installer
// puts it.
func write(t *testing.T, image, disk string, config []byte) error {
	dir := t.TempDir()
	run := func(name string, args ...string) error {
		if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, out)
		}
		return nil
	}
	if err := run("dd", "if="+image, "of="+disk, "bs=1M", "conv=notrunc,sparse", "status=none"); err != nil {
		return err
	}
	if err := run("mount", "-o", fmt.Sprintf("loop,offset=%d,sizelimit=%d", bootOffset, bootSize), disk, dir); err != nil {
		return err
	}
	into := filepath.Join(dir, "ignition")
	err := os.MkdirAll(into, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(into, "config.ign"), config, 0o600)
	}
	if after := run("umount", dir); err == nil {
		err = after
	}
	return err
}
