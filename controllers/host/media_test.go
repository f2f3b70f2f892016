package host

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// fakeGate is a media controller that settles when it is told to.
type fakeGate struct {
	mu      sync.Mutex
	settled bool
	asked   bool
	started int
	tell    func(types.NamespacedName)
}

func (f *fakeGate) Media(context.Context, *metal3.BareMetalHost) (policy.Media, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return policy.Media{Pending: !f.settled, Asked: f.asked}, nil
}

func (f *fakeGate) Ask(*metal3.BareMetalHost, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = true
}

func (f *fakeGate) Started(types.NamespacedName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started, f.asked = f.started+1, false
}

func (f *fakeGate) OnSettled(tell func(types.NamespacedName)) { f.tell = tell }

// settle changes how the media stand, and tells so; it returns how often a machine
// was started before.
func (f *fakeGate) settle(settled bool) int {
	f.mu.Lock()
	f.settled = settled
	before := f.started
	f.mu.Unlock()
	if settled {
		f.tell(lab)
	}
	return before
}

func (f *fakeGate) state() (asked bool, started int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked, f.started
}

// TestRestartWaitsForTheMedia takes a running host through a restart with a data
// image that takes its time.
func TestRestartWaitsForTheMedia(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		gate := &fakeGate{settled: true}
		w := newWorldWith(t, assisted(nil), Options{Media: gate}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		let(time.Minute)
		before := gate.settle(false)
		w.annotate(names.Reboot, "")
		w.until("off", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
		let(2 * time.Minute)
		asked, started := gate.state()
		g.Expect(asked).To(BeTrue())
		g.Expect(started).To(Equal(before))
		g.Expect(w.host().Status.PoweredOn).To(BeFalse(), "it waits")
		g.Expect(w.host().Status.Conditions).To(ContainElement(And(
			HaveField("Type", metal3.ProgressingCondition), HaveField("Message", ContainSubstring("DataImage")))), "and says for what")
		gate.settle(true)
		w.until("on, without looking", 5*time.Second, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		_, started = gate.state()
		g.Expect(started).To(Equal(before + 1))
	})
}
