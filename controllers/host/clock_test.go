package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestTheHubsWordCountsAfterAClockWasAhead: by that clock, the node's last deployment began hours from now, and so the
// next one begins even later. The hub's word on it counts, and its word on one before does not.
func TestTheHubsWordCountsAfterAClockWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Deploy = 30 * time.Minute
		w := newWorld(t, o, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		w.halt()
		n, _ := w.sim.Node("lab~host-1")
		extra, _ := n.Fields["extra"].(map[string]any)
		extra["ironflow_begun"] = time.Now().Add(2 * time.Hour).UTC().Format(time.RFC3339)
		w.sim.Edit("lab~host-1", map[string]any{"extra": extra})
		w.start(policy.Settings{})
		w.edit(wantInstall)
		w.until("deploying", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "wait call-back"
		})
		w.g.Expect(w.host().Status.OperationHistory.Provision.Start.After(time.Now().Add(time.Hour))).To(BeTrue())
		w.report(policy.Progress{Stage: "error", Failure: "the one before", FailedAt: time.Now().Add(-time.Hour)})
		let(time.Minute)
		w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
		w.report(policy.Progress{Stage: "error", Failure: "cancelled by the user", FailedAt: time.Now()})
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.ProvisioningError })
		w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("cancelled by the user"))
	})
}
