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
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	shared "github.com/ironflow/ironflow/test/bmc/world"
)

// TestAPartThatABMCTellsOf is read at once, though the next reading is hours away.
func TestAPartThatABMCTellsOf(t *testing.T) {
	var ahead atomic.Int64
	w := newWorldWith(t, Options{Interval: time.Hour, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.Expect(w.Sim.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, simulator.Condition{Health: "Critical"})).To(Succeed())
	reads := w.reads.Load()
	w.Consistently(w.reads.Load).WithTimeout(300*time.Millisecond).Should(Equal(reads), "nobody has told")
	ahead.Store(int64(askedAgain + time.Second))
	w.tell(shared.Key)
	w.Eventually(w.reads.Load).WithTimeout(time.Minute).Should(Equal(reads + 1))
	w.Eventually(w.cooling).WithTimeout(time.Minute).ShouldNot(Equal(v1alpha1.HealthUnknown))
	for range 100 {
		w.tell(shared.Key)
	}
	w.Consistently(w.reads.Load).WithTimeout(300*time.Millisecond).Should(Equal(reads+1), "a BMC that goes mad waits")
}

// TestIntervals: who is told of what is new reads less often.
func TestIntervals(t *testing.T) {
	const every, withEvents = 15 * time.Minute, 4 * time.Hour
	for name, c := range map[string]struct {
		subscribed metav1.ConditionStatus
		asked      bool
		last       kept
		want       time.Duration
	}{
		"without events":                              {"", false, kept{}, every},
		"with events":                                 {metav1.ConditionTrue, false, kept{}, withEvents},
		"events that do not arrive":                   {metav1.ConditionFalse, false, kept{}, every},
		"with events, and told":                       {metav1.ConditionTrue, true, kept{}, askedAgain},
		"with events, and parts that were never read": {metav1.ConditionTrue, false, kept{past: rules.Past{Touring: true}}, every},
		"with events, and silent when it was read":    {metav1.ConditionTrue, false, kept{silent: true}, every},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := &reconciler{options: Options{Interval: every, WithEvents: withEvents}, asked: map[types.NamespacedName]bool{}}
			b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: shared.Key.Namespace, Name: shared.Key.Name}}
			if c.subscribed != "" {
				reconcile.SetCondition(b, v1alpha1.Subscribed, c.subscribed, "", "")
			}
			r.ask(shared.Key, c.asked)
			g.Expect(r.interval(b, c.last)).To(Equal(c.want))
		})
	}
}

// TestAHostThatGetsReady is read as soon as it is, and in time if that never happens.
func TestAHostThatGetsReady(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration
		wake  func(w *world)
	}{
		"it is":                  {wake: func(w *world) { w.Host(inState(metal3.StateAvailable)) }},
		"its BMC says something": {wake: func(w *world) { w.tell(shared.Key) }},
		"it hangs": {ahead: getReady + time.Second, wake: func(w *world) { // the time that wakes it is real
			w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"example.com/look": ""} })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var ahead atomic.Int64
			w := newWorldWith(t, Options{Interval: time.Hour, Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}, inState(metal3.StateInspecting))
			w.Consistently(w.reads.Load).WithTimeout(300*time.Millisecond).Should(BeZero(), "its BMC has enough to do")
			ahead.Store(int64(c.ahead))
			c.wake(w)
			w.until(metav1.ConditionTrue, ReasonAllWell)
		})
	}
}

func inState(s metal3.ProvisioningState) func(h *metal3.BareMetalHost) {
	return func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = s }
}

// TestASubscriptionThatBreaks: the next reading is not as far away any more as with events. It counts
// from when the parts were read, however long it then takes until the API server has the result.
func TestASubscriptionThatBreaks(t *testing.T) {
	const every, withEvents, late = time.Hour, 24 * time.Hour, 2 * time.Hour
	var ahead time.Duration
	w := newWorldAtRest(t)
	start := time.Now()
	kube, err := w.API.Client(w.Scheme)
	w.Expect(err).NotTo(HaveOccurred())
	slow := interceptor.NewClient(kube, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c kclient.Client, sub string, o kclient.Object, patch kclient.Patch, opts ...kclient.SubResourcePatchOption) error {
			ahead = late
			return c.SubResource(sub).Patch(ctx, o, patch, opts...)
		},
	})
	r := &reconciler{
		client: slow, status: bmcstatus.Writer{Client: slow, Live: slow}, options: w.wired(Options{Interval: every, WithEvents: withEvents, Now: func() time.Time { return start.Add(ahead) }}),
		past: map[types.NamespacedName]kept{}, asked: map[types.NamespacedName]bool{}, recorder: reconcile.Recorder{Sink: w.told},
	}
	pass := func() time.Duration {
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: shared.Key})
		w.Expect(err).NotTo(HaveOccurred())
		return result.RequeueAfter
	}
	becomes := func(status metav1.ConditionStatus) (wakes bool) {
		before := w.BMC()
		w.others(v1alpha1.Subscribed, status)
		after := w.BMC()
		return reported.Update(event.UpdateEvent{ObjectOld: &before, ObjectNew: &after})
	}
	w.Expect(pass()).To(Equal(every))
	w.Expect(w.reads.Load()).To(Equal(int64(1)))
	w.Expect(ahead).To(Equal(late), "the result is written, which took hours")
	w.Expect(becomes(metav1.ConditionTrue)).To(BeTrue(), "the next reading is later now")
	w.Expect(pass()).To(Equal(withEvents - late))
	w.Expect(w.reads.Load()).To(Equal(int64(1)), "its BMC would have told")
	w.Expect(becomes(metav1.ConditionFalse)).To(BeTrue(), "the next reading is due")
	w.Expect(pass()).To(Equal(every))
	w.Expect(w.reads.Load()).To(Equal(int64(2)))
}

// TestTheWatchWakesWhenASubscriptionBreaks: the same with the controller at work, which nobody calls.
func TestTheWatchWakesWhenASubscriptionBreaks(t *testing.T) {
	var ahead, looks atomic.Int64
	w := newWorldWith(t, Options{Interval: time.Hour, WithEvents: 24 * time.Hour, Now: func() time.Time {
		looks.Add(1)
		return time.Now().Add(time.Duration(ahead.Load()))
	}}, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	before := looks.Load()
	w.others(v1alpha1.Subscribed, metav1.ConditionTrue)
	w.Eventually(looks.Load).WithTimeout(time.Minute).Should(BeNumerically(">", before), "it has looked when the next reading is due")
	reads := w.reads.Load()
	ahead.Store(int64(2 * time.Hour))
	w.Consistently(w.reads.Load).WithTimeout(300 * time.Millisecond).Should(Equal(reads))
	w.others(v1alpha1.Subscribed, metav1.ConditionFalse)
	w.Eventually(w.reads.Load).WithTimeout(time.Minute).Should(Equal(reads + 1))
}

// TestOthersWriteMeanwhile: what others write while a BMC is read stays, and the BMC is
// not read once more for it.
func TestOthersWriteMeanwhile(t *testing.T) {
	w := newBusyWorld(t, Options{Interval: time.Hour}, nil, func(w *world) { w.others(v1alpha1.CredentialsCurrent, metav1.ConditionTrue) })
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.Expect(w.Condition(v1alpha1.CredentialsCurrent).Status).To(Equal(metav1.ConditionTrue))
	w.Consistently(w.reads.Load).WithTimeout(300 * time.Millisecond).Should(Equal(int64(1)))
}
