package work_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/played"
)

const long = time.Minute

// threeHosts are one of each role behind their restart.
func threeHosts() []wire.Host {
	master := played.Host(1, "master-0", wire.HostRoleMaster, wire.HostStageRebooting, "192.0.2.1")
	worker := played.Host(2, "worker-0", wire.HostRoleWorker, wire.HostStageRebooting, "192.0.2.2")
	worker.NodeLabels = `{"site":"north"}`
	return []wire.Host{master, worker}
}

// kubelets makes what two kubelets make: requests, nodes, and pods of the system.
func (w *world) kubelets(suffix string) {
	token := w.as("system:bootstrap:abcdef", "system:bootstrappers")
	for node, address := range map[string]string{"master-0": "192.0.2.1", "worker-0": "192.0.2.2"} {
		w.ask("client-"+node+suffix, token, node, csr.Client, nil)
		w.node(node, address, false)
		w.ask("serving-"+node+suffix, w.as("system:node:"+node, "system:nodes"), node, csr.Serving, []string{node}, address)
	}
}

func (w *world) clean() {
	for _, path := range []string{observe.Requests, observe.Nodes, observe.Pods} {
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		w.Expect(w.Admin.Get(w.t.Context(), path, &list)).To(Succeed())
		for _, o := range list.Items {
			w.Expect(w.Admin.Delete(w.t.Context(), path+"/"+o.Metadata.Name+"?gracePeriodSeconds=0")).To(Succeed())
		}
	}
}

// TestInsideAPlainCluster goes on a real kube-apiserver, with the rights of the manifests.
func TestInsideAPlainCluster(t *testing.T) {
	w := newWorld(t)
	t.Run("from the restart to the end", func(t *testing.T) { w.with(t).toTheEnd() })
	t.Run("it dies after each write", func(t *testing.T) { w.with(t).deaths() })
	t.Run("what is left alone is said once", func(t *testing.T) { w.with(t).leftAlone() })
	t.Run("the hub is away", func(t *testing.T) { w.with(t).hubAway() })
	t.Run("the hub ends with its host", func(t *testing.T) { w.with(t).hubEnds() })
	t.Run("the hub has ended before", func(t *testing.T) { w.with(t).noHubEver() })
	t.Run("ends", func(t *testing.T) { w.with(t).ends() })
	t.Run("labels that are refused", func(t *testing.T) { w.with(t).refusedLabels() })
	t.Run("at rest", func(t *testing.T) { w.with(t).atRest() })
	t.Run("rights", func(t *testing.T) { w.with(t).rights() })
}

func (w *world) with(t *testing.T) *world {
	o := &world{WithT: NewWithT(t), t: t, Cluster: w.Cluster}
	o.clean()
	return o
}

// want are the changes of the hub's records on the way of two hosts, in any order of hosts.
var want = []string{
	"host master-0 Joined", "host worker-0 Joined", "host master-0 Done", "host worker-0 Done", "finalizing",
	"stage Waiting for cluster operators", "stage Done", "installed",
}

func (w *world) toTheEnd() {
	hub := played.Start(w.t, threeHosts())
	p := w.start(hub, nil, nil)
	w.kubelets("")
	for _, name := range []string{"client-master-0", "serving-master-0", "client-worker-0", "serving-worker-0"} {
		w.Eventually(func() int { return w.approvals(name) }, long, 50*time.Millisecond).Should(Equal(1), name)
	}
	master, worker := threeHosts()[0].ID, threeHosts()[1].ID
	w.Eventually(hub.Signed, long).Should(ConsistOf(
		"host_signing_request_approved "+master+" client client-master-0", "host_signing_request_approved "+master+" serving serving-master-0",
		"host_signing_request_approved "+worker+" client client-worker-0", "host_signing_request_approved "+worker+" serving serving-worker-0"), "each is told once")
	w.Eventually(hub.Effects, long).Should(ConsistOf("host master-0 Joined", "host worker-0 Joined"))
	w.Consistently(hub.Effects, 500*time.Millisecond).Should(HaveLen(2), "nodes that are not Ready are not Done")
	w.node("master-0", "192.0.2.1", true)
	w.node("worker-0", "192.0.2.2", true)
	w.pod("dns", false)
	w.Eventually(hub.Effects, long).Should(ContainElement("stage Waiting for cluster operators"))
	w.Consistently(hub.Effects, 500*time.Millisecond).ShouldNot(ContainElement("stage Done"), "a pod of the system is not ready")
	w.pod("dns", true)
	w.Eventually(p.Done, long).Should(Receive(Equal(work.Outcome("installed"))))
	w.Expect(hub.Effects()).To(ConsistOf(want))

	var node struct {
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			Taints []struct{ Key, Effect string }
		}
	}
	w.Expect(w.Admin.Get(w.t.Context(), observe.Nodes+"/worker-0", &node)).To(Succeed())
	w.Expect(node.Metadata.Labels).To(And(HaveKeyWithValue("site", "north"), HaveKey("node-role.kubernetes.io/worker")))
	w.Expect(w.Admin.Get(w.t.Context(), observe.Nodes+"/master-0", &node)).To(Succeed())
	w.Expect(node.Metadata.Labels).To(HaveKey("node-role.kubernetes.io/control-plane"))
	w.Expect(node.Spec.Taints).To(ContainElement(HaveField("Key", "node-role.kubernetes.io/control-plane")))
	files := archive(w, hub.Logs())
	w.Expect(files).To(And(HaveKey("logs_cluster/ironflow-cluster.log"), HaveKey("logs_cluster/nodes.json")))
	w.Expect(string(files["logs_cluster/ironflow-cluster.log"])).To(ContainSubstring("host reported"))
	for name, content := range files {
		w.Expect(string(content)).NotTo(ContainSubstring("secret\""), name)
	}
}

// archive reads the files of an upload.
func archive(w *world, form []byte) map[string][]byte {
	_, body, found := bytes.Cut(form, []byte("\r\n\r\n"))
	w.Expect(found).To(BeTrue(), "logs have come")
	zipped, err := gzip.NewReader(bytes.NewReader(body))
	w.Expect(err).NotTo(HaveOccurred())
	zipped.Multistream(false)
	out := map[string][]byte{}
	for r := tar.NewReader(zipped); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		w.Expect(err).NotTo(HaveOccurred())
		out[header.Name], err = io.ReadAll(r)
		w.Expect(err).NotTo(HaveOccurred())
	}
}

// deaths has the program end after the first write of its life, again and again, later
// after the second one and so on, until it comes to the end.
func (w *world) deaths() {
	hub := played.Start(w.t, threeHosts())
	w.kubelets("")
	w.node("master-0", "192.0.2.1", true)
	w.node("worker-0", "192.0.2.2", true)
	w.pod("dns", true)
	lives := 0
	var outcome work.Outcome
	for outcome != "installed" {
		lives++
		w.Expect(lives).To(BeNumerically("<", 60), "it comes to the end: %v", hub.Effects())
		var stop atomic.Pointer[context.CancelFunc]
		var writes atomic.Int64
		last := int64(1 + lives/8)
		die := func() {
			if f := stop.Load(); f != nil && writes.Add(1) >= last {
				(*f)()
			}
		}
		hub.After(die)
		ready := make(chan struct{})
		p := w.start(hub, func(r *work.Runner) {
			// Not one write before the test can kill it.
			now := r.Now
			r.Now = func() time.Time { <-ready; return now() }
		}, die)
		stop.Store(&p.stop)
		close(ready)
		w.Eventually(p.Done, long).Should(Receive(&outcome))
		p.kill()
	}
	w.t.Logf("%d lives", lives)
	w.Expect(lives).To(BeNumerically(">=", 8))
	w.Expect(hub.Effects()).To(ConsistOf(want), "nothing twice, nothing left out")
	for _, name := range []string{"client-master-0", "serving-master-0", "client-worker-0", "serving-worker-0"} {
		w.Expect(w.approvals(name)).To(BeNumerically("<=", 1), name)
	}
	w.Expect(w.approvals("serving-master-0")).To(Equal(1))
}

func (w *world) events() []string {
	var list struct {
		Items []struct{ Reason, Message string }
	}
	w.Expect(w.Admin.Get(w.t.Context(), "/api/v1/namespaces/default/events", &list)).To(Succeed())
	var out []string
	for _, e := range list.Items {
		out = append(out, e.Reason+": "+e.Message)
	}
	slices.Sort(out)
	return out
}

func (w *world) leftAlone() {
	hub := played.Start(w.t, threeHosts())
	token := w.as("system:bootstrap:abcdef", "system:bootstrappers")
	w.ask("stranger", token, "stranger", csr.Client, nil)
	w.node("worker-0", "192.0.2.2", false)
	w.ask("foreign-address", w.as("system:node:worker-0", "system:nodes"), "worker-0", csr.Serving, []string{"worker-0"}, "192.0.2.2", "192.0.2.1")
	before := len(w.events())
	p := w.start(hub, nil, nil)
	w.Eventually(func() int { return len(w.events()) - before }, long, 50*time.Millisecond).Should(Equal(2))
	p.kill()
	again := w.start(hub, nil, nil)
	w.Eventually(func() string { return string(again.Ring.Lines()) }, long).Should(ContainSubstring("left alone"))
	w.Eventually(func() int { return hub.Calls() }, long).Should(BeNumerically(">", 20))
	w.Expect(w.events()).To(HaveLen(before+2), "who starts again does not say it again")
	w.Expect(w.events()).To(ContainElements(
		ContainSubstring(`LeftAloneUnknownHost: not approved: the hub has no host "stranger"`),
		ContainSubstring("LeftAloneWrongAddresses: not approved: it asks for 192.0.2.1, and host worker-0 has 192.0.2.2"),
	))
	w.Expect(w.approvals("stranger") + w.approvals("foreign-address")).To(BeZero())
}

func (w *world) hubAway() {
	hub := played.Start(w.t, threeHosts())
	p := w.start(hub, nil, nil)
	w.Eventually(hub.Calls, long).Should(BeNumerically(">", 2))
	hub.Answer(http.StatusServiceUnavailable)
	w.kubelets("-away")
	calls := hub.Calls()
	w.Eventually(hub.Calls, long).Should(BeNumerically(">", calls+3), "it goes on asking")
	w.Expect(w.approvals("client-master-0-away")).To(BeZero(), "nothing is approved by what the hub said once")
	w.Expect(hub.Effects()).To(BeEmpty())
	hub.Answer(0)
	w.Eventually(func() int { return w.approvals("client-master-0-away") }, long, 50*time.Millisecond).Should(Equal(1))
	w.Eventually(hub.Effects, long).Should(HaveLen(2))
	w.Expect(p.Done).NotTo(Receive())
}

func (w *world) ends() {
	for name, tc := range map[string]struct {
		change  func(*played.Hub)
		within  time.Duration
		outcome work.Outcome
	}{
		"cancelled": {func(h *played.Hub) {
			h.Do(func(c *wire.Cluster, _ []wire.Host) { c.Status = wire.ClusterStatusCancelled })
		}, time.Minute, "cancelled"},
		"failed":   {func(h *played.Hub) { h.Do(func(c *wire.Cluster, _ []wire.Host) { c.Status = wire.ClusterStatusError }) }, time.Minute, "error"},
		"refused":  {func(h *played.Hub) { h.Answer(http.StatusUnauthorized) }, time.Minute, work.Refused},
		"unknown":  {func(h *played.Hub) { h.Answer(http.StatusNotFound) }, time.Minute, work.Unknown},
		"never up": {func(h *played.Hub) { h.Answer(http.StatusServiceUnavailable) }, time.Millisecond, work.Unreachable},
	} {
		hub := played.Start(w.t, threeHosts())
		tc.change(hub)
		p := w.start(hub, func(r *work.Runner) { r.StartWithin = tc.within }, nil)
		w.Eventually(p.Done, long).Should(Receive(Equal(tc.outcome)), name)
		if tc.outcome == "error" {
			w.Expect(hub.Logs()).NotTo(BeEmpty(), "an installation that failed leaves its logs")
		}
	}
}

func (w *world) refusedLabels() {
	hosts := threeHosts()[1:]
	hosts[0].NodeLabels = `{"not a label!":"x"}`
	hub := played.Start(w.t, hosts)
	w.node("worker-0", "192.0.2.2", true)
	w.start(hub, nil, nil)
	w.Eventually(hub.Effects, long).Should(ContainElement("host worker-0 Done"), "a wrong label does not keep a host from its end")
	w.Expect(w.events()).To(ContainElement(ContainSubstring("LabelsRefused")))
}

// atRest counts what goes out after the end: nothing to Kubernetes but the looks for kinds that are not there.
func (w *world) atRest() {
	hub := played.Start(w.t, threeHosts())
	hub.Do(func(c *wire.Cluster, hosts []wire.Host) {
		c.Status = wire.ClusterStatusInstalled
		c.ControllerLogsCollectedAt = wire.At(time.Now())
		for i := range hosts {
			hosts[i].Status, hosts[i].Progress.CurrentStage = wire.HostStatusInstalled, wire.HostStageDone
		}
	})
	p := w.start(hub, func(r *work.Runner) { r.Stay, r.Rest = true, time.Hour }, nil)
	w.Eventually(p.Staying, long).Should(BeTrue())
	w.Eventually(hub.Calls, long).Should(Equal(hub.Calls()))
	calls := hub.Calls()
	w.Consistently(hub.Calls, 2*time.Second).Should(BeNumerically("<=", calls+2), "the hub is not asked")
	w.Expect(p.writes.Load()).To(BeZero(), "nothing is written")
	// A renewal wakes it at once, although its hour has not passed.
	w.node("worker-0", "192.0.2.2", true)
	w.ask("renewed", w.as("system:node:worker-0", "system:nodes"), "worker-0", csr.Serving, []string{"worker-0"}, "192.0.2.2")
	w.Eventually(func() int { return w.approvals("renewed") }, long, 50*time.Millisecond).Should(Equal(1))
	w.Expect(strings.Count(string(p.Ring.Lines()), "later days")).To(Equal(1))
}
