package host

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestALockThatLastsIsShown with its holder, though the node can be read all the time.
func TestALockThatLastsIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.until("on", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
		})
		let(time.Minute)
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/states/power") {
				return &simulator.Fault{Status: http.StatusConflict, Text: "Node host-1 is locked by host conductor-2, please retry after the current operation is completed."}
			}
			return nil
		})
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = false })
		let(5 * time.Second)
		w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).NotTo(ContainSubstring("conductor-2"), "short locks are everyday")
		let(time.Minute)
		w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(And(ContainSubstring("locked by host conductor-2"), ContainSubstring("waiting for whoever holds the node")))
	})
}
