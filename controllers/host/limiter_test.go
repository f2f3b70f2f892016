package host

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
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
		for n := 2; n <= crowd; n++ {
			w.another(fmt.Sprint("host-", n), fmt.Sprintf("52:54:00:00:00:%02x", n))
		}
		let(10 * time.Minute)
		// 5 ms, doubled each time, comes to ten minutes after 17 attempts.
		w.g.Expect(refused.Load()).To(BeNumerically("<=", 17*crowd))
		w.api.Intercept(w.seen)
		w.untilAll("available", 20*time.Minute, in(metal3.StateAvailable))
	})
}
