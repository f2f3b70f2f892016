package agents

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// lose takes the hub's store away: all that is left is in Kubernetes, where the
// host had that status.
func (w *world) lose(status string, single bool) {
	w.t.Helper()
	agent := w.agent()
	agent.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
	w.Expect(w.kube.Update(w.t.Context(), agent)).To(Succeed())
	agent.Status.DebugInfo.State = status
	w.Expect(w.kube.Status().Update(w.t.Context(), agent)).To(Succeed())
	w.hub = testhub.Start(w.t, testhub.Options{})
	w.r = newReconciler(w.kube, w.hub)
	_, err := w.hub.EnsureInfraEnv(w.t.Context(), service.InfraEnvSpec{ID: w.host.InfraEnvID, Name: "edge", SingleHost: single})
	w.Expect(err).NotTo(HaveOccurred())
}

// TestAHostComesBackFromItsAgent after the hub has lost its store, and not in a
// status in which it would be installed without a person's word.
func TestAHostComesBackFromItsAgent(t *testing.T) {
	for was, tc := range map[string]struct{ now, cluster, says string }{
		wire.HostStatusInstalled:                   {wire.HostStatusInstalled, wire.ClusterStatusInstalled, "store was lost since"},
		wire.HostStatusError:                       {wire.HostStatusError, wire.ClusterStatusError, "reset the cluster to install the host again"},
		wire.HostStatusCancelled:                   {wire.HostStatusCancelled, wire.ClusterStatusCancelled, "reset the cluster to install the host again"},
		wire.HostStatusInstalling:                  {wire.HostStatusError, wire.ClusterStatusError, "nobody knows how it ended"},
		wire.HostStatusInstallingInProgress:        {wire.HostStatusError, wire.ClusterStatusError, "nobody knows how it ended"},
		wire.HostStatusInstallingPendingUserAction: {wire.HostStatusError, wire.ClusterStatusError, "nobody knows how it ended"},
	} {
		t.Run(was, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{SingleHost: true})
			w.register(testhub.Inventory(1))
			w.change(func(a *agentv1.Agent) {
				a.Spec.Hostname, a.Spec.Role, a.Spec.NodeLabels = "edge-1", "master", map[string]string{"zone": "a"}
				a.Spec.InstallerArgs, a.Spec.Approved = `["--append-karg","quiet"]`, true
			})
			w.pass()
			before := w.agent()
			w.lose(was, true)
			w.pass()

			view, record := w.view()
			w.Expect(record.Status).To(Equal(tc.now))
			w.Expect(record.StatusInfo).To(ContainSubstring(tc.says))
			w.Expect(view.Approved).To(BeTrue())
			w.Expect(record).To(And(HaveField("RequestedHostname", "edge-1"), HaveField("Role", wire.HostRoleMaster), HaveField("NodeLabels", `{"zone":"a"}`),
				HaveField("InstallerArgs", `["--append-karg","quiet"]`), HaveField("InstallationDiskID", testhub.Inventory(1).Disks[0].ID)))
			cluster, err := w.hub.Cluster(t.Context(), view.ClusterID, false)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(cluster.Status).To(Equal(tc.cluster))

			after := w.agent()
			w.Expect(after.Status.DebugInfo.State).To(Equal(tc.now))
			w.Expect(after.Status.Inventory).To(Equal(before.Status.Inventory), "what was known of the hardware is known again")
			w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))
			w.Expect(w.condition(agentv1.ConditionInstalled).Message).To(ContainSubstring(tc.says))
			w.Expect(w.hub.Timeline(t)).To(ContainSubstring("the record was made anew"))
		})
	}
}

// TestAHostThatWasNotBegunComesBackByItself: its agent runs, and its disk is as it was.
func TestAHostThatWasNotBegunComesBackByItself(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.pass()
	w.lose(wire.HostStatusKnownUnbound, false)
	w.Expect(w.pass().RequeueAfter).To(BeZero(), "its registration wakes it")
	w.Expect(w.condition(agentv1.ConditionConnected).Reason).To(Equal(agentv1.ReasonNotAvailable))
}

// TestAHostThatWasRemovedStaysRemoved: the hub's records are older than its Agent, so they are whole.
func TestAHostThatWasRemovedStaysRemoved(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{SingleHost: true})
	w.register(testhub.Inventory(1))
	agent := w.agent()
	agent.Status.DebugInfo.State = wire.HostStatusInstalled
	agent.CreationTimestamp = metav1.Now()
	w.Expect(w.kube.Update(t.Context(), agent)).To(Succeed())
	w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
	w.pass()
	_, _, err := w.hub.View(t.Context(), w.host)
	w.Expect(service.IsNotFound(err)).To(BeTrue())
}

// TestAHostWaitsForItsCluster: resources come back in any order.
func TestAHostWaitsForItsCluster(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	})
	w.lose(wire.HostStatusInstalled, false)
	w.Expect(w.pass().RequeueAfter).To(Equal(lookAgain))
	w.Expect(w.condition(agentv1.ConditionConnected).Reason).To(Equal(agentv1.ReasonNotAvailable))
	_, err := w.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: hubid.Cluster(w.cd), Name: "prod", Masters: 1, Was: wire.ClusterStatusInstalled})
	w.Expect(err).NotTo(HaveOccurred())
	w.pass()
	view, record := w.view()
	w.Expect(record.Status).To(Equal(wire.HostStatusInstalled))
	w.Expect(view.ClusterID).To(Equal(hubid.Cluster(w.cd)))
	w.Expect(w.condition(agentv1.ConditionBound).Reason).To(Equal(agentv1.ReasonBound))
}

// TestTheInventoryGoesThereAndBack: nothing that the Agent shows is lost on the way to the hub.
func TestTheInventoryGoesThereAndBack(t *testing.T) {
	g := NewWithT(t)
	in := testhub.Inventory(1)
	in.GPUs = []wire.Gpu{{Address: "0000:00:02.0", DeviceID: "1", Name: "g", Vendor: "v", VendorID: "2"}}
	in.Disks[0].IoPerf = &wire.IoPerf{SyncDuration: 7}
	raw, err := json.Marshal(in)
	g.Expect(err).NotTo(HaveOccurred())
	shown := inventory(string(raw))
	back := reported(&shown)
	g.Expect(inventory(text(back))).To(Equal(shown))
}
