package host

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
)

// TestARestartRepeatsNoRetry has a retry asked for that fails as well, and starts
// the program anew: the value was dealt with, another one counts.
func TestARestartRepeatsNoRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var broken atomic.Bool
		broken.Store(true)
		w := newWorld(t, assisted(failing(&broken, "inspect", "", "no carrier")), policy.Settings{}, nil)
		defer func() { w.stop() }()
		failed := func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.InspectionError }
		attempts := func() int { return w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"] }
		w.until("failed", time.Minute, failed)
		first := attempts()
		w.annotate(names.Retry, "1")
		let(20 * time.Second)
		g.Expect(failed(w.host())).To(BeTrue())
		g.Expect(attempts()).To(Equal(first+1), "it was tried again at once")
		g.Expect(condition(w.host(), "RetryAcknowledged").Message).To(ContainSubstring(`"1"`))

		w.stop()
		w.start(policy.Settings{})
		let(20 * time.Second)
		g.Expect(attempts()).To(Equal(first+1), "the new process knows that it was")
		w.annotate(names.Retry, "2")
		let(20 * time.Second)
		g.Expect(attempts()).To(Equal(first + 2))
	})
}
