package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestABackupOfBeforeAHostHadAnotherMachine: by its status the former machine is free and on, and its node is of the other one.
// Whatever was done to the former machine since, nobody knows of it.
func TestABackupOfBeforeAHostHadAnotherMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		backup := w.host()
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = elsewhere; delete(h.Annotations, names.Detached) })
		let(10 * time.Minute)
		w.g.Expect(policy.RecordedMachine(&w.host().Status)).NotTo(Equal(policy.RecordedMachine(&backup.Status)))
		w.halt()
		w.putBack(backup)
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("of another node", time.Minute, func(*metal3.BareMetalHost) bool { return strings.Contains(w.events.said(), "NodeReplaced") })
		w.enrolledAgain("power on")
		let(time.Minute)
		w.edit(wantInstall)
		let(time.Hour)
		w.leftAlone("power on")
	})
}
