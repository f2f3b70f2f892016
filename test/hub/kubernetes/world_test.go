//go:build e2e

package kubernetes

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/media/debian"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
	"github.com/ironflow/ironflow/test/vm/medium"
	"github.com/ironflow/ironflow/test/vm/node"
)

const (
	// patience is for what an installation waits for, upLimit for a control plane that comes up
	// on two cores that have other work.
	patience = 10 * time.Minute
	upLimit  = 40 * time.Minute
	look     = 500 * time.Millisecond
)

// gateway is the address of this computer in the network of the hosts.
var gateway = netip.MustParsePrefix("172.24.77.1/24")

// address is that of a host there.
func address(n int) string {
	raw := gateway.Addr().As4()
	raw[3] = byte(9 + n)
	return netip.AddrFrom4(raw).String()
}

func mac(n int) string { return fmt.Sprintf("52:54:00:24:77:%02x", n) }

// ignitionProgram is where Debian's package has it.
const ignitionProgram = "usr/lib/dracut/modules.d/30ignition/ignition"

// world is a hub, a site that has a node's programs and images, and a user.
type world struct {
	*WithT
	*testing.T
	hub      *program.Hub
	user     *program.User
	site     *node.Site
	dir      string
	root     string // of the installed systems
	ignition string // the program
	bridge   netlink.Link
	hosts    []*host
	begun    time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	systemdtest.NeedNode(t)
	needs.Program(t, "docker-registry", "docker-registry")
	needs.Program(t, "mmdebstrap", "mmdebstrap")
	programs := node.Needs(t, "../../..")
	inside := needs.Shipped(t, "ironflow-cluster")
	ctrl.SetLogger(logr.Discard())
	w := &world{WithT: NewWithT(t), T: t, dir: t.TempDir()}
	var err error
	w.root, err = medium.Root(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.ignition, err = debian.Take(t.Context(), "ignition", ignitionProgram)
	w.Expect(err).NotTo(HaveOccurred())
	w.connectHosts()
	w.site, err = node.Start(t.Context(), node.Options{Address: gateway.Addr(), Dir: filepath.Join(w.dir, "site"), Programs: programs, Cluster: inside, Root: w.root})
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { w.Expect(w.site.Close(context.Background())).To(Succeed()) })
	w.begun = time.Now()
	w.startHub()
	w.connect()
	return w
}

// startHub starts the hub where the hosts reach it.
func (w *world) startHub() {
	w.Helper()
	plane := labtest.ControlPlane(w.T, lab.ControlPlaneOptions{})
	w.Expect(lab.InstallCRDs(w.Context(), plane.Config())).To(Succeed())
	var err error
	w.hub, err = program.New(program.Options{
		Program: needs.Shipped(w.T, "ironflow"), Kubeconfig: plane.Kubeconfig, Dir: filepath.Join(w.dir, "hub"), UserToken: userToken, Address: gateway.Addr().String(),
		Args: []string{"--namespace", "default", "--metrics-insecure", "--hub-kubernetes", "--hub-cluster-image", w.site.ClusterImage()},
	})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.hub.Start(w.Context())).To(Succeed())
	w.Cleanup(func() {
		w.Expect(w.hub.Stop()).To(Succeed())
		if w.Failed() {
			w.Log(w.hub.Log + ":\n" + w.hub.Tail())
		}
	})
}

// connectHosts makes their network, a bridge of this computer.
func (w *world) connectHosts() {
	w.Helper()
	w.bridge = &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "ifk8s"}}
	if old, err := netlink.LinkByName("ifk8s"); err == nil { // of a test that was killed
		w.Expect(netlink.LinkDel(old)).To(Succeed())
	}
	w.Expect(netlink.LinkAdd(w.bridge)).To(Succeed())
	w.Cleanup(func() { w.Expect(netlink.LinkDel(w.bridge)).To(Succeed()) })
	own, err := netlink.ParseAddr(gateway.String())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(netlink.AddrAdd(w.bridge, own)).To(Succeed())
	w.Expect(netlink.LinkSetUp(w.bridge)).To(Succeed())
}

// plug gives a machine its card, with the address of that number, as DHCP would.
func (w *world) plug(m *systemdtest.Machine, n, at int) error {
	ns, err := vns.GetFromPath(m.Network())
	if err != nil {
		return err
	}
	defer func() { _ = ns.Close() }() // it was only looked through
	port := fmt.Sprintf("ifk8s-%d", n)
	hardware, err := net.ParseMAC(mac(n))
	if err != nil {
		return err
	}
	if old, err := netlink.LinkByName(port); err == nil { // the network of a machine that was killed goes later
		_ = netlink.LinkDel(old) // it may have gone meanwhile
	}
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: port}, PeerName: "eno1", PeerHardwareAddr: hardware, PeerNamespace: netlink.NsFd(ns)}); err != nil {
		return fmt.Errorf("this kernel's veth: %w", err)
	}
	end, err := netlink.LinkByName(port)
	if err != nil {
		return err
	}
	if err := netlink.LinkSetMaster(end, w.bridge); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(end); err != nil {
		return err
	}
	inside, err := netlink.NewHandleAt(ns)
	if err != nil {
		return err
	}
	defer inside.Close()
	return configure(inside, address(at)+"/24")
}

// configure sets up loopback, and the card with its address and the way out.
func configure(h *netlink.Handle, address string) error {
	for _, name := range []string{"lo", "eno1"} {
		link, err := h.LinkByName(name)
		if err != nil {
			return err
		}
		if err := h.LinkSetUp(link); err != nil {
			return err
		}
		if name == "lo" {
			continue
		}
		a, err := netlink.ParseAddr(address)
		if err != nil {
			return err
		}
		if err := h.AddrAdd(link, a); err != nil {
			return err
		}
	}
	return h.RouteAdd(&netlink.Route{Gw: gateway.Addr().AsSlice()})
}

// story is how far all is, for a test that fails.
func (w *world) story(cluster string) string {
	var b strings.Builder
	if raw, err := w.user.Call(w.Context(), http.MethodGet, "/clusters/"+cluster, nil); err == nil {
		fmt.Fprintf(&b, "cluster: %s\n", raw)
	}
	if raw, err := w.user.Call(w.Context(), http.MethodGet, "/events?cluster_id="+cluster, nil); err == nil {
		fmt.Fprintf(&b, "events: %s\n", raw)
	}
	for _, h := range w.hosts {
		b.WriteString(h.story())
	}
	return b.String()
}
