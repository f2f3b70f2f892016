package host

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestKilledAtEveryRequest kills the controller at each of its requests to
// Ironic in turn, before it is handled and before the answer arrives, and starts
// a new one that remembers nothing. Each life must come to the same end: one
// node, nothing asked for that the spec does not ask for, no phase left out.
func TestKilledAtEveryRequest(t *testing.T) {
	for _, handled := range []bool{false, true} {
		name := "before it is handled"
		if handled {
			name = "before its answer"
		}
		t.Run(name, func(t *testing.T) {
			step := int32(1)
			if testing.Short() {
				step = 7
			}
			for n := int32(1); ; n += step {
				if !killedLife(t, n, handled) {
					NewWithT(t).Expect(n).To(BeNumerically(">", 25), "a life takes more requests than that")
					return
				}
			}
		})
	}
}

// killedLife takes a host from creation to its end, killing the controller at
// its n-th request; false when there were fewer requests.
func killedLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = simulator.Delays{Verify: time.Second, Inspect: time.Second, Clean: time.Second, Deploy: time.Second, Power: time.Second}
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		var seen atomic.Int32
		var calls []string
		die := make(chan struct{}, 1)
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodGet && (strings.HasSuffix(r.URL.Path, "/v1/nodes") || strings.HasSuffix(r.URL.Path, "/v1/")) {
				return nil // the watch's own
			}
			if r.Method != http.MethodGet {
				calls = append(calls, r.Method+" "+r.URL.Path)
			}
			if seen.Add(1) != n {
				return nil
			}
			die <- struct{}{}
			return &simulator.Fault{Cut: true, AfterHandling: handled}
		})
		go func() {
			select {
			case <-die:
				w.stop()
				w.start(policy.Settings{})
			case <-t.Context().Done():
			}
		}()
		limit := 5 * time.Minute
		w.untilState(metal3.StateProvisioned, limit)
		g.Expect(w.sim.Nodes()).To(HaveLen(1), "killed at request %d", n)
		g.Expect(w.host().Status.ErrorCount).To(BeZero(), "killed at request %d: %v", n, w.events.list())
		g.Expect(count1(calls, "DELETE")).To(BeZero())
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.untilState(metal3.StateAvailable, limit)
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("gone", limit, func(h *metal3.BareMetalHost) bool { return h == nil })
		g.Expect(w.sim.Nodes()).To(BeEmpty(), "killed at request %d", n)
		killed = seen.Load() >= n
	})
	return killed
}

func count1(list []string, prefix string) int {
	n := 0
	for _, s := range list {
		if strings.HasPrefix(s, prefix) {
			n++
		}
	}
	return n
}

// TestInspectionThatEndedWhileNobodyLooked is not made again: the node says when
// its inspection ended, and that is after it was asked for.
func TestInspectionThatEndedWhileNobodyLooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilState(metal3.StateAvailable, time.Minute)
		let(time.Minute)
		asked := make(chan struct{}, 1)
		inspections := 0
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/states/provision") {
				return nil
			}
			inspections++
			if inspections > 1 {
				return nil
			}
			asked <- struct{}{}
			return &simulator.Fault{Cut: true, AfterHandling: true}
		})
		w.annotate(names.Inspect, "")
		<-asked
		w.stop()
		let(time.Minute)
		g.Expect(w.host().Annotations).To(HaveKey(names.Inspect))
		w.start(policy.Settings{})
		w.until("answered", time.Minute, func(h *metal3.BareMetalHost) bool {
			_, wanted := h.Annotations[names.Inspect]
			return !wanted && h.Status.Provisioning.State == metal3.StateAvailable
		})
		g.Expect(inspections).To(Equal(1))
	})
}
