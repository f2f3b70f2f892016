package host

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// manyHosts is how many hosts want the same at the same time.
const manyHosts = 12

// TestManyHostsAreWorkedOnInTurn takes more hosts than are let in at once through a
// life, with few workers and a place for two at work: whoever waits is woken when it
// is its turn.
func TestManyHostsAreWorkedOnInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Total: 2}}, nil)
		defer w.stop()
		for n := 2; n <= manyHosts; n++ {
			w.another(fmt.Sprint("host-", n), fmt.Sprintf("52:54:00:00:00:%02x", n))
		}
		// Two hosts at a time are inspected for some 6 s, and deployed or cleaned for some 11.
		w.untilAll("available", 2*time.Minute, in(metal3.StateAvailable))
		w.changeAll(wantInstall)
		w.untilAll("provisioned", 3*time.Minute, in(metal3.StateProvisioned))
		w.changeAll(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Reboot: ""} })
		w.untilAll("restarted", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.PoweredOn && !metav1.HasAnnotation(h.ObjectMeta, names.Reboot)
		})
		for _, h := range w.all() {
			w.g.Expect(w.kube.Delete(t.Context(), &h)).To(Succeed())
		}
		begin := time.Now()
		for len(w.all()) > 0 && time.Since(begin) < 3*time.Minute {
			let(time.Second)
		}
		w.g.Expect(w.all()).To(BeEmpty())
		w.g.Expect(w.sim.Nodes()).To(BeEmpty())
		let(time.Second) // the news of the last one
		w.mu.Lock()
		left := w.left
		w.mu.Unlock()
		for n := 1; n <= manyHosts; n++ { // nothing is kept of any
			key := types.NamespacedName{Namespace: lab.Namespace, Name: fmt.Sprint("host-", n)}
			w.g.Expect(left).To(ContainElement(key))
			w.g.Expect(w.rec.memories.Get(key)).To(BeZero())
			w.g.Expect(w.rec.schedule.Slots.Queue.Holds(key)).To(BeFalse())
		}
	})
}

func in(s policy.State) func(*metal3.BareMetalHost) bool {
	return func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == s && h.Status.PoweredOn }
}

// all are the hosts as they are stored.
func (w *world) all() []metal3.BareMetalHost {
	var list metal3.BareMetalHostList
	w.g.Expect(w.kube.List(w.t.Context(), &list)).To(Succeed())
	return list.Items
}

// changeAll edits all hosts, one right after the other.
func (w *world) changeAll(change func(*metal3.BareMetalHost)) {
	w.t.Helper()
	key := w.key
	for _, h := range w.all() {
		w.key.Name = h.Name
		w.edit(change)
	}
	w.key = key
}

// untilAll lets time pass until all hosts are as wanted.
func (w *world) untilAll(what string, limit time.Duration, ok func(*metal3.BareMetalHost) bool) {
	w.t.Helper()
	begin := time.Now()
	for {
		var others []string
		for _, h := range w.all() {
			if !ok(&h) {
				others = append(others, fmt.Sprintf("%s: %s, %s", h.Name, h.Status.Provisioning.State, condition(&h, metal3.ProgressingCondition).Message))
			}
		}
		if len(others) == 0 {
			return
		}
		if time.Since(begin) > limit {
			w.t.Fatalf("not %s after %s: %q", what, limit, others)
		}
		let(time.Second)
	}
}
