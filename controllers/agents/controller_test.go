package agents

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// world is a reconciler and its feed between a fake API server and a real hub,
// with one InfraEnv and one ClusterDeployment.
type world struct {
	*WithT
	t     *testing.T
	kube  client.Client
	hub   *testhub.Hub
	r     *reconciler
	feed  *feed
	woken chan event.GenericEvent
	env   *agentv1.InfraEnv
	cd    *hivev1.ClusterDeployment
	host  store.HostKey
}

func newWorld(t *testing.T, spec service.InfraEnvSpec, change ...func(*agentv1.InfraEnv)) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	w := &world{WithT: g, t: t, hub: testhub.Start(t, testhub.Options{}), woken: make(chan event.GenericEvent, 1)}
	w.env = &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "edge", UID: types.UID(uuid.NewString())}}
	for _, c := range change {
		c(w.env)
	}
	w.cd = &hivev1.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod", UID: types.UID(uuid.NewString())}}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithObjects(w.env, w.cd).WithStatusSubresource(&agentv1.Agent{}).
		WithIndex(&agentv1.Agent{}, clusterIndex, clusterOf).WithIndex(&agentv1.Agent{}, tokenIndex, tokenOf).
		WithIndex(&agentv1.Agent{}, nameIndex, nameOf).Build()
	w.r = newReconciler(w.kube, w.hub)
	w.feed = &feed{hub: w.hub, client: w.kube, live: w.kube, out: w.woken}
	spec.ID, spec.Name = hubid.InfraEnv(w.env), w.env.Name
	_, err := w.hub.EnsureInfraEnv(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	w.host = store.HostKey{InfraEnvID: spec.ID, HostID: uuid.NewString()}
	return w
}

// register lets the host's agent register and report its inventory over REST,
// and the feed make the Agent.
func (w *world) register(inventory wire.Inventory) *testhub.Caller {
	w.t.Helper()
	token, err := w.hub.AgentToken(w.t.Context(), w.host.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	agent := w.hub.Agent(token)
	agent.Register(w.t, w.host)
	for _, step := range agent.Poll(w.t, w.host).Instructions {
		agent.Answer(w.t, w.host, step, inventory)
	}
	w.feed.host(w.t.Context(), w.host)
	w.Expect((<-w.woken).Object.GetName()).To(Equal(w.host.HostID), "the Agent of the host is woken")
	return agent
}

func (w *world) agent() *agentv1.Agent {
	w.t.Helper()
	agent := &agentv1.Agent{}
	w.Expect(w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: "site", Name: w.host.HostID}, agent)).To(Succeed())
	return agent
}

// pass reconciles once.
func (w *world) pass() ctrl.Result {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "site", Name: w.host.HostID}})
	w.Expect(err).NotTo(HaveOccurred())
	return result
}

func (w *world) change(change func(*agentv1.Agent)) {
	w.t.Helper()
	agent := w.agent()
	change(agent)
	w.Expect(w.kube.Update(w.t.Context(), agent)).To(Succeed())
}

func (w *world) view() (service.HostView, wire.Host) {
	w.t.Helper()
	view, record, err := w.hub.View(w.t.Context(), w.host)
	w.Expect(err).NotTo(HaveOccurred())
	return view, record
}

func (w *world) condition(kind string) agentv1.Condition {
	w.t.Helper()
	if c := agentv1.FindCondition(w.agent().Status.Conditions, kind); c != nil {
		return *c
	}
	return agentv1.Condition{}
}

func (w *world) ensureCluster() {
	w.t.Helper()
	_, err := w.hub.EnsureCluster(w.t.Context(), service.ClusterSpec{ID: hubid.Cluster(w.cd), Name: "prod", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
}

func TestAnAgentIsMadeWhenAHostRegisters(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{}, func(e *agentv1.InfraEnv) {
		e.Spec.AgentLabels = map[string]string{"rack": "7", names.InfraEnvLabel: "somewhere-else"}
	})
	w.register(testhub.Inventory(1))
	agent := w.agent()
	w.Expect(agent.Labels).To(And(HaveKeyWithValue("rack", "7"), HaveKeyWithValue(names.InfraEnvLabel, "edge")))
	w.Expect(agent.OwnerReferences).To(HaveLen(1))
	w.Expect(agent.Finalizers).To(ConsistOf(names.AgentFinalizer))
	w.Expect(agent.Spec.Approved).To(BeFalse())

	w.pass()
	agent = w.agent()
	w.Expect(agent.Status.Inventory.Interfaces[0].MacAddress).To(Equal(testhub.Inventory(1).Interfaces[0].MACAddress))
	w.Expect(agent.Status.DebugInfo.State).To(Equal(wire.HostStatusKnownUnbound))
	w.Expect(w.condition(agentv1.ConditionBound).Reason).To(Equal(agentv1.ReasonUnbound))
	w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))

	before := agent.ResourceVersion
	w.pass()
	w.Expect(w.agent().ResourceVersion).To(Equal(before), "an unchanged record writes nothing")
}

func TestHostsOfTheRESTAPIGetNoAgent(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.feed.host(t.Context(), store.HostKey{InfraEnvID: uuid.NewString(), HostID: w.host.HostID})
	var list agentv1.AgentList
	w.Expect(w.kube.List(t.Context(), &list)).To(Succeed())
	w.Expect(list.Items).To(BeEmpty())
}

func TestTheSpecIsHandedOver(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{SingleHost: true})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) {
		a.Spec.Hostname, a.Spec.Role = "edge-1", "master"
		a.Spec.InstallationDiskID = "/dev/sda" // another name of the inventory's disk
		a.Spec.NodeLabels = map[string]string{"zone": "a"}
		a.Spec.InstallerArgs = `["--append-karg","quiet"]`
		a.Spec.IgnitionConfigOverrides = `{"ignition":{"version":"3.2.0"}}`
	})
	w.pass()
	view, record := w.view()
	w.Expect(view.Approved).To(BeFalse())
	w.Expect(record).To(And(
		HaveField("RequestedHostname", "edge-1"), HaveField("Role", wire.HostRoleMaster),
		HaveField("InstallationDiskID", testhub.Inventory(1).Disks[0].ID), HaveField("NodeLabels", `{"zone":"a"}`),
		HaveField("InstallerArgs", `["--append-karg","quiet"]`), HaveField("IgnitionConfigOverrides", `{"ignition":{"version":"3.2.0"}}`)))

	w.change(func(a *agentv1.Agent) {
		a.Spec.NodeLabels, a.Spec.InstallerArgs, a.Spec.IgnitionConfigOverrides = nil, "", ""
		a.Spec.Approved = true
	})
	w.pass()
	view, record = w.view()
	w.Expect(view.Approved).To(BeTrue())
	w.Expect(textMap(record.NodeLabels)).To(BeEmpty(), "what is removed from the spec goes from the record")
	w.Expect(record.InstallerArgs).To(BeEmpty())
	w.Expect(record.IgnitionConfigOverrides).To(BeEmpty())
	w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK))
	w.Expect(w.agent().Status.DebugInfo.State).To(Equal(record.Status), "the status is of after the calls")
}

func TestSpecSyncedSaysWhyNot(t *testing.T) {
	for name, tc := range map[string]struct {
		change  func(*agentv1.Agent)
		message string
	}{
		"a name that is none": {func(a *agentv1.Agent) { a.Spec.Hostname = "Not a name" }, `Agent spec.hostname "Not a name": want`},
		"a cluster that does not exist": {func(a *agentv1.Agent) {
			a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "typo"}
		}, "ClusterDeployment site/typo does not exist: create it"},
		"a cluster that the hub does not know": {func(a *agentv1.Agent) {
			a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
		}, "there is no cluster"},
		"arguments that are no list": {func(a *agentv1.Agent) { a.Spec.InstallerArgs = "--quiet" }, "spec.installerArgs is not a JSON list"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, service.InfraEnvSpec{})
			w.register(testhub.Inventory(1))
			w.change(tc.change)
			w.Expect(w.pass().RequeueAfter).To(Equal(lookAgain))
			w.Expect(w.condition(agentv1.ConditionSpecSynced)).To(And(
				HaveField("Status", BeEquivalentTo("False")), HaveField("Reason", agentv1.ReasonInputError), HaveField("Message", ContainSubstring(tc.message))))
			w.Expect(w.agent().Status.Inventory.Hostname).To(Equal("node-1"), "the rest of the status is shown all the same")
			before := w.agent().ResourceVersion
			w.pass()
			w.Expect(w.agent().ResourceVersion).To(Equal(before), "the same refusal again is not written again")
		})
	}
}

func TestBinding(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	})
	w.pass()
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "install"}}
	aci.Spec.ClusterDeploymentRef.Name = "prod"
	us := ConsistOf(HaveField("Name", w.host.HostID))
	w.Expect(w.r.agentsOfInstall(t.Context(), aci)).To(us, "the cluster's registration wakes who waits for it")
	w.Expect(w.r.agentsOfDeployment(t.Context(), w.cd)).To(us)
	w.ensureCluster()
	w.pass()
	view, _ := w.view()
	w.Expect(view.ClusterID).To(Equal(hubid.Cluster(w.cd)))
	w.Expect(w.condition(agentv1.ConditionBound).Reason).To(Equal(agentv1.ReasonBinding))

	w.register(testhub.Inventory(1))
	w.pass()
	w.Expect(w.condition(agentv1.ConditionBound).Reason).To(Equal(agentv1.ReasonBound))
	w.Expect(w.r.agentsOfInstall(t.Context(), aci)).To(BeEmpty(), "who is bound is not woken by the cluster's progress")

	w.change(func(a *agentv1.Agent) { a.Spec.ClusterDeploymentName = nil })
	w.pass()
	view, _ = w.view()
	w.Expect(view.ClusterID).To(BeEmpty())
	w.Expect(w.condition(agentv1.ConditionBound).Reason).To(Equal(agentv1.ReasonUnbinding))
}

func TestAHostThatIsNotCheckedYetIsNotBound(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.ensureCluster()
	_, err := w.hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: w.host.InfraEnvID, HostID: w.host.HostID})
	w.Expect(err).NotTo(HaveOccurred())
	w.feed.host(t.Context(), w.host)
	w.change(func(a *agentv1.Agent) {
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "prod"}
	})
	w.pass()
	w.Expect(w.condition(agentv1.ConditionSpecSynced).Reason).To(Equal(agentv1.ReasonSyncOK), "to wait for the inventory is no fault of the spec")
	view, _ := w.view()
	w.Expect(view.ClusterID).To(BeEmpty())
}

func TestAHostStaysInItsOwnCluster(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{SingleHost: true})
	w.register(testhub.Inventory(1))
	w.pass()
	view, _ := w.view()
	w.Expect(view.ClusterID).NotTo(BeEmpty())
	w.Expect(w.condition(agentv1.ConditionBound).Reason).To(Equal(agentv1.ReasonBound))
}

func TestDeletionForgetsTheHost(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.Expect(w.kube.Delete(t.Context(), w.agent())).To(Succeed())
	w.pass()
	_, _, err := w.hub.View(t.Context(), w.host)
	w.Expect(service.IsNotFound(err)).To(BeTrue())
	w.Expect(w.kube.Get(t.Context(), types.NamespacedName{Namespace: "site", Name: w.host.HostID}, &agentv1.Agent{})).NotTo(Succeed())
}

func TestAnAgentWithoutARecordSaysSo(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.pass()
	w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
	w.Expect(w.pass().RequeueAfter).To(BeZero(), "its registration wakes it")
	w.Expect(w.condition(agentv1.ConditionConnected)).To(And(
		HaveField("Status", BeEquivalentTo("Unknown")), HaveField("Reason", agentv1.ReasonNotAvailable), HaveField("Message", ContainSubstring("boot it into its live image"))))
	w.register(testhub.Inventory(1))
	w.pass()
	w.Expect(w.condition(agentv1.ConditionConnected).Reason).To(Equal(agentv1.ReasonAgentIsConnected))
}

func TestAnAgentWithoutItsInfraEnvSaysSo(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	w.register(testhub.Inventory(1))
	w.change(func(a *agentv1.Agent) { a.Labels[names.InfraEnvLabel] = "typo" })
	w.pass()
	w.Expect(w.condition(agentv1.ConditionSpecSynced).Message).To(ContainSubstring(`InfraEnv "typo", which does not exist`))
}

func TestTheFeedWakesTheAgentOfEachChange(t *testing.T) {
	w := newWorld(t, service.InfraEnvSpec{})
	done := make(chan error, 1)
	ctx := t.Context()
	go func() { done <- w.feed.Start(ctx) }()
	t.Cleanup(func() { w.Expect(<-done).To(Succeed()) })
	_, err := w.hub.RegisterHost(ctx, service.Registration{InfraEnvID: w.host.InfraEnvID, HostID: w.host.HostID})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect((<-w.woken).Object.GetName()).To(Equal(w.host.HostID))
	w.Expect(w.agent().Labels).To(HaveKeyWithValue(names.InfraEnvLabel, "edge"))
}
