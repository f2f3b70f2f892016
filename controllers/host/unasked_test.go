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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestALookAtThePowerDoesNotSwitchOffWhatMayBeInUse: a machine whose node is gone was off when it was enrolled again,
// and comes on by itself, as after a loss of mains. Its BMC tells. Ironic, which has it as off, would switch it off
// if it were asked for that: such a look is none.
func TestALookAtThePowerDoesNotSwitchOffWhatMayBeInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &ears{}
		w := newWorldWith(t, assisted(nil), Options{Events: told}, func(h *metal3.BareMetalHost) { h.Spec.Online = false })
		defer func() { w.stop() }()
		w.untilState(metal3.StateAvailable, time.Minute)
		let(time.Minute)
		backup := w.host()
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.Online = true
			wantInstall(h)
		})
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		w.halt()
		w.putBack(backup)
		w.sim.Wipe()
		w.sim.ResetCounts()
		w.start(policy.Settings{})
		w.until("enrolled", time.Minute, func(*metal3.BareMetalHost) bool { _, found := w.sim.Node("lab~host-1"); return found })
		let(10 * time.Minute)
		n, _ := w.sim.Node("lab~host-1")
		w.g.Expect(n.Fields["extra"]).To(HaveKeyWithValue("ironflow_baseline", "unknown"), "nobody can tell what is on it")
		w.g.Expect(w.sim.Counts()[putPower]).To(BeZero())

		told.tell(lab, true) // the mains are back, and the machine is on
		let(30 * time.Second)
		w.g.Expect(w.sim.Counts()[putPower]).To(BeZero(), "Ironic is asked to have it off")
		w.sim.Edit("lab~host-1", map[string]any{"power_state": "power on"})
		let(time.Hour)
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
		w.g.Expect(w.sim.Counts()[putPower]).To(BeZero())
	})
}

// TestAKeyThatComesBeforeServicingKeepsAMachineOff: a client fences a machine that is off within a reboot, as
// servicing is about to be asked for, which would boot it, and at its end the system on it.
func TestAKeyThatComesBeforeServicingKeepsAMachineOff(t *testing.T) {
	for name, value := range map[string]string{"key": "", "key with force": forcedHard} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := workingWorld(t, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				let(time.Minute)
				w.allowServicing()
				w.wish()
				var fenced, serviced atomic.Bool
				var until time.Time // when the node is unlocked: what the client has written is known by then
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					switch {
					case r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, "/states/provision"):
						serviced.Store(serviced.Load() || fenced.Load())
					case r.Method == http.MethodPatch && w.host().Status.OperationalStatus == metal3.OperationalStatusServicing && (!fenced.Load() || time.Now().Before(until)):
						if fenced.CompareAndSwap(false, true) {
							until = time.Now().Add(10 * time.Second)
							w.annotate(names.Reboot+"/fence", value)
						}
						return &simulator.Fault{Status: http.StatusConflict, Text: "Node is locked by host conductor-1, please retry after the current operation is completed."}
					}
					return nil
				})
				w.annotate(names.Reboot, "")
				w.until("fenced", 5*time.Minute, func(*metal3.BareMetalHost) bool { return fenced.Load() })
				let(time.Hour)
				w.g.Expect(serviced.Load()).To(BeFalse(), "the machine is booted while a client has it off")
				w.g.Expect(w.host().Status.PoweredOn).To(BeFalse())
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Reboot+"/fence") })
				w.until("on again", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
			})
		})
	}
}

// TestAHostThatIsAttachedAtTheBMCOfAnother: an installed host is detached, as who changes the address of its BMC is told
// to, is given that of another installed host by mistake, and attached. The machine there is the other one's, which has
// its node there all along: it is not switched off by the spec of the first one, and not given back by its deletion.
func TestAHostThatIsAttachedAtTheBMCOfAnother(t *testing.T) {
	for name, c := range map[string]struct {
		online bool
		ends   func(w *world)
	}{
		"it is to be off": {ends: func(*world) {}},
		"it is deleted": {online: true, ends: func(w *world) {
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				first := w.twin("redfish-virtualmedia://bmc.test/redfish/v1/Systems/2")
				w.edit(wantInstall)
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				w.annotate(names.Detached, "")
				w.until("detached", time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.OperationalStatus == metal3.OperationalStatusDetached
				})
				let(time.Minute)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online, h.Spec.BMC.Address = c.online, first.Spec.BMC.Address })
				cleaned := w.sim.Steps()["deploy.erase_devices_metadata"]
				w.sim.ResetCounts()
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
				let(time.Minute)
				w.sim.Edit("lab~host-2", map[string]any{"power_state": "power on"}) // as that BMC shows
				let(10 * time.Minute)
				c.ends(w)
				let(time.Hour)
				w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(cleaned), "the machine of the other host is cleaned")
				w.g.Expect(w.sim.Counts()[putPower]).To(BeZero(), "the machine of the other host is switched")
				if h := w.host(); h != nil {
					w.g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("lab/host-1"), "it says why")
				}
			})
		})
	}
}

// TestAHostThatIsDeletedForAMoveIsElsewhere: clusterctl takes the finalizers off what it has moved and deletes it, with an
// annotation that says so. One that was put back in between is no wish to have the machine cleaned.
func TestAHostThatIsDeletedForAMoveIsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Minute)
		w.sim.ResetCounts()
		w.edit(func(h *metal3.BareMetalHost) {
			metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.DeleteForMove, "")
			h.Finalizers = nil
		})
		let(time.Second)
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(time.Hour)
		w.g.Expect(w.host()).To(BeNil())
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(BeZero(), "the machine is cleaned")
		w.runs()
	})
}

// TestCleaningThatIsDisabledBeforeADeploymentIsEndedIsNotDone: somebody ends a deployment that waits for its machine, and
// says in the same edit that its disks are not to be cleaned.
func TestCleaningThatIsDisabledBeforeADeploymentIsEndedIsNotDone(t *testing.T) {
	for name, ends := range map[string]func(w *world){
		"the image goes": func(w *world) {
			w.edit(func(h *metal3.BareMetalHost) {
				h.Spec.AutomatedCleaningMode, h.Spec.CustomDeploy = metal3.CleaningModeDisabled, nil
			})
		},
		"the host goes": func(w *world) {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.AutomatedCleaningMode = metal3.CleaningModeDisabled })
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Deploy = 10 * time.Minute
				w := newWorld(t, o, policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.until("deploying", time.Minute, func(*metal3.BareMetalHost) bool {
					n, _ := w.sim.Node("lab~host-1")
					return n.ProvisionState == "wait call-back"
				})
				before := w.sim.Steps()["deploy.erase_devices_metadata"]
				ends(w)
				w.until("ended", 30*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h == nil || h.Status.Provisioning.State == metal3.StateAvailable
				})
				w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(before), "the disks are cleaned though that is disabled")
			})
		})
	}
}

// TestAHeldHostKeepsItsPorts: another host with a card of the same address is none of its business.
func TestAHeldHostKeepsItsPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{Inventory: shareACard}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		w.annotate(names.Hold, "")
		let(time.Minute)
		before := w.portsInIronic()
		first := w.key
		w.key = w.another("host-2", otherMAC)
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.key = first
		w.g.Expect(w.portsInIronic()).To(Equal(before), "nothing is asked of Ironic that concerns a host on hold")
	})
}
