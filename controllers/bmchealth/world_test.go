package bmchealth

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	shared "github.com/ironflow/ironflow/test/bmc/world"
)

// world is the controller over a BMC that was probed.
type world struct {
	*shared.World

	told *events.FakeRecorder
	bmc  *client.Client
	// meanwhile happens while the BMC is read.
	meanwhile func(w *world)
	// reads counts the readings.
	reads atomic.Int64
	// stalled says that a person has to mend something before the BMC can be asked.
	stalled atomic.Bool
	// tell says that the BMC has something to say.
	tell func(key types.NamespacedName)
}

// OnHealth implements Events.
func (w *world) OnHealth(tell func(key types.NamespacedName)) { w.tell = tell }

func newWorld(t *testing.T, change func(h *metal3.BareMetalHost)) *world {
	t.Helper()
	return newWorldWith(t, Options{Interval: 20 * time.Millisecond}, change)
}

// newWorldWith does so with other intervals.
func newWorldWith(t *testing.T, o Options, change func(h *metal3.BareMetalHost)) *world {
	t.Helper()
	return newBusyWorld(t, o, change, func(*world) {})
}

// newBusyWorld does so, where something happens while a BMC is read.
func newBusyWorld(t *testing.T, o Options, change func(h *metal3.BareMetalHost), meanwhile func(w *world)) *world {
	t.Helper()
	w := bare(t)
	w.meanwhile = meanwhile
	w.CreateHost()
	if change != nil {
		w.Host(change)
	}
	o = w.wired(o)
	w.Start(w.told, func(mgr ctrl.Manager) error { return Setup(mgr, o) })
	w.Probed(w.bmc)
	return w
}

// newWorldAtRest has a BMC that was probed, and nobody who reads it.
func newWorldAtRest(t *testing.T) *world {
	t.Helper()
	w := bare(t)
	w.CreateHost()
	w.Probed(w.bmc)
	return w
}

// bare is a world in which nothing is yet.
func bare(t *testing.T) *world {
	t.Helper()
	w := &world{World: shared.New(t, simulator.System{Power: simulator.On}), told: events.NewFakeRecorder(100), meanwhile: func(*world) {}}
	w.bmc = w.Client()
	return w
}

// wired are the options with the world around them.
func (w *world) wired(o Options) Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Events = w
	o.Connect = func(context.Context, *metal3.BareMetalHost) (*client.Client, error) {
		w.reads.Add(1)
		if w.stalled.Load() {
			return nil, reconcile.Stall("NoCredentials", "the BMC's Secret does not exist")
		}
		w.meanwhile(w)
		return w.bmc, nil
	}
	return o
}

func (w *world) healthy() metav1.Condition { return w.Condition(v1alpha1.Healthy) }

// others writes a condition of another controller.
func (w *world) others(kind string, status metav1.ConditionStatus) {
	w.T.Helper()
	w.Eventually(func() error {
		b := w.BMC()
		reconcile.SetCondition(&b, kind, status, "", "")
		return w.Kube.Status().Update(w.T.Context(), &b)
	}).WithTimeout(time.Minute).Should(Succeed())
}

func (w *world) until(status metav1.ConditionStatus, reason string) metav1.Condition {
	w.T.Helper()
	w.Until(v1alpha1.Healthy, status, reason)
	return w.healthy()
}

// cooling is how the fans are.
func (w *world) cooling() v1alpha1.HealthState {
	for _, d := range w.BMC().Status.Health {
		if d.Domain == "Cooling" {
			return d.State
		}
	}
	return ""
}

// TestAFanThatFailsAndIsReplaced is said by condition and event, and taken back.
func TestAFanThatFailsAndIsReplaced(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	fan := simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}
	w.Expect(w.Sim.SetPart("1", fan, simulator.Condition{Health: "Critical"})).To(Succeed())
	w.Expect(w.until(metav1.ConditionFalse, "Critical").Message).To(MatchRegexp("Fan ?1")) // by name or by id
	w.Eventually(w.told.Events).WithTimeout(time.Minute).Should(Receive(ContainSubstring(EventCritical)))
	w.Eventually(w.cooling).WithTimeout(time.Minute).Should(Equal(v1alpha1.HealthCritical))
	w.Expect(w.Sim.SetPart("1", fan, simulator.Condition{Health: "OK"})).To(Succeed())
	w.Eventually(w.cooling).WithTimeout(time.Minute).Should(Equal(v1alpha1.HealthOK))
}

// TestABMCThatFallsSilent: nothing is known then, which is no fault of the machine.
func TestABMCThatFallsSilent(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.Expect(w.Sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
	w.until(metav1.ConditionUnknown, ReasonUnread)
}

// TestAHostThatIsOff: its log is read, of its parts nothing is known. So it is not called
// well, whatever it was before.
func TestAHostThatIsOff(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.Expect(w.Sim.SetPower("1", simulator.Off)).To(Succeed())
	w.Expect(w.until(metav1.ConditionUnknown, ReasonUnread).Message).To(ContainSubstring("off"))
	w.Eventually(w.cooling).WithTimeout(time.Minute).Should(Equal(v1alpha1.HealthUnknown))
	w.Consistently(func() metav1.ConditionStatus { return w.healthy().Status }).WithTimeout(300 * time.Millisecond).Should(Equal(metav1.ConditionUnknown))
}

// TestABMCThatNobodyMayAsk: what was seen before is not said of now.
func TestABMCThatNobodyMayAsk(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.stalled.Store(true)
	w.Expect(w.until(metav1.ConditionUnknown, ReasonUnread).Message).To(ContainSubstring("Secret does not exist"))
	w.stalled.Store(false)
	w.until(metav1.ConditionTrue, ReasonAllWell)
}

// TestAReadingThatTakesTooLong ends, so that other BMCs have their turn: only so many are
// read at once.
func TestAReadingThatTakesTooLong(t *testing.T) {
	w := newWorldWith(t, Options{Interval: 20 * time.Millisecond, Longest: 300 * time.Millisecond}, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.Expect(w.Sim.SetDelays("1", simulator.Delays{Answer: 250 * time.Millisecond})).To(Succeed())
	reads := w.reads.Load()
	w.Eventually(w.reads.Load).WithTimeout(time.Minute).Should(BeNumerically(">", reads+3))
	w.Eventually(w.cooling).WithTimeout(time.Minute).Should(Equal(v1alpha1.HealthUnknown))
}

// TestWhatAPersonMends: the parts are read again after that, though nothing of host and BMC
// has changed.
func TestWhatAPersonMends(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.stalled.Store(true)
	reads := w.reads.Load()
	w.Eventually(w.reads.Load).WithTimeout(time.Minute).Should(BeNumerically(">", reads+1))
	w.Expect(w.Sim.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, simulator.Condition{Health: "Critical"})).To(Succeed())
	w.stalled.Store(false)
	w.until(metav1.ConditionFalse, "Critical")
}

func TestAHeldHostIsNotRead(t *testing.T) {
	w := newWorld(t, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/hold": ""} })
	w.Consistently(w.reads.Load).WithTimeout(300 * time.Millisecond).Should(BeZero())
}
