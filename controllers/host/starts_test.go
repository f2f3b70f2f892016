package host

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// TestAHostThatBeginsWaitsForAPlace asks for an installation while other hosts hold all
// places: the host waits for them, unless Ironic waits for it.
func TestAHostThatBeginsWaitsForAPlace(t *testing.T) {
	for name, urgent := range map[string]bool{"a host that begins": false, "a host whose machine waits": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer w.stop()
				w.untilAtRest()
				var others []func()
				for n := 0; ; n++ {
					done, now := w.rec.schedule.Start(t.Context(), types.NamespacedName{Namespace: "lab", Name: fmt.Sprint("other-", n)})
					if !now {
						break
					}
					others = append(others, done)
				}
				g.Expect(others).NotTo(BeEmpty())
				if urgent {
					w.rec.schedule.Hurry(w.key)
				}
				w.edit(wantInstall)
				let(time.Second)
				if urgent {
					g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
				} else {
					g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
				}
				for _, done := range others {
					done()
				}
				w.untilState(metal3.StateProvisioned, time.Minute)
			})
		})
	}
}

// TestAPassStartsFromWhatTheLastOneWrote provisions a host while the cache is behind for
// a while: the host waits for the cache, and no write is made from an old copy.
func TestAPassStartsFromWhatTheLastOneWrote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.mu.Lock()
		w.refuse = func(r *http.Request) *kubeapi.Fault { // nothing is: the first write of the host is not shown any more
			if r.Method == http.MethodPatch {
				w.api.Hold(&metal3.BareMetalHost{})
			}
			return nil
		}
		w.mu.Unlock()
		w.edit(wantInstall)
		let(20 * time.Second)
		w.mu.Lock()
		w.refuse = nil
		w.mu.Unlock()
		w.api.Show(&metal3.BareMetalHost{})
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(w.api.Counts()).NotTo(HaveKey(HavePrefix("409 ")))
	})
}
