package work_test

import (
	"net/netip"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/played"
)

// hostsMap is where what is known without the hub lies.
const hostsMap = "/api/v1/namespaces/" + manifests.Namespace + "/configmaps/" + kept.Name

// leaves is a program whose hub ends with a host.
func leaves(r *work.Runner) { r.HubLeaves, r.Gone = true, 300*time.Millisecond }

// hubEnds has the hub end with its host, master-0, whose kubelet comes after that, and the
// program die once more.
func (w *world) hubEnds() {
	w.Expect(w.Admin.MergePatch(w.t.Context(), hostsMap, object{"data": nil})).To(Succeed())
	hosts := threeHosts()
	hosts[0].Progress.CurrentStage = wire.HostStageWritingImageToDisk
	hub := played.Start(w.t, hosts)
	p := w.start(hub, leaves, nil)
	token := w.as("system:bootstrap:abcdef", "system:bootstrappers")
	w.ask("client-worker-0-ends", token, "worker-0", csr.Client, nil)
	w.Eventually(func() int { return w.approvals("client-worker-0-ends") }, long, 50*time.Millisecond).Should(Equal(1))
	w.node("worker-0", "192.0.2.2", true)
	w.Eventually(hub.Effects, long).Should(ContainElement("host worker-0 Done"))

	hub.End()
	w.ask("stranger-ends", token, "stranger", csr.Client, nil)
	w.ask("client-master-0-ends", token, "master-0", csr.Client, nil)
	w.Eventually(func() int { return w.approvals("client-master-0-ends") }, long, 50*time.Millisecond).Should(Equal(1), "the host of the hub has left its live system")
	w.node("master-0", "192.0.2.1", false)
	p.kill() // its pod is started elsewhere
	p = w.start(hub, leaves, nil)
	w.ask("serving-master-0-ends", w.as("system:node:master-0", "system:nodes"), "master-0", csr.Serving, []string{"master-0"}, "192.0.2.1")
	w.Eventually(func() int { return w.approvals("serving-master-0-ends") }, long, 50*time.Millisecond).Should(Equal(1))
	w.Consistently(p.Done, 300*time.Millisecond).ShouldNot(Receive(), "a node is not Ready")
	w.node("master-0", "192.0.2.1", true)
	w.Eventually(p.Done, long).Should(Receive(Equal(work.Outcome("installed"))))
	w.Expect(w.approvals("stranger-ends")).To(BeZero())
	w.hasLabels("master-0", "node-role.kubernetes.io/control-plane")
	w.hasLabels("worker-0", "site", "node-role.kubernetes.io/worker")
}

// noHubEver begins when the hub has ended: a host that installs itself alone.
func (w *world) noHubEver() {
	given, err := kept.Of(facts.Cluster{Name: "edge", SchedulableMasters: true}, []facts.Host{
		{ID: "a", Name: "zero", Role: wire.HostRoleMaster, Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.7")}, Labels: map[string]string{"site": "edge"}},
	}).Text()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.Admin.MergePatch(w.t.Context(), hostsMap, object{"data": object{kept.Given: given, kept.Heard: nil}})).To(Succeed())
	hub := played.Start(w.t, nil)
	hub.End()
	p := w.start(hub, func(r *work.Runner) { leaves(r); r.Stay, r.StartWithin = true, time.Second }, nil)
	w.node("zero", "192.0.2.7", true)
	w.ask("serving-zero", w.as("system:node:zero", "system:nodes"), "zero", csr.Serving, []string{"zero"}, "192.0.2.7")
	w.Eventually(func() int { return w.approvals("serving-zero") }, long, 50*time.Millisecond).Should(Equal(1))
	w.Eventually(p.Staying, long).Should(BeTrue())
	w.hasLabels("zero", "site", "node-role.kubernetes.io/control-plane")
	w.ask("serving-zero-again", w.as("system:node:zero", "system:nodes"), "zero", csr.Serving, []string{"zero"}, "192.0.2.7")
	w.Eventually(func() int { return w.approvals("serving-zero-again") }, long, 50*time.Millisecond).Should(Equal(1), "who stays renews certificates")
	w.Expect(p.Done).NotTo(Receive())
}

func (w *world) hasLabels(node string, labels ...string) {
	w.t.Helper()
	var have struct {
		Metadata struct{ Labels map[string]string }
	}
	w.Expect(w.Admin.Get(w.t.Context(), observe.Nodes+"/"+node, &have)).To(Succeed())
	for _, l := range labels {
		w.Expect(have.Metadata.Labels).To(HaveKey(l), node)
	}
}
