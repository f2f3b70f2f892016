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
)

// TestANodeThatHoldsAnInstanceTellsMoreThanItsRecord: the status is of before the node. Who does what the host then asks for, and
// undeploys the node in Ironic, is asked for nothing else.
func TestANodeThatHoldsAnInstanceTellsMoreThanItsRecord(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateInspecting, metal3.StateAvailable} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.Online = false })
				defer func() { w.stop() }()
				backup := w.backup(state)
				w.edit(func(h *metal3.BareMetalHost) {
					h.Spec.Online = true
					askFor("http://images.test/first.img")(h)
				})
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				w.sim.Wipe()
				w.enrolledAgain("power on")
				let(time.Hour)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil }) // what is recorded of the new node goes
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				w.edit(askFor("http://images.test/second.img"))
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				w.halt()
				w.putBack(backup)
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				let(time.Hour)
				h := w.host()
				w.g.Expect(condition(h, "Stalled").Reason).To(Equal("UnknownInstance"), h.Status.ErrorMessage)
				w.runs()

				w.undeploy("lab~host-1")
				w.until("free", time.Hour, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorType == ""
				})
			})
		})
	}
}

// undeploy is what somebody asks of Ironic.
func (w *world) undeploy(node string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPut, "http://ironic.test/v1/nodes/"+node+"/states/provision", strings.NewReader(`{"target":"deleted"}`))
	w.g.Expect(err).NotTo(HaveOccurred())
	r.Header.Set("X-Openstack-Ironic-Api-Version", "1.90")
	r.Header.Set("Content-Type", "application/json")
	a, err := w.sim.Transport().RoundTrip(r)
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(a.Body.Close()).To(Succeed())
	w.g.Expect(a.StatusCode).To(Equal(http.StatusAccepted))
}

// TestAStatusOfBeforeANodeThatIronicWorksOn waits until Ironic takes an update, without asking it all the time; the deletion
// of the host needs none.
func TestAStatusOfBeforeANodeThatIronicWorksOn(t *testing.T) {
	for name, deleted := range map[string]bool{"that is deleted": true, "that is kept": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				backup := w.backup(metal3.StateProvisioning)
				w.sim.Wipe()
				w.enrolledAgain("power on")
				let(time.Hour)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				w.edit(askFor("http://images.test/second.img"))
				w.until("being deployed", time.Hour, func(*metal3.BareMetalHost) bool {
					n, _ := w.sim.Node("lab~host-1")
					return n.ProvisionState == "wait call-back"
				})
				w.sim.LoseAgent("lab~host-1", true)
				w.halt()
				w.putBack(backup)
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				if deleted {
					w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
					w.until("torn down", time.Minute, func(*metal3.BareMetalHost) bool {
						n, _ := w.sim.Node("lab~host-1")
						return n.ProvisionState != "wait call-back"
					})
					w.sim.LoseAgent("lab~host-1", false)
					w.until("gone", time.Hour, func(h *metal3.BareMetalHost) bool { return h == nil })
					return
				}
				let(10 * time.Minute)
				w.g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(BeZero())
				w.g.Expect(w.sim.Counts()["GET /v1/nodes/{node}"]).To(BeNumerically("<", 60))
				w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("wait call-back"))
				w.sim.LoseAgent("lab~host-1", false) // the deployment fails
				let(time.Hour)
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero())
			})
		})
	}
}
