package link_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// world is a reconciler between a fake API server and a real hub.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	hub  *testhub.Hub
	r    *link.Reconciler
}

var key = types.NamespacedName{Namespace: "site", Name: "node-0"}

func newWorld(t *testing.T, objects ...client.Object) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(metal3v1.AddToScheme(scheme)).To(Succeed())
	g.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
	g.Expect(corev1.AddToScheme(scheme)).To(Succeed())
	g.Expect(hivev1.AddToScheme(scheme)).To(Succeed())
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&metal3v1.BareMetalHost{}, &agentv1.Agent{}).
		WithIndex(&agentv1.Agent{}, link.MACIndex, link.AgentMACs).
		WithIndex(&metal3v1.BareMetalHost{}, link.BootMACIndex, link.BootMAC).Build()
	hub := testhub.Start(t, testhub.Options{})
	return &world{WithT: g, t: t, kube: kube, hub: hub, r: &link.Reconciler{Client: kube, Hub: hub}}
}

// machine is the inventory of the machine under the host.
var machine = testhub.Inventory(1)

// machineID is its id in the hub.
const machineID = "11111111-2222-3333-4444-555555555555"

func withMAC(h *metal3v1.BareMetalHost) { h.Spec.BootMACAddress = "02:00:00:00:00:01" }

// registered returns an Agent with the machine's addresses in capitals.
func registered(name string, at time.Time, change ...func(*agentv1.Agent)) *agentv1.Agent {
	a := agent(change...)
	a.Namespace, a.Name, a.CreationTimestamp = key.Namespace, name, metav1.NewTime(at)
	metav1.SetMetaDataLabel(&a.ObjectMeta, names.InfraEnvLabel, "edge")
	a.Status.Inventory.Interfaces = []agentv1.HostInterface{{Name: "eno1", MacAddress: "02:00:00:00:00:01"}, {Name: "eno2", MacAddress: "02:00:00:00:AA:01"}}
	return a
}

// pass reconciles once and returns the host.
func (w *world) pass() *metal3v1.BareMetalHost {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	w.Expect(err).NotTo(HaveOccurred())
	if result != (ctrl.Result{}) { // only a deadline is waited for without being woken
		w.Expect(w.host().Annotations).To(HaveKey(names.GivingBack))
	}
	h := &metal3v1.BareMetalHost{}
	if w.kube.Get(w.t.Context(), key, h) != nil {
		return nil
	}
	return h
}

func (w *world) host() *metal3v1.BareMetalHost {
	w.t.Helper()
	h := &metal3v1.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	return h
}

// linkedSays is the condition of the host that this controller writes.
func (w *world) linkedSays() metav1.Condition {
	w.t.Helper()
	c := meta.FindStatusCondition(w.host().Status.Conditions, link.ConditionLinked)
	w.Expect(c).NotTo(BeNil())
	return *c
}

func (w *world) agent(name string) *agentv1.Agent {
	a := &agentv1.Agent{}
	if w.kube.Get(w.t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: name}, a) != nil {
		return nil
	}
	return a
}

// infraEnv makes an InfraEnv with its record in the hub, and returns the agents' token.
func (w *world) infraEnv(name string) (id, token string) {
	w.t.Helper()
	id, token = w.hub.InfraEnv(w.t, name)
	env := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, UID: types.UID(id)}}
	w.Expect(client.IgnoreAlreadyExists(w.kube.Create(w.t.Context(), env))).To(Succeed())
	return id, token
}

// installing lets a machine register in the infra-env of that name and begin its
// installation; it says that it has the addresses of [machine].
func (w *world) installing(name, id string) (agent *testhub.Caller, host store.HostKey) {
	w.t.Helper()
	env, token := w.infraEnv(name)
	agent, host = w.hub.Agent(token), store.HostKey{InfraEnvID: env, HostID: id}
	agent.Register(w.t, host)
	agent.UntilInstall(w.t, host, machine)
	return agent, host
}

func (w *world) view(host store.HostKey) service.HostView {
	w.t.Helper()
	view, _, err := w.hub.View(w.t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	return view
}

func TestTheStepIsAskedForOnceTheImageIsReady(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateAvailable, withMAC, func(h *metal3v1.BareMetalHost) { h.Finalizers = nil }))
	h := w.pass()
	w.Expect(h.Finalizers).To(ConsistOf(names.BMACFinalizer))
	w.Expect(h.Spec.CustomDeploy).To(BeNil())

	ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
	ready.Namespace, ready.Name = key.Namespace, key.Name
	w.Expect(w.kube.Create(t.Context(), ready)).To(Succeed())
	h = w.pass()
	w.Expect(h.Spec.CustomDeploy.Method).To(Equal(names.StartAssistedInstall))
	w.Expect(w.pass().ResourceVersion).To(Equal(h.ResourceVersion), "a pass without news writes nothing")
}

func TestTheAgentOfTheMachineIsDressed(t *testing.T) {
	now := time.Now()
	otherEnv, elsewhere := registered("other", now.Add(time.Hour)), registered("elsewhere", now.Add(time.Hour))
	otherEnv.Labels[names.InfraEnvLabel] = "pool"
	elsewhere.Namespace = "other-site"
	w := newWorld(t, host(metal3v1.StateProvisioning, asked, withMAC, annotated(names.BMACRole, "master"), func(h *metal3v1.BareMetalHost) {
		h.Spec.BootMACAddress = "02:00:00:00:aa:01"
	}), registered("ours", now), otherEnv, elsewhere)
	w.pass()
	ours := w.agent("ours")
	w.Expect(ours.Spec).To(And(HaveField("Approved", true), HaveField("Role", "master")))
	w.Expect(ours.Labels).To(And(HaveKeyWithValue(names.AgentHostLabel, key.Name), HaveKeyWithValue(names.InfraEnvLabel, "edge")))
	w.Expect(w.agent("other").Spec.Approved).To(BeFalse(), "it registered in another infra-env")
	version := ours.ResourceVersion
	w.pass()
	w.Expect(w.agent("ours").ResourceVersion).To(Equal(version), "a pass without news writes nothing")
	w.Expect(link.HostsOfAgent(w.r, t.Context(), ours)).To(ContainElement(ctrl.Request{NamespacedName: key}))
}

// TestAnAddressThatAnotherMachineClaims: what a machine says about itself is no
// proof. One of another infra-env changes nothing; two of the same one are doubt.
func TestAnAddressThatAnotherMachineClaims(t *testing.T) {
	const mine, others = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
	done := func(a *agentv1.Agent) {
		inHub(wire.HostStatusInstallingInProgress)(a)
		a.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: string(wire.HostStageRebooting)}
	}
	ends := map[string]struct {
		host *metal3v1.BareMetalHost
		told func(service.HostView) bool // what the hub is told of the host's own machine
	}{
		"it runs from its disk": {
			host(metal3v1.StateProvisioned, asked, withMAC, annotated(names.BMACManage, "")), func(v service.HostView) bool { return v.Installed },
		},
		"the deployment failed": {
			host(metal3v1.StateProvisioning, asked, withMAC, provisioningError("the machine vanished")), func(v service.HostView) bool { return v.Failed },
		},
	}
	for name, end := range ends {
		for _, env := range []string{"pool", "edge"} {
			t.Run(name+", claimed in "+env, func(t *testing.T) {
				now := time.Now()
				claim := registered(others, now.Add(time.Minute), done)
				claim.Labels[names.InfraEnvLabel] = env
				w := newWorld(t, end.host.DeepCopy(), registered(mine, now, done), claim)
				var events said
				w.r.Recorder = reconcile.Recorder{Sink: &events}
				agent, own := w.installing("edge", mine)
				agent.Progress(t, own, wire.HostStageRebooting, "")
				agent, other := w.installing(env, others)
				agent.Progress(t, other, wire.HostStageRebooting, "")
				w.pass()
				w.Expect(w.view(other).Installing).To(BeTrue(), "the other machine is not this host")
				w.Expect(w.agent(others).Spec.Approved).To(BeFalse())
				w.Expect(end.told(w.view(own))).To(Equal(env == "pool"), "of two in one infra-env, nobody knows which it is")
				if env == "edge" {
					w.Expect(w.agent(mine).Spec.Approved).To(BeFalse())
					w.Expect(events).To(ConsistOf(And(HavePrefix("AgentInDoubt: "), ContainSubstring(mine), ContainSubstring(others), ContainSubstring("Next: "))))
				}
			})
		}
	}
	t.Run("the host is given back", func(t *testing.T) {
		claim := registered(others, time.Now())
		claim.Labels[names.InfraEnvLabel] = "pool"
		w := newWorld(t, host(metal3v1.StateDeprovisioning, asked, withMAC), registered(mine, time.Now()), claim)
		w.pass()
		w.Expect(w.agent(mine)).To(BeNil())
		w.Expect(w.agent(others)).NotTo(BeNil())
	})
}

// TestAHostThatMovesToAnotherInfraEnv: the Agent that was linked to it is still its
// machine until the machine registers anew, and goes with its installation.
func TestAHostThatMovesToAnotherInfraEnv(t *testing.T) {
	moved := func(h *metal3v1.BareMetalHost) { h.Labels[names.InfraEnvLabel] = "pool" }
	for name, c := range map[string]struct {
		host    *metal3v1.BareMetalHost
		address string
		stays   bool
	}{
		"being installed":                 {host(metal3v1.StateProvisioning, asked, withMAC, moved), "02:00:00:00:00:01", true},
		"deprovisioned":                   {host(metal3v1.StateDeprovisioning, asked, withMAC, moved), "02:00:00:00:00:01", false},
		"deleted":                         {host(metal3v1.StateProvisioned, asked, withMAC, moved, deleting), "02:00:00:00:00:01", false},
		"another machine had that name":   {host(metal3v1.StateDeprovisioning, asked, withMAC, moved), "02:00:00:00:00:99", true},
		"deleted, it was another machine": {host(metal3v1.StateProvisioned, asked, withMAC, moved, deleting), "02:00:00:00:00:99", true},
	} {
		t.Run(name, func(t *testing.T) {
			linked := registered("linked", time.Now())
			linked.Labels[names.AgentHostLabel] = key.Name
			linked.Status.Inventory.Interfaces = []agentv1.HostInterface{{Name: "eno1", MacAddress: c.address}}
			stranger := registered("stranger", time.Now())
			w := newWorld(t, c.host, linked, stranger)
			w.pass()
			w.Expect(w.agent("linked") != nil).To(Equal(c.stays))
			w.Expect(w.agent("stranger")).NotTo(BeNil(), "it says that it is the machine, in an infra-env that is not the host's")
			w.Expect(w.agent("stranger").Spec.Approved).To(BeFalse())
		})
	}
	t.Run("installed after all", func(t *testing.T) {
		linked := registered(machineID, time.Now(), inHub(wire.HostStatusInstallingInProgress))
		linked.Labels[names.AgentHostLabel] = key.Name
		linked.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: string(wire.HostStageRebooting)}
		w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC, moved, annotated(names.BMACManage, "")), linked)
		agent, own := w.installing("edge", machineID)
		agent.Progress(t, own, wire.HostStageRebooting, "")
		w.pass()
		w.Expect(w.view(own).Installed).To(BeTrue())
	})
}

func TestAnAgentWithoutAnInventoryIsFoundByItsLabel(t *testing.T) {
	again := registered("again", time.Now(), func(a *agentv1.Agent) {})
	again.Status.Inventory.Interfaces = nil
	again.Labels[names.AgentHostLabel] = key.Name
	w := newWorld(t, host(metal3v1.StateDeprovisioning, asked, withMAC), again)
	w.pass()
	w.Expect(w.agent("again")).To(BeNil(), "what was installed is being wiped")
}

func TestAHostThatIsGivenBackLosesItsAgent(t *testing.T) {
	for name, h := range map[string]*metal3v1.BareMetalHost{
		"deprovisioned": host(metal3v1.StateDeprovisioning, asked, withMAC),
	} {
		t.Run(name, func(t *testing.T) {
			a := registered("agent", time.Now())
			a.Labels[names.AgentHostLabel] = key.Name
			w := newWorld(t, h, a)
			w.pass()
			w.Expect(w.agent("agent")).To(BeNil())
		})
	}
	t.Run("deleted", func(t *testing.T) {
		w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC), registered("agent", time.Now(), inHub(wire.HostStatusInstalled)))
		h := w.pass()
		delete(h.Annotations, names.Detached)
		w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
		w.Expect(w.kube.Delete(t.Context(), h)).To(Succeed())
		w.Expect(w.pass()).To(BeNil(), "the last finalizer is gone")
		w.Expect(w.agent("agent")).To(BeNil())
	})
}

func TestTheHubIsToldThatTheMachineRunsFromItsDisk(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC, annotated(names.BMACManage, "")),
		registered(machineID, time.Now(), inHub(wire.HostStatusInstallingInProgress), func(a *agentv1.Agent) {
			a.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: string(wire.HostStageWritingImageToDisk)}
		}))
	agent, host := w.installing("edge", machineID)
	agent.Progress(t, host, wire.HostStageWritingImageToDisk, "")
	w.pass()
	w.Expect(w.view(host).Installed).To(BeFalse(), "only a host that reboots can have booted")

	agent.Progress(t, host, wire.HostStageRebooting, "")
	a := w.agent(machineID)
	a.Status.Progress.CurrentStage = string(wire.HostStageRebooting)
	w.Expect(w.kube.Status().Update(t.Context(), a)).To(Succeed())
	w.pass()
	w.Expect(w.view(host).Installed).To(BeTrue())
	w.pass()
	w.Expect(w.view(host).Installed).To(BeTrue(), "being told twice changes nothing")
}

func TestTheHubIsToldThatTheDeploymentFailed(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateProvisioning, asked, withMAC, provisioningError("the machine vanished")),
		registered(machineID, time.Now(), inHub(wire.HostStatusInstallingInProgress)))
	_, host := w.installing("edge", machineID)
	w.pass()
	view := w.view(host)
	w.Expect(view.Failed).To(BeTrue())
	w.Expect(view.Reason).To(Equal("the machine vanished"))
}

func TestHostsWithoutAMACAddressHaveNoAgent(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateProvisioning, asked, func(h *metal3v1.BareMetalHost) { h.Spec.BootMACAddress = "" }), registered("agent", time.Now()))
	w.pass()
	w.Expect(w.agent("agent").Spec.Approved).To(BeFalse())
}

// said collects events as "Reason: text".
type said []string

func (s *said) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	*s = append(*s, reason+": "+fmt.Sprintf(note, args...))
}

// TestARunningSystemIsNotWipedForTheAgent: a machine runs what its owner had installed, and gets the label of an
// InfraEnv. Another method would have it deprovisioned.
func TestARunningSystemIsNotWipedForTheAgent(t *testing.T) {
	ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
	ready.Namespace, ready.Name = key.Namespace, key.Name
	w := newWorld(t, ready, host(metal3v1.StateProvisioned, withMAC, unrecorded, func(h *metal3v1.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.InstallCoreOS}
		h.Status.Provisioning.CustomDeploy = h.Spec.CustomDeploy
	}))
	var events said
	w.r.Recorder = reconcile.Recorder{Sink: &events}
	h := w.pass()
	w.Expect(h.Spec.CustomDeploy.Method).To(Equal(names.InstallCoreOS))
	w.Expect(h.Annotations).NotTo(HaveKey(names.Detached))
	w.Expect(events).To(ConsistOf(And(HavePrefix(link.EventNotTakenOver+": "), ContainSubstring("install_coreos"), ContainSubstring("Next: "))))

	h.Spec.CustomDeploy = nil // its owner wants the agent now
	w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
	w.Expect(w.pass().Spec.CustomDeploy.Method).To(Equal(names.StartAssistedInstall))
}

// TestNobodyTouchesAHostThatIsKeptOff: neither the host nor its Agent, nor the hub's record.
func TestNobodyTouchesAHostThatIsKeptOff(t *testing.T) {
	for _, annotation := range []string{names.Paused, names.Hold} {
		for name, change := range map[string]func(*metal3v1.BareMetalHost){
			"image ready":   func(*metal3v1.BareMetalHost) {},
			"installed":     func(h *metal3v1.BareMetalHost) { asked(h); h.Status.Provisioning.State = metal3v1.StateProvisioned },
			"label removed": func(h *metal3v1.BareMetalHost) { asked(h); h.Labels = nil },
			"being deleted": func(h *metal3v1.BareMetalHost) { asked(h); deleting(h) },
		} {
			t.Run(annotation+", "+name, func(t *testing.T) {
				ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
				ready.Namespace, ready.Name = key.Namespace, key.Name
				w := newWorld(t, ready, registered("agent", time.Now()),
					host(metal3v1.StateInspecting, withMAC, annotated(annotation, ""), change))
				before := &metal3v1.BareMetalHost{}
				w.Expect(w.kube.Get(t.Context(), key, before)).To(Succeed())
				was := w.agent("agent")
				w.Expect(w.pass()).To(HaveField("ResourceVersion", before.ResourceVersion))
				w.Expect(w.agent("agent")).To(Equal(was))

				delete(before.Annotations, annotation)
				w.Expect(w.kube.Update(t.Context(), before)).To(Succeed())
				h := w.pass()
				w.Expect(h == nil || h.ResourceVersion != before.ResourceVersion).To(BeTrue(), "then it goes on")
			})
		}
	}
}

// TestAHostWithoutABootMACAddressIsNotStarted: nothing could tell that an Agent is its machine, so the step would wait
// for an approval that never comes.
func TestAHostWithoutABootMACAddressIsNotStarted(t *testing.T) {
	h := host(metal3v1.StateAvailable)
	h.Spec.BootMACAddress = ""
	h.Spec.BMC.Address = "redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1" // needs no boot MAC address
	w := newWorld(t, h)
	ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
	ready.Namespace, ready.Name = key.Namespace, key.Name
	w.Expect(w.kube.Create(t.Context(), ready)).To(Succeed())
	w.Expect(w.kube.Create(t.Context(), registered("ours", time.Now()))).To(Succeed())
	got := w.pass()
	w.Expect(w.agent("ours").Spec.Approved).To(BeFalse(), "it is not recognised")
	w.Expect(got.Spec.CustomDeploy).To(BeNil(), "the machine would boot for nothing")
	w.Expect(w.linkedSays()).To(And(HaveField("Reason", link.ReasonNoBootMACAddress), HaveField("Message", ContainSubstring("Next: "))))
}

// TestALabelThatGoesWipesNothing: with assisted-service, a host without the label loses the finalizer, and that is all. An
// installed machine is nobody's to wipe because a label went.
func TestALabelThatGoesWipesNothing(t *testing.T) {
	linked := registered("ours", time.Now(), linked, inHub(wire.HostStatusInstalled))
	w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC, unlabelled, annotated(names.Detached, link.Owner)), linked)
	h := w.pass()
	w.Expect(h.Finalizers).To(BeEmpty())
	w.Expect(h.Spec.CustomDeploy).NotTo(BeNil(), "this deprovisions the machine, which runs what was installed on it")
	w.Expect(h.Annotations).To(HaveKey(names.Detached))
	w.Expect(w.agent("ours")).NotTo(BeNil())
}

// TestAnUnboundHostIsGivenBack: an installed host that was taken out of its cluster waits for somebody to boot it from the
// discovery image: that is this controller, which has the host deprovisioned and deployed again.
func TestAnUnboundHostIsGivenBack(t *testing.T) {
	linked := registered("ours", time.Now(), unbound)
	w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC, annotated(names.Detached, link.Owner)), linked)
	for range 3 {
		w.pass()
	}
	h := w.pass()
	w.Expect(h.Annotations).NotTo(HaveKey(names.Detached))
	w.Expect(h.Spec.CustomDeploy).To(BeNil())
	w.Expect(w.linkedSays()).To(And(HaveField("Reason", link.ReasonGivingBack), HaveField("Message", And(ContainSubstring("taken out of its cluster"), ContainSubstring(" by ")))))
}

// TestAHostThatIsNotTakenOverHasNoAgentApproved: what is said to stay as it is must not be installed over.
func TestAHostThatIsNotTakenOverHasNoAgentApproved(t *testing.T) {
	for name, change := range map[string]func(*metal3v1.BareMetalHost){
		"deployed from an image": func(h *metal3v1.BareMetalHost) {
			h.Spec.Image = &metal3v1.Image{URL: "http://images.example/os.raw"}
		},
		"somebody else's system": func(h *metal3v1.BareMetalHost) {
			h.Spec.ExternallyProvisioned, h.Status.Provisioning.State = true, metal3v1.StateExternallyProvisioned
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(
				t,
				host(metal3v1.StateProvisioned, withMAC, func(h *metal3v1.BareMetalHost) { delete(h.Annotations, names.DeployOwner) }, annotated(names.BMACCluster, "site/prod"), change),
				registered("ours", time.Now()),
			)
			ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
			ready.Namespace, ready.Name = key.Namespace, key.Name
			w.Expect(w.kube.Create(t.Context(), ready)).To(Succeed())
			h := w.pass()
			w.Expect(h.Spec.CustomDeploy).To(BeNil())
			w.Expect(w.agent("ours").Spec.Approved).To(BeFalse())
			w.Expect(w.agent("ours").Spec.ClusterDeploymentName).To(BeNil())
			w.Expect(w.linkedSays()).To(And(HaveField("Reason", link.EventNotTakenOver), HaveField("Message", ContainSubstring("Next: "))))
		})
	}
}

// TestAnAgentThatSomebodyBootedByHandIsNotRemoved: the machine of a labelled host that waits for its live image registers from a
// discovery image that a person has booted. It is of no earlier installation.
func TestAnAgentThatSomebodyBootedByHandIsNotRemoved(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateAvailable, withMAC), registered("ours", time.Now(), inHub(wire.HostStatusKnownUnbound)))
	w.pass()
	w.Expect(w.agent("ours")).NotTo(BeNil(), "it registers anew, and is removed anew; nobody is told why")
}

// TestAnAgentThatIsDeletedGivesItsMachineBack: its deletion alone does; one along with the InfraEnv or the namespace is
// no wish to have machines wiped, and one that nobody has seen is not concluded from what is missing.
func TestAnAgentThatIsDeletedGivesItsMachineBack(t *testing.T) {
	deleted := metav1.Now()
	for name, c := range map[string]struct {
		unseen bool
		env    *metav1.Time
		space  *metav1.Time
		given  bool
	}{
		"alone":                  {given: true},
		"with its InfraEnv":      {env: &deleted},
		"with its namespace":     {space: &deleted},
		"while nobody was there": {unseen: true},
	} {
		t.Run(name, func(t *testing.T) {
			going := func(at *metav1.Time) metav1.ObjectMeta {
				m := metav1.ObjectMeta{DeletionTimestamp: at}
				if at != nil {
					m.Finalizers = []string{"example.com/later"}
				}
				return m
			}
			env, space := &agentv1.InfraEnv{ObjectMeta: going(c.env)}, &corev1.Namespace{ObjectMeta: going(c.space)}
			env.Namespace, env.Name, space.Name = key.Namespace, "edge", key.Namespace
			w := newWorld(t, host(metal3v1.StateProvisioned, asked, withMAC, annotated(names.Detached, link.Owner)), env, space)
			gone := registered("ours", time.Now(), linked)
			gone.DeletionTimestamp = &deleted
			if !c.unseen {
				link.HostsOfAgent(w.r, t.Context(), gone)
			}
			h := w.pass()
			w.Expect(h.Spec.CustomDeploy == nil).To(Equal(c.given))
			mark := names.Detached
			if c.given {
				mark = names.GivingBack
			}
			w.Expect(h.Annotations).To(HaveKey(mark))
			h = w.pass()
			w.Expect(h.Spec.CustomDeploy == nil).To(Equal(c.given), "it is not seen anew")
		})
	}
}

// TestAHostWithALongName: names may have 253 characters, and the values of labels 63.
func TestAHostWithALongName(t *testing.T) {
	long := host(metal3v1.StateProvisioning, asked, withMAC)
	long.Name = strings.Repeat("rack-12.", 20) + "node-0"
	w := newWorld(t, long, registered("ours", time.Now()))
	_, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(long)})
	w.Expect(err).NotTo(HaveOccurred())
	ours := w.agent("ours")
	w.Expect(validation.IsValidLabelValue(ours.Labels[names.AgentHostLabel])).To(BeEmpty(), "the API server refuses it, and the agent is never approved")
	w.Expect(ours.Spec.Approved).To(BeTrue())
	ours.Status.Inventory.Interfaces = nil // between two registrations, its label alone tells
	w.Expect(link.HostsOfAgent(w.r, t.Context(), ours)).To(ConsistOf(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(long)}))

	another := long.DeepCopy()
	another.Name = strings.Repeat("rack-12.", 20) + "node-1"
	w.Expect(names.HostLabel(another.Name)).NotTo(Equal(names.HostLabel(long.Name)))
	w.Expect(names.HostLabel("node-0")).To(Equal("node-0"))
}

// TestARefusalIsToldOnce: by an event when it begins, and by the condition as long as it lasts.
func TestARefusalIsToldOnce(t *testing.T) {
	w := newWorld(t, host(metal3v1.StateProvisioned, withMAC, unrecorded, func(h *metal3v1.BareMetalHost) {
		h.Spec.Image = &metal3v1.Image{URL: "http://images.example/os.raw"}
	}))
	var events said
	w.r.Recorder = reconcile.Recorder{Sink: &events}
	first := w.pass()
	w.Expect(w.pass().ResourceVersion).To(Equal(first.ResourceVersion))
	w.Expect(events).To(HaveLen(1))
}
