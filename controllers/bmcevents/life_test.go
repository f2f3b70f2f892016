package bmcevents

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

const patience = time.Minute

// TestLife: a subscription is made and tested, what the BMC tells wakes who waits for it
// and is told to people, and it goes with the host, while others' stay.
func TestLife(t *testing.T) {
	w := newWorld(t)
	_, err := w.connect().Post(t.Context(), "/redfish/v1/EventService/Subscriptions", map[string]any{"Destination": "https://192.0.2.1/others", "Protocol": "Redfish", "Context": "theirs"})
	w.Expect(err).NotTo(HaveOccurred())
	w.start()
	w.host()
	c := w.until(metav1.ConditionTrue, ReasonArrives)
	w.Expect(c.Message).To(MatchRegexp(`test event after \d+\.\d s`))
	w.Expect(w.sim.Subscriptions()).To(HaveLen(2))

	asked := w.sim.Total("")
	w.fail()
	w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(And(ContainSubstring("Warning "+EventAlertCritical), ContainSubstring("Fan1"))))
	w.Eventually(func() int { _, health := w.wakes(); return health }).WithTimeout(patience).Should(BeNumerically(">", 0))
	w.Expect(w.sim.SetPower("1", simulator.Off)).To(Succeed())
	w.Eventually(func() []string { woken, _ := w.wakes(); return woken }).WithTimeout(patience).Should(Equal([]string{"host-1 power"}))
	w.Expect(w.sim.Total("")).To(Equal(asked), "nothing is asked for what is told")

	stored := w.bmc().ResourceVersion
	w.later()
	w.Eventually(func() int { return w.sim.Total("") }).WithTimeout(patience).Should(Equal(asked + 1))
	w.Consistently(func() int { return w.sim.Total("") }).WithTimeout(200*time.Millisecond).Should(Equal(asked+1), "one that is in order costs one request")
	w.Expect(w.bmc().ResourceVersion).To(Equal(stored), "nothing is written that was there")
	w.Expect(w.subscribed().Message).To(Equal(c.Message), "and says what it said")

	w.Expect(w.kube.Delete(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
	w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(ConsistOf(HaveField("Destination", ContainSubstring("others"))))
}

// TestTheKindBMCGoesFirst: a deletion in the foreground takes the kind BMC before the
// host, and the subscription all the same.
func TestTheKindBMCGoesFirst(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.host()
	w.until(metav1.ConditionTrue, ReasonArrives)
	w.Expect(w.kube.Delete(t.Context(), w.bmc())).To(Succeed())
	w.Expect(w.sim.Subscriptions()).To(HaveLen(1))
	w.Expect(w.kube.Delete(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
	w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(BeEmpty())
}

// TestRepair: what a BMC's reset has lost is made again with the next look.
func TestRepair(t *testing.T) {
	for _, quirk := range []simulator.Quirk{simulator.SubscriptionsLost, simulator.SubscriptionsRenamed} {
		t.Run(string(quirk), func(t *testing.T) {
			w := newWorld(t, quirk)
			w.start()
			w.host()
			w.until(metav1.ConditionTrue, ReasonArrives)
			before := w.sim.Subscriptions()
			_, err := w.connect().Post(t.Context(), "/redfish/v1/Managers/1/Actions/Manager.Reset", map[string]any{"ResetType": "ForceRestart"})
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.sim.Subscriptions()).NotTo(Equal(before))
			_, read := w.wakes()
			w.later()
			w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(HaveLen(1))
			if quirk == simulator.SubscriptionsLost {
				w.Eventually(func() int { _, health := w.wakes(); return health }).WithTimeout(patience).Should(BeNumerically(">", read), "what was not told is read")
			}
			w.until(metav1.ConditionTrue, ReasonArrives)
			w.fail()
			w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(ContainSubstring(EventAlertCritical)))
		})
	}
}

// TestNotPossible: what a person has to do is said, and nothing is asked again at once.
func TestNotPossible(t *testing.T) {
	for quirk, says := range map[simulator.Quirk]string{
		simulator.NoEventService: "no EventService", simulator.EventsDisabled: "ServiceEnabled", simulator.SubscriptionsFull: "remove one that nobody needs",
	} {
		t.Run(string(quirk), func(t *testing.T) {
			w := newWorld(t, quirk)
			w.start()
			w.host()
			w.Expect(w.until(metav1.ConditionFalse, ReasonNotPossible).Message).To(ContainSubstring(says))
			asked := w.sim.Total("")
			w.Consistently(func() int { return w.sim.Total("") }).WithTimeout(200 * time.Millisecond).Should(Equal(asked))
		})
	}
}

// TestStreamInstead: a BMC that cannot reach us is followed while something is under way,
// and left alone at rest.
func TestStreamInstead(t *testing.T) {
	w := newWorld(t)
	w.deaf.Store(true)
	w.start()
	w.host()
	c := w.until(metav1.ConditionFalse, ReasonMissing)
	w.Expect(c.Message).To(And(ContainSubstring("did not arrive"), ContainSubstring("trusts its certificate"), ContainSubstring("stream is read")))
	streams := func() int { return w.sim.Total("GET /redfish/v1/EventService/SSE") }
	w.Expect(streams()).To(BeZero())
	w.progressing(metav1.ConditionTrue)
	w.Eventually(streams).WithTimeout(patience).Should(Equal(1))
	w.Eventually(func() []string { woken, _ := w.wakes(); return woken }).WithTimeout(patience).Should(ContainElement("host-1"), "what was missed before")
	w.Expect(w.sim.SetPower("1", simulator.Off)).To(Succeed())
	w.Eventually(func() []string { woken, _ := w.wakes(); return woken }).WithTimeout(patience).Should(ContainElement("host-1 power"))
	w.progressing(metav1.ConditionFalse)
	woken, _ := w.wakes()
	w.Eventually(func() int {
		before, _ := w.wakes()
		w.Expect(w.sim.SetPower("1", simulator.On)).To(Succeed())
		after, _ := w.wakes()
		return len(after) - len(before)
	}).WithTimeout(patience).Should(BeZero(), "%v", woken)

	// The way is open again: the next look tests it.
	w.deaf.Store(false)
	w.later()
	w.until(metav1.ConditionTrue, ReasonArrives)
}

// TestASecretThatIsMissingForAWhile: a stream that cannot be followed keeps nobody from
// looking again.
func TestASecretThatIsMissingForAWhile(t *testing.T) {
	w := newWorld(t)
	w.every = 2 * time.Second
	w.deaf.Store(true)
	w.start()
	w.host()
	w.until(metav1.ConditionFalse, ReasonMissing)
	w.refuse(reconcile.Stall("NoSecret", "the Secret is missing"))
	w.progressing(metav1.ConditionTrue)
	w.until(metav1.ConditionUnknown, ReasonUnreachable)
	w.refuse(nil)
	w.until(metav1.ConditionFalse, ReasonMissing)
	w.Eventually(func() int { return w.sim.Total("GET /redfish/v1/EventService/SSE") }).WithTimeout(patience).Should(BeNumerically(">", 0))
}

// TestAnotherMachineOfTheBMC: what a BMC tells of the machine of another host is not
// this host's, whichever way it is told.
func TestAnotherMachineOfTheBMC(t *testing.T) {
	for name, deaf := range map[string]bool{"pushed": false, "by its stream": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deaf.Store(deaf)
			w.Expect(w.sim.AddSystem(simulator.System{ID: "2", Power: simulator.On})).To(Succeed())
			dispatcher := w.start()
			w.host()
			if deaf {
				w.until(metav1.ConditionFalse, ReasonMissing)
				w.progressing(metav1.ConditionTrue)
				w.Eventually(func() []string { woken, _ := w.wakes(); return woken }).WithTimeout(patience).Should(ContainElement("host-1"), "the stream is open")
			} else {
				w.until(metav1.ConditionTrue, ReasonArrives)
			}
			fan := simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}
			w.Expect(w.sim.SetPart("2", fan, simulator.Condition{Health: "Critical"})).To(Succeed())
			w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(ContainSubstring(EventAlertCritical)), "it is no host's, so that all hear it")

			neighbour := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "host-2"}}
			neighbour.Spec.BMC.Address = "redfish+" + w.bmcURL + "/redfish/v1/Systems/2"
			w.Expect(w.kube.Create(t.Context(), neighbour)).To(Succeed())
			w.Eventually(func() bool { _, known := dispatcher.hostOf(sourceOf(neighbour)); return known }).WithTimeout(patience).Should(BeTrue())
			w.Expect(w.sim.SetPower("2", simulator.Off)).To(Succeed())
			w.Expect(w.sim.SetPart("2", fan, simulator.Condition{Health: "OK"})).To(Succeed())
			w.fail()
			var next string
			w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(&next))
			w.Expect(next).To(ContainSubstring(EventAlertCritical), "that the neighbour's fan is well again was told before it")
			woken, _ := w.wakes()
			w.Expect(woken).NotTo(ContainElement("host-1 power"))
			w.Expect(w.sim.SetPower("1", simulator.Off)).To(Succeed())
			w.Eventually(func() []string { woken, _ := w.wakes(); return woken }).WithTimeout(patience).Should(ContainElement("host-1 power"))
		})
	}
}

// TestASilentBMCHoldsUpNoDeletion: the host goes when the others let it go.
func TestASilentBMCHoldsUpNoDeletion(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.host()
	w.until(metav1.ConditionTrue, ReasonArrives)
	w.Expect(w.sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	w.Expect(h.Finalizers).To(Equal([]string{metal3.BareMetalHostFinalizer}), "nobody has to take something off it")
	w.Expect(w.kube.Delete(t.Context(), h)).To(Succeed())
	h.Finalizers = nil
	w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	h.Finalizers = nil
	w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
	w.Expect(w.kube.Get(t.Context(), key, h)).NotTo(Succeed())
}

// TestRestart: a program that begins anew finds its subscription again, and asks for no
// other test; one that has lost its secret replaces it.
func TestRestart(t *testing.T) {
	for name, c := range map[string]struct {
		secret string
		same   bool
	}{"the same secret": {"k", true}, "another secret": {"o", false}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			w.host()
			w.until(metav1.ConditionTrue, ReasonArrives)
			before, tests := w.sim.Subscriptions(), w.sim.Total("POST /redfish/v1/EventService/Actions")
			w.end()
			var err error
			w.keys, err = events.NewKeys(secretOf(c.secret))
			w.Expect(err).NotTo(HaveOccurred())
			asked := w.sim.Total("")
			w.start()
			w.Eventually(func() int { return w.sim.Total("") }).WithTimeout(patience).Should(BeNumerically(">", asked))
			if c.same {
				w.Consistently(w.sim.Subscriptions).WithTimeout(300 * time.Millisecond).Should(Equal(before))
				w.Expect(w.sim.Total("POST /redfish/v1/EventService/Actions")).To(Equal(tests))
			} else {
				w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(And(HaveLen(1), Not(Equal(before))))
			}
			w.until(metav1.ConditionTrue, ReasonArrives)
			w.fail()
			w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(ContainSubstring(EventAlertCritical)))
		})
	}
}

// TestAnotherKey: a key that became known is replaced by raising its number.
func TestAnotherKey(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.host()
	w.until(metav1.ConditionTrue, ReasonArrives)
	before := w.sim.Subscriptions()[0].Destination
	w.annotate(names.EventKey, "1")
	w.Eventually(func() []simulator.Subscription { return w.sim.Subscriptions() }).WithTimeout(patience).Should(ConsistOf(HaveField("Destination", Not(Equal(before)))))
	w.fail()
	w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(ContainSubstring(EventAlertCritical)))
}

// TestAHeldHostIsLeftAlone: nobody asks its BMC, and nothing is said of it.
func TestAHeldHostIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.host()
	w.annotate(names.Hold, "")
	asked := w.sim.Total("")
	w.start()
	w.Consistently(func() int { return w.sim.Total("") }).WithTimeout(300 * time.Millisecond).Should(Equal(asked))
	w.Expect(w.subscribed()).To(BeZero())
}

// TestOthersTellTheLeader: a BMC posts to whichever replica the Service chooses.
func TestOthersTellTheLeader(t *testing.T) {
	w := newWorld(t)
	dispatcher := w.start()
	w.host()
	w.until(metav1.ConditionTrue, ReasonArrives)
	w.Eventually(func() bool { _, known := dispatcher.hostOf(w.source()); return known }).Should(BeTrue())

	other := &Dispatcher{
		counts: dispatcher.counts, now: time.Now, leads: func() bool { return false }, notes: newNotes(w.kube, time.Now), hosts: map[types.UID]*host{w.uid(): {key: key, uid: w.uid(), source: w.source()}},
	}
	go other.notes.run(t.Context())
	before := dispatcher.lastHeard(w.uid())
	other.Wake(events.Wake{Host: w.source(), Kind: "Power"})
	other.Wake(events.Wake{Host: w.source(), Kind: "Health"})
	w.Eventually(func() []string { woken, _ := w.wakes(); return woken }).WithTimeout(patience).Should(Equal([]string{"host-1 power"}))
	w.Eventually(func() int { _, health := w.wakes(); return health }).WithTimeout(patience).Should(BeNumerically(">", 0))
	w.Expect(dispatcher.lastHeard(w.uid())).To(BeTemporally(">", before), "a test event may arrive there, too")
}
