package cluster

import (
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

var key = types.NamespacedName{Namespace: "site", Name: "install"}

// world is a reconciler between a fake API server and a real hub.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	hub  *testhub.Hub
	r    *reconciler
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	return newWorldOf(t, testhub.Options{}, objects...)
}

func newWorldOf(t *testing.T, o testhub.Options, objects ...client.Object) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&hiveextv1.AgentClusterInstall{}).
		WithIndex(&agentv1.Agent{}, memberIndex, membersIndexed).Build()
	hub := testhub.Start(t, o)
	return &world{WithT: g, t: t, kube: kube, hub: hub, r: newReconciler(kube, hub)}
}

func deployment(change ...func(*hivev1.ClusterDeployment)) *hivev1.ClusterDeployment {
	cd := &hivev1.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "prod", UID: types.UID(uuid.NewString())}}
	cd.Spec.ClusterName, cd.Spec.BaseDomain = "prod", "lab.example"
	for _, c := range change {
		c(cd)
	}
	return cd
}

func install(change ...func(*hiveextv1.AgentClusterInstall)) *hiveextv1.AgentClusterInstall {
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(uuid.NewString())}}
	aci.Spec.ClusterDeploymentRef.Name = "prod"
	aci.Spec.ProvisionRequirements.ControlPlaneAgents = 1
	for _, c := range change {
		c(aci)
	}
	return aci
}

// pass reconciles once and returns what is left of the object.
func (w *world) pass() *hiveextv1.AgentClusterInstall {
	w.t.Helper()
	_, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	w.Expect(err).NotTo(HaveOccurred())
	aci := &hiveextv1.AgentClusterInstall{}
	if w.kube.Get(w.t.Context(), key, aci) != nil {
		return nil
	}
	return aci
}

func condition(aci *hiveextv1.AgentClusterInstall, kind string) hiveextv1.Condition {
	if c := hiveextv1.FindCondition(aci.Status.Conditions, kind); c != nil {
		return *c
	}
	return hiveextv1.Condition{}
}

// installing registers a host in the cluster and takes it as far as the order to install.
func (w *world) installing(cd *hivev1.ClusterDeployment) (*testhub.Caller, store.HostKey) {
	w.t.Helper()
	agent, host := w.registered(cd, true)
	agent.UntilInstall(w.t, host, testhub.Inventory(1))
	return agent, host
}

// registered has a host register in the cluster, which is approved or is not.
func (w *world) registered(cd *hivev1.ClusterDeployment, approved bool) (*testhub.Caller, store.HostKey) {
	w.t.Helper()
	env := service.InfraEnvSpec{ID: uuid.NewString(), Name: "edge", ClusterID: hubid.Cluster(cd), AutoApprove: approved}
	_, err := w.hub.EnsureInfraEnv(w.t.Context(), env)
	w.Expect(err).NotTo(HaveOccurred())
	token, err := w.hub.AgentToken(w.t.Context(), env.ID)
	w.Expect(err).NotTo(HaveOccurred())
	agent, host := w.hub.Agent(token), store.HostKey{InfraEnvID: env.ID, HostID: uuid.NewString()}
	agent.Register(w.t, host)
	return agent, host
}

func TestRecordFollowsTheResources(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.SSHPublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
		a.Spec.Networking.MachineNetwork = []hiveextv1.MachineNetworkEntry{{CIDR: "192.0.2.0/24"}}
	}))
	aci := w.pass()
	record, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record).To(And(
		HaveField("Name", "prod"), HaveField("BaseDNSDomain", "lab.example"), HaveField("SSHPublicKey", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"),
		HaveField("ControlPlaneCount", BeEquivalentTo(1)), HaveField("MachineNetworks", HaveLen(1))))
	w.Expect(aci.Finalizers).To(ConsistOf(Finalizer))
	w.Expect(owner(aci)).To(Equal(cd.UID))
	w.Expect(aci.Status.DebugInfo.State).To(Equal(wire.ClusterStatusInsufficient))
	w.Expect(condition(aci, "SpecSynced").Reason).To(Equal("SyncOK"))
	w.Expect(condition(aci, "Completed").Reason).To(Equal("InstallationNotStarted"))
	w.Expect(w.pass().ResourceVersion).To(Equal(aci.ResourceVersion), "a pass without news writes nothing")
}

func TestSpecSyncedSaysWhatIsMissing(t *testing.T) {
	withSecret := deployment(func(cd *hivev1.ClusterDeployment) { cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"} })
	for name, tc := range map[string]struct {
		objects []client.Object
		message string
	}{
		"no ClusterDeployment": {[]client.Object{install()}, "ClusterDeployment prod to be created"},
		"no pull secret":       {[]client.Object{install(), withSecret}, "pull secret site/pull"},
		"no ClusterImageSet": {[]client.Object{deployment(), install(func(a *hiveextv1.AgentClusterInstall) {
			a.Spec.ImageSetRef = &hiveextv1.ClusterImageSetReference{Name: "v4"}
		})}, "ClusterImageSet v4 to be created"},
		"no control plane": {[]client.Object{deployment(), install(func(a *hiveextv1.AgentClusterInstall) {
			a.Spec.ProvisionRequirements.ControlPlaneAgents = 0
		})}, "needs at least one control-plane host"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tc.objects...)
			aci := w.pass()
			w.Expect(condition(aci, "SpecSynced")).To(And(
				HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message", ContainSubstring(tc.message))))
			w.Expect(w.hub.Clusters(t.Context(), store.ClusterFilter{})).To(BeEmpty())
		})
	}
}

func TestAHubThatDoesNotAnswerIsTriedAgain(t *testing.T) {
	w := newWorld(t, deployment(), install())
	w.hub.Stop()
	w.Expect(condition(w.pass(), "SpecSynced").Reason).To(Equal("BackendError"))
}

func TestProgressIsShown(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install())
	w.pass()
	agent, host := w.installing(cd)
	agent.Progress(t, host, wire.HostStageWritingImageToDisk, "45%")
	aci := w.pass()
	w.Expect(condition(aci, "Completed").Reason).To(Equal("InstallationInProgress"))
	w.Expect(condition(aci, "RequirementsMet").Reason).To(Equal("ClusterAlreadyInstalling"))
	w.Expect(aci.Status.Progress.TotalPercentage).To(BeNumerically(">", 0))

	w.Expect(w.hub.CompleteHost(t.Context(), host)).To(Succeed())
	aci = w.pass()
	w.Expect(condition(aci, "Completed")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "HostsInstalled")), "there is no cluster to log in to")
	w.Expect(condition(aci, "Stopped")).To(And(HaveField("Status", corev1.ConditionTrue), HaveField("Reason", "InstallationCompleted")))
	w.Expect(condition(aci, "Failed").Status).To(Equal(corev1.ConditionFalse))
}

func TestAFailedClusterBeginsAnewWithoutItsHosts(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install())
	w.pass()
	agent, host := w.installing(cd)
	agent.Progress(t, host, wire.HostStageFailed, "no space left")
	aci := w.pass()
	w.Expect(condition(aci, "Failed").Status).To(Equal(corev1.ConditionTrue))
	w.Expect(aci.Status.DebugInfo.State).To(Equal(wire.ClusterStatusError), "as long as the host is there, its failure is shown")

	w.Expect(w.hub.DeleteHost(t.Context(), host)).To(Succeed())
	aci = w.pass()
	w.Expect(aci.Status.DebugInfo.State).To(Equal(wire.ClusterStatusInsufficient))
	w.Expect(condition(aci, "Failed").Status).To(Equal(corev1.ConditionFalse))
}

// TestAHostThatWaitsToBeBoundIsOfNoAttempt: a machine that was deprovisioned and has registered anew
// waits for the very cluster whose record is to be reset.
func TestAHostThatWaitsToBeBoundIsOfNoAttempt(t *testing.T) {
	now := metav1.Now()
	for name, tc := range map[string]struct {
		change func(*agentv1.Agent)
		want   string
	}{
		"its installation has failed": {func(a *agentv1.Agent) { a.Status.DebugInfo.State = wire.HostStatusError }, wire.ClusterStatusError},
		"it was cancelled":            {func(a *agentv1.Agent) { a.Status.DebugInfo.State = wire.HostStatusCancelled }, wire.ClusterStatusError},
		"it is of another cluster": {func(a *agentv1.Agent) {
			a.Status.DebugInfo.State, a.Spec.ClusterDeploymentName.Name = wire.HostStatusError, "other"
		}, wire.ClusterStatusInsufficient},
		"it has registered":             {func(*agentv1.Agent) {}, wire.ClusterStatusInsufficient},
		"its inventory is not known":    {func(a *agentv1.Agent) { a.Status.DebugInfo.State = wire.HostStatusDiscoveringUnbound }, wire.ClusterStatusInsufficient},
		"it waits to be bound":          {func(a *agentv1.Agent) { a.Status.DebugInfo.State = wire.HostStatusKnownUnbound }, wire.ClusterStatusInsufficient},
		"its Agent is about to be gone": {func(a *agentv1.Agent) { a.Status.DebugInfo.State, a.DeletionTimestamp = wire.HostStatusError, &now }, wire.ClusterStatusInsufficient},
	} {
		t.Run(name, func(t *testing.T) {
			cd := deployment()
			aci := install()
			aci.Status.DebugInfo.State = wire.ClusterStatusError
			host := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: uuid.NewString(), Finalizers: []string{"example.com/kept"}}}
			host.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: cd.Namespace, Name: cd.Name}
			tc.change(host)
			w := newWorld(t, cd, aci, host)
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(tc.want))
		})
	}
}

// TestAnAgentThatLeavesWakesItsCluster, and nothing else that happens to it does.
func TestAnAgentThatLeavesWakesItsCluster(t *testing.T) {
	g := NewWithT(t)
	cd := deployment()
	w := newWorld(t, cd, install())
	agent := func(state string) *agentv1.Agent {
		a := &agentv1.Agent{}
		a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: cd.Namespace, Name: cd.Name}
		a.Status.DebugInfo.State = state
		return a
	}
	now := metav1.Now()
	going := agent(wire.HostStatusError)
	going.DeletionTimestamp = &now
	update := func(before, after *agentv1.Agent) bool {
		return leaving.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	g.Expect(update(agent(wire.HostStatusError), going)).To(BeTrue())
	g.Expect(update(agent(wire.HostStatusError), agent(wire.HostStatusDiscoveringUnbound))).To(BeTrue(), "it was unbound")
	g.Expect(update(agent(wire.HostStatusInstalling), agent(wire.HostStatusInstallingInProgress))).To(BeFalse())
	g.Expect(leaving.Create(event.CreateEvent{Object: agent("")})).To(BeFalse())
	g.Expect(leaving.Delete(event.DeleteEvent{Object: going})).To(BeTrue())
	g.Expect(w.r.installsOfAgent(t.Context(), going)).To(HaveExactElements(HaveField("NamespacedName", key)))
	g.Expect(w.r.installsOfAgent(t.Context(), &agentv1.Agent{})).To(BeEmpty(), "it belongs to no cluster")
}

// TestAClusterComesBackFromItsResource after the hub has lost its store, and is
// not installed again without a person's word.
func TestAClusterComesBackFromItsResource(t *testing.T) {
	for was, tc := range map[string]struct{ now, says string }{
		wire.ClusterStatusReady:                       {wire.ClusterStatusInsufficient, ""},
		wire.ClusterStatusPreparingForInstallation:    {wire.ClusterStatusInsufficient, ""},
		wire.ClusterStatusInstalling:                  {wire.ClusterStatusError, "nobody knows how it ended; reset the cluster"},
		wire.ClusterStatusInstallingPendingUserAction: {wire.ClusterStatusError, "nobody knows how it ended; reset the cluster"},
		wire.ClusterStatusFinalizing:                  {wire.ClusterStatusError, "nobody knows how it ended; reset the cluster"},
		wire.ClusterStatusInstalled:                   {wire.ClusterStatusAddingHosts, "takes more hosts"},
		wire.ClusterStatusAddingHosts:                 {wire.ClusterStatusAddingHosts, "store was lost since"},
		wire.ClusterStatusError:                       {wire.ClusterStatusError, "reset the cluster to install it again"},
		wire.ClusterStatusCancelled:                   {wire.ClusterStatusCancelled, "reset the cluster to install it again"},
	} {
		t.Run(was, func(t *testing.T) {
			cd := deployment()
			host := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: uuid.NewString()}}
			host.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: cd.Namespace, Name: cd.Name}
			host.Status.DebugInfo.State = wire.HostStatusInstallingInProgress
			aci := install()
			aci.Status.DebugInfo.State = was
			w := newWorld(t, cd, aci, host)
			for range 2 { // the second time there is a record
				w.Expect(w.pass().Status.DebugInfo).To(And(HaveField("State", tc.now), HaveField("StateInfo", ContainSubstring(tc.says))))
			}
		})
	}
}

func TestDeletion(t *testing.T) {
	for name, before := range map[string]func(w *world, cd *hivev1.ClusterDeployment){
		"a cluster at rest": func(*world, *hivev1.ClusterDeployment) {},
		"an installation that runs is called off": func(w *world, cd *hivev1.ClusterDeployment) {
			w.installing(cd)
		},
		"the ClusterDeployment went first": func(w *world, cd *hivev1.ClusterDeployment) {
			w.Expect(w.kube.Delete(w.t.Context(), cd)).To(Succeed())
		},
		"the record went first": func(w *world, cd *hivev1.ClusterDeployment) {
			w.Expect(w.hub.DeleteCluster(w.t.Context(), hubid.Cluster(cd))).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			cd := deployment()
			w := newWorld(t, cd, install())
			aci := w.pass()
			before(w, cd)
			w.Expect(w.kube.Delete(t.Context(), aci)).To(Succeed())
			w.Expect(w.pass()).To(BeNil())
			w.Expect(w.hub.Clusters(t.Context(), store.ClusterFilter{})).To(BeEmpty())
		})
	}
}

// TestAClusterThatIsPreservedKeepsItsHosts: its resources go, in either order. Hosts that leave their cluster are given back, and
// their machines wiped: these stay, as spec.preserveOnDelete says, and go when that is taken back before.
func TestAClusterThatIsPreservedKeepsItsHosts(t *testing.T) {
	for name, c := range map[string]struct{ first, regretted bool }{
		"the ClusterDeployment goes first":         {first: true},
		"its installation goes alone":              {},
		"it was to be preserved, and is not after": {first: true, regretted: true},
	} {
		t.Run(name, func(t *testing.T) {
			cd := deployment(func(cd *hivev1.ClusterDeployment) { cd.Spec.PreserveOnDelete = true })
			w := newWorld(t, cd, install())
			aci := w.pass()
			_, host := w.installing(cd)
			if c.regretted {
				cd.Spec.PreserveOnDelete = false
				w.Expect(w.kube.Update(t.Context(), cd)).To(Succeed())
				aci = w.pass()
			}
			if c.first {
				w.Expect(w.kube.Delete(t.Context(), cd)).To(Succeed())
			}
			w.Expect(w.kube.Delete(t.Context(), aci)).To(Succeed())
			w.Expect(w.pass()).To(BeNil())
			if c.regretted {
				w.Expect(w.hub.Clusters(t.Context(), store.ClusterFilter{})).To(BeEmpty())
				return
			}
			view, _, err := w.hub.View(t.Context(), host)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(view).To(And(HaveField("ClusterID", hubid.Cluster(cd)), HaveField("Installing", true)))
		})
	}
}

func TestAResourceThatWasNeverRegisteredGoesAtOnce(t *testing.T) {
	w := newWorld(t, install())
	w.Expect(w.kube.Delete(t.Context(), w.pass())).To(Succeed())
	w.Expect(w.pass()).To(BeNil())
}

func TestAnyInstallOfTheClusterIsWoken(t *testing.T) {
	cd := deployment() // without spec.clusterInstallRef
	w := newWorld(t, cd, install())
	out := make(chan event.GenericEvent, 1)
	feed{hub: w.hub, reconciler: w.r, out: out}.wake(t.Context(), hubid.Cluster(cd))
	w.Expect((<-out).Object.GetName()).To(Equal("install"))
}

func TestEveryStatusHasItsRow(t *testing.T) {
	g := NewWithT(t)
	for _, status := range clustermachine.Machine.States {
		g.Expect(rows).To(HaveKey(status))
	}
	var status hiveextv1.AgentClusterInstallStatus
	project(&status, &wire.Cluster{Status: wire.ClusterStatusReady}, known{hold: true}, metav1.Now())
	g.Expect(hiveextv1.FindCondition(status.Conditions, "Completed").Reason).To(Equal("InstallationOnHold"))
	project(&status, &wire.Cluster{Status: "levitating"}, known{}, metav1.Now())
	g.Expect(hiveextv1.FindCondition(status.Conditions, "Completed").Reason).To(Equal("UnknownStatus"))
}
