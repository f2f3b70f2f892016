//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/settings"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/needs"
)

// version is that of the releases of the clusters.
const version = "4.20.1"

// inside is the shipped program that runs in a cluster, here beside it.
type inside struct {
	w       *world
	command *exec.Cmd
	said    *output
	ended   chan int
	// stays tells that it goes on after the installation.
	stays bool
}

// output is what a program says, which is read while it goes on.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(raw []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(raw)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startInside starts it for the cluster, as its workload says. It tells the hub of nodes and of the end, and nobody else does.
func (w *world) startInside(id string) *inside {
	w.Helper()
	config := filepath.Join(w.dir, "inside.kubeconfig")
	raw, err := w.inner.Kubeconfig()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(os.WriteFile(config, raw, 0o600)).To(Succeed())
	env := w.insideEnvironment(id)
	i := &inside{w: w, said: &output{}, ended: make(chan int, 1), stays: env["IRONFLOW_CLUSTER_STAY"] == "true"}
	args := []string{"run", "--hub-url", w.user.URL, "--ca-file", w.hub.CA, "--kubeconfig", config, "--listen", "0"} // a balancer's, or that of a hub that has moved
	i.command = exec.Command(needs.Shipped(w.T, "ironflow-cluster"), args...)
	i.command.Env = os.Environ()
	for name, value := range env {
		i.command.Env = append(i.command.Env, name+"="+value)
	}
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
	i := w.startInside(id)
	for _, h := range w.hosts(p) {
		w.kubelet(h)
	}
	w.until(p, wire.HostStatusInstalled)
	w.untilOver(p, id)
	i.over()
}

// over waits until the program has done its work: it stays for hosts that join later, or ends well.
func (i *inside) over() {
	i.w.Helper()
	if i.stays {
		i.says("the installation is over")
		i.w.Expect(i.ended).NotTo(Receive(), i.said.String())
		return
	}
	select {
	case status := <-i.ended:
		i.ended = nil
		i.w.Expect(status).To(Equal(0), i.said.String())
	case <-time.After(patience):
		i.w.Fatal("the program inside goes on: " + i.said.String())
	}
}

// says waits until the program has said that.
func (i *inside) says(text string) {
	i.w.Helper()
	i.w.Eventually(i.said.String, patience, look).Should(ContainSubstring(text))
}

// insideEnvironment is what the hub has put into the cluster: it is in the manifests of the
// bootstrap host's Ignition, which that host fetches before it reboots. Nobody but a person
// brings the program into a cluster without a release.
func (w *world) insideEnvironment(id string) map[string]string {
	w.Helper()
	if w.cluster(id).OpenshiftVersion == "" {
		token := strings.TrimSpace(w.ironflow("hub", "cluster-token", id, "--data-dir", w.hub.Data))
		return map[string]string{"CLUSTER_ID": id, settings.TokenEnv: token}
	}
	if w.workloads[id] != nil {
		return w.workloads[id]
	}
	// The bootstrap host's own token opens it as a user's does; what all hosts of the pool share does not.
	var bootstrap json.RawMessage
	w.do(http.MethodGet, "/clusters/"+id+"/downloads/files?file_name=bootstrap.ign", nil, &bootstrap)
	manifests, err := incluster.Manifests(bootstrap)
	w.Expect(err).NotTo(HaveOccurred())
	w.workloads[id], err = incluster.Environment(manifests)
	w.Expect(err).NotTo(HaveOccurred())
	return w.workloads[id]
}

// kubelet plays that of an installed host: requests, a node, and a node that is Ready once
// the requests are approved.
func (w *world) kubelet(h wire.Host) {
	w.Helper()
	w.joins(h)
	w.getsReady(h)
}

// joins plays the first half of that: a node that is not Ready.
func (w *world) joins(h wire.Host) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	w.Expect(w.kubeletOf(h).Joins(ctx)).To(Succeed())
}

// getsReady plays the second half.
func (w *world) getsReady(h wire.Host) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	w.Expect(w.kubeletOf(h).GetsReady(ctx)).To(Succeed())
}

func (w *world) kubeletOf(h wire.Host) incluster.Kubelet {
	w.Helper()
	name, address := w.identity(h)
	return incluster.Kubelet{Cluster: w.inner, Name: name, Address: address, Round: w.wiped}
}

// request names a kubelet's signing request. A cluster that is installed anew has others.
func (w *world) request(kind string, h wire.Host) string { return w.kubeletOf(h).Request(kind) }

// wipe ends the installed cluster of the hosts: the next one begins with nothing.
func (w *world) wipe(p *pool) {
	w.Helper()
	for _, h := range w.hosts(p) {
		name, _ := w.identity(h)
		if err := w.inner.Admin.Delete(w.Context(), observe.Nodes+"/"+name); kube.Code(err) != http.StatusNotFound {
			w.Expect(err).NotTo(HaveOccurred())
		}
	}
	w.wiped++
	clear(w.workloads)
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

// joinLater has a host that was added to the cluster come up. The program inside has stayed for such hosts.
func (w *world) joinLater(p *pool, host wire.Host) {
	w.Helper()
	w.kubelet(host)
	w.until(p, wire.HostStatusAddedToExistingCluster)
}
