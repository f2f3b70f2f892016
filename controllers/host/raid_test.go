package host

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// onRedfish is a host whose BMC sets up volumes.
func onRedfish(h *metal3.BareMetalHost) {
	h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
}

// noHardwareVolumes asks for all hardware volumes to be deleted.
func noHardwareVolumes(h *metal3.BareMetalHost) { h.Spec.RAID = noVolume.DeepCopy() }

// deletions is how often the machine's volumes were deleted.
func (w *world) deletions() int { return w.sim.Steps()["raid.delete_configuration"] }

// TestVolumesAreDeletedOnce: whatever is stored of the volumes before an empty list
// asks to delete them, that is done once, and not again for anything that has
// nothing to do with it.
func TestVolumesAreDeletedOnce(t *testing.T) {
	for name, stored := range map[string]*metal3.RAIDConfig{"no RAID is stored": nil, "null is stored": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, onRedfish)
				defer func() { w.stop() }()
				w.untilAtRest()
				h := w.host()
				h.Status.Provisioning.RAID = stored
				w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
				w.edit(noHardwareVolumes)
				let(10 * time.Minute)
				done := func(when string) {
					t.Helper()
					w.g.Expect(w.deletions()).To(Equal(1), when)
					h := w.host()
					w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable), when)
					w.g.Expect(h.Status.Provisioning.RAID).NotTo(BeNil(), when)
					w.g.Expect(h.Status.Provisioning.RAID.HardwareRAIDVolumes).To(And(BeEmpty(), Not(BeNil())), when)
				}
				done("as asked for")
				w.manyAnnotations()
				done("after unrelated annotations")
				w.stop()
				w.start(policy.Settings{})
				w.manyAnnotations()
				done("after a restart")
				for range 3 {
					w.edit(wantInstall)
					w.untilState(metal3.StateProvisioned, 10*time.Minute)
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
					w.untilState(metal3.StateAvailable, 10*time.Minute)
					let(5 * time.Minute)
					done("after a deployment")
				}
				w.manyAnnotations()
				done("after annotations that follow deployments")
			})
		})
	}
}

// TestSoftwareVolumesGiveWay: an empty list of hardware volumes in the place of
// software volumes deletes first these, then those, each once.
func TestSoftwareVolumesGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
			onRedfish(h)
			h.Spec.RAID = softRAID.DeepCopy()
		})
		defer func() { w.stop() }()
		w.untilAtRest()
		before := w.deletions()
		w.edit(noHardwareVolumes)
		let(10 * time.Minute)
		w.g.Expect(w.deletions() - before).To(Equal(2))
		w.manyAnnotations()
		h := w.host()
		w.g.Expect(w.deletions()-before).To(Equal(2), "after unrelated annotations")
		w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
		w.g.Expect(h.Status.Provisioning.RAID).To(Equal(noVolume))
	})
}

// manyAnnotations has somebody annotate the host again and again.
func (w *world) manyAnnotations() {
	for i := range 5 {
		w.annotate("example.com/note", fmt.Sprint(time.Now(), i))
		let(2 * time.Minute)
	}
}
