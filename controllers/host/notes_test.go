package host

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

func TestWhatIsOnlyANote(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*metal3.BareMetalHost)
		want   bool
	}{
		"another step":             {func(h *metal3.BareMetalHost) { say(h, "cleaning; erase_devices") }, true},
		"the same step":            {func(*metal3.BareMetalHost) {}, false},
		"another step and another": {func(h *metal3.BareMetalHost) { say(h, "cleaning"); h.Status.PoweredOn = true }, false},
		"another phase": {func(h *metal3.BareMetalHost) {
			reconcile.SetCondition(h, metal3.ProgressingCondition, "True", metal3.DeprovisioningReason, "cleaning")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			before := &metal3.BareMetalHost{}
			say(before, "deploying")
			after := before.DeepCopy()
			c.change(after)
			NewWithT(t).Expect(onlyNote(before, after)).To(Equal(c.want))
		})
	}
}

// say sets the text of the Progressing condition.
func say(h *metal3.BareMetalHost, message string) {
	reconcile.SetCondition(h, metal3.ProgressingCondition, "True", metal3.ProvisioningReason, message)
}

// TestABusyControllerReportsLess lets a deployment run while all writes of notes
// are used up by others: what the host is comes to be known, and how far it is a
// few seconds late.
func TestABusyControllerReportsLess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.rec.notes = rate.NewLimiter(rate.Every(time.Hour), 0)
		statuses := w.statuses
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(w.statuses-statuses).To(BeNumerically("<=", 3), "begun, done, and the power on the way")
	})
}

// TestACrowdIsToldLess counts the notes that may be written at once.
func TestACrowdIsToldLess(t *testing.T) {
	for name, c := range map[string]struct{ line, want int }{
		"nobody waits to begin": {0, notesBurst},
		"hosts wait to begin":   {1, notesBurst / noteInCrowd},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r := &Reconciler{notes: newNotes(), entrance: newGate(0)}
				r.entrance.open(func(types.NamespacedName) {})
				for n := range c.line {
					_, now := r.entrance.enter(types.NamespacedName{Name: fmt.Sprint(n)})
					g.Expect(now).To(BeFalse())
				}
				told := 0
				for p := (&pass{Reconciler: r}); told <= notesBurst; told++ {
					before := &metal3.BareMetalHost{}
					say(before, "deploying")
					p.saver, p.o.Host = reconcile.NewSaver(nil, before), before.DeepCopy()
					say(p.o.Host, "deploying, 10 %")
					if p.putOff() {
						break
					}
				}
				g.Expect(told).To(Equal(c.want))
			})
		})
	}
}
