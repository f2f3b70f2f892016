package host

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/pair"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// TestHostsInLineAreRetriedMoreAndMoreRarely has more hosts than there are places while
// the API server takes a second to refuse each write: the wait between two attempts of
// a host grows, also of one that has waited in line before its attempt.
func TestHostsInLineAreRetriedMoreAndMoreRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.mu.Lock()
		w.mayFail = true
		w.mu.Unlock()
		var refused atomic.Int32
		w.api.Intercept(func(r *http.Request) *kubeapi.Fault {
			if r.Method != http.MethodPatch {
				return nil
			}
			refused.Add(1)
			let(time.Second)
			return &kubeapi.Fault{Status: http.StatusInternalServerError, Text: "etcd does not answer"}
		})
		for n := 2; n <= manyHosts; n++ {
			w.another(fmt.Sprint("host-", n), fmt.Sprintf("52:54:00:00:00:%02x", n))
		}
		let(10 * time.Minute)
		// 5 ms, doubled each time, comes to ten minutes after 17 attempts.
		w.g.Expect(refused.Load()).To(BeNumerically("<=", 17*manyHosts))
		w.api.Intercept(w.seen)
		w.untilAll("available", 20*time.Minute, in(metal3.StateAvailable))
	})
}

// TestAnIronicThatHangsHoldsUpItsOwnHostsOnly has an Ironic that is alive, but whose
// conductor answers no request, as a broken message bus has it. A hundred hosts of it
// begin; one of another Ironic, which begins after them, is as fast as it is alone.
func TestAnIronicThatHangsHoldsUpItsOwnHostsOnly(t *testing.T) {
	alone := untilAvailableBeside(t, 0)
	NewWithT(t).Expect(untilAvailableBeside(t, 100)).To(BeNumerically("<=", alone+time.Second))
}

// untilAvailableBeside is how long a host takes to be available while others of a
// hanging Ironic begin.
func untilAvailableBeside(t *testing.T, others int) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set, sims := pair.Watched(t, simulator.Options{Delays: delays})
		sims["east"].Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodGet && slices.Contains([]string{"/v1/", "/v1/drivers", "/v1/nodes"}, r.URL.Path) {
				return nil
			}
			return &simulator.Fault{Delay: time.Hour}
		})
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Ironic: "west", names.Paused: ""}
		})
		defer func() { // a list of ports that is being read ends with its request only
			w.stop()
			let(ironic.DefaultTimeout)
		}()
		w.inEast(others)
		let(time.Second)
		w.unpause()
		took = w.untilState(metal3.StateAvailable, 2*time.Hour)
		t.Logf("available after %s beside %d hosts", took, others)
	})
	return took
}

// inEast creates hosts like the world's that belong to the Ironic east.
func (w *world) inEast(count int) {
	w.t.Helper()
	for n := range count {
		h := w.host()
		h.ObjectMeta = metav1.ObjectMeta{Namespace: w.key.Namespace, Name: fmt.Sprint("east-", n), Annotations: map[string]string{names.Ironic: "east"}}
		h.Spec.BootMACAddress = fmt.Sprintf("52:54:00:00:01:%02x", n)
		h.Spec.BMC.Address = fmt.Sprint("redfish-virtualmedia://bmc.test/redfish/v1/Systems/east-", n)
		w.g.Expect(w.kube.Create(w.t.Context(), h)).To(Succeed())
	}
}

// TestAPanicGivesThePlaceBack has the passes of many hosts end in panics for a while.
func TestAPanicGivesThePlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.mu.Lock()
		w.mayFail, w.panics = true, true
		w.mu.Unlock()
		for n := 2; n <= manyHosts; n++ {
			w.another(fmt.Sprint("host-", n), fmt.Sprintf("52:54:00:00:00:%02x", n))
		}
		let(time.Minute)
		w.mu.Lock()
		w.panics = false
		w.mu.Unlock()
		w.untilAll("available", 5*time.Minute, in(metal3.StateAvailable))
	})
}
