//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/incluster"
)

// version is that of the releases of the clusters.
const version = "4.20.1"

// inside is the shipped program that runs in a cluster, here beside it.
type inside struct {
	w       *world
	command *exec.Cmd
	said    *bytes.Buffer
	ended   chan int
}

// startInside starts it for the cluster. It tells the hub of nodes and of the end, and nobody else does.
func (w *world) startInside(p *pool, id string, flags ...string) *inside {
	w.Helper()
	config := filepath.Join(w.dir, "inside.kubeconfig")
	raw, err := installed.Kubeconfig()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(os.WriteFile(config, raw, 0o600)).To(Succeed())
	i := &inside{w: w, said: &bytes.Buffer{}, ended: make(chan int, 1)}
	args := []string{"run", "--hub-url", w.url, "--cluster-id", id, "--ca-file", w.hub.CA, "--kubeconfig", config, "--listen", "0"}
	i.command = exec.Command(shipped(w.T, "ironflow-cluster"), append(args, flags...)...)
	i.command.Env = append(os.Environ(), "PULL_SECRET_TOKEN="+p.token)
	i.command.Stdout, i.command.Stderr = i.said, i.said
	i.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	w.Expect(i.command.Start()).To(Succeed())
	go func() {
		_ = i.command.Wait() // the status says it
		i.ended <- i.command.ProcessState.ExitCode()
	}()
	w.Cleanup(i.kill)
	return i
}

// kill ends it wherever it is.
func (i *inside) kill() {
	if i.ended == nil {
		return
	}
	_ = i.command.Process.Kill()
	<-i.ended
	i.ended = nil
	if i.w.Failed() {
		text := i.said.String()
		i.w.Log("inside the cluster:\n" + text[max(0, len(text)-5000):])
	}
}

// finish has a cluster come up after its hosts have rebooted: its kubelets ask for
// certificates, their nodes join, its operators become available. The program inside
// approves, reports and says the end.
func (w *world) finish(p *pool, id string) {
	w.Helper()
	i := w.startInside(p, id)
	for _, h := range w.hosts(p) {
		w.kubelet(h)
	}
	w.until(p, wire.HostStatusInstalled)
	w.untilCluster(p, id, wire.ClusterStatusInstalled)
	select {
	case status := <-i.ended:
		i.ended = nil
		w.Expect(status).To(Equal(0), i.said.String())
	case <-time.After(patience):
		w.Fatal("the program inside goes on: " + i.said.String())
	}
}

// kubelet plays that of an installed host: requests, a node, and a node that is Ready once
// the requests are approved.
func (w *world) kubelet(h wire.Host) {
	w.Helper()
	name, address := w.identity(h)
	token, node := w.as("system:bootstrap:abcdef", "system:bootstrappers"), w.as("system:node:"+name, "system:nodes")
	w.Expect(incluster.Ask(w.Context(), token, "client-"+name, name, csr.Client, nil)).To(Succeed())
	w.approved("client-" + name)
	w.Expect(installed.Node(w.Context(), name, address, false)).To(Succeed())
	w.Expect(incluster.Ask(w.Context(), node, "serving-"+name, name, csr.Serving, []string{name}, address)).To(Succeed())
	w.approved("serving-" + name)
	w.Expect(installed.Node(w.Context(), name, address, true)).To(Succeed())
}

func (w *world) approved(request string) {
	w.Helper()
	w.Eventually(func() (int, error) { return installed.Approvals(w.Context(), request) }, patience, look).Should(Equal(1), request)
}

// as is somebody's access to the installed cluster.
func (w *world) as(user string, groups ...string) *kube.Client {
	w.Helper()
	client, err := installed.As(user, groups...)
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(client.Close)
	return client
}

// identity is the name and the address that the installed system has, as its inventory had them.
func (w *world) identity(h wire.Host) (name, address string) {
	w.Helper()
	var inventory wire.Inventory
	w.Expect(json.Unmarshal([]byte(h.Inventory), &inventory)).To(Succeed())
	prefix, err := netip.ParsePrefix(inventory.Interfaces[0].Ipv4Addresses[0])
	w.Expect(err).NotTo(HaveOccurred())
	return cmp.Or(h.RequestedHostname, inventory.Hostname), prefix.Addr().String()
}

// joinLater has a host that was added to the cluster come up. The program inside stays for such hosts.
func (w *world) joinLater(p *pool, id string, host wire.Host) {
	w.Helper()
	w.startInside(p, id, "--stay")
	w.kubelet(host)
	w.until(p, wire.HostStatusAddedToExistingCluster)
}
