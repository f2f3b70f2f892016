package host

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestABackupOfWhenAMachineWasWorkedOn touches nothing: the work has ended since, something is installed on the machine, be it
// on or off, and its node is gone, as with Ironic's database or by a detachment.
func TestABackupOfWhenAMachineWasWorkedOn(t *testing.T) {
	for state, at := range map[metal3.ProvisioningState]metal3.ProvisioningState{
		metal3.StateInspecting: metal3.StateInspecting, metal3.StatePreparing: metal3.StateInspecting,
		metal3.StateProvisioning: metal3.StateProvisioning, metal3.StateDeprovisioning: metal3.StateDeprovisioning,
	} {
		for name, c := range map[string]struct {
			power string
			holds map[string]string // the backup's annotations
			ends  func(*world)
			want  func(*metal3.BareMetalHost) bool
		}{
			"on, and what runs is kept":           {"power on", nil, keepWhatIsThere, isExternal},
			"off, and what is installed is kept":  {"power off", nil, keepWhatIsThere, isExternal},
			"on, and an inspection is asked for":  {"power on", nil, func(w *world) { w.annotate(names.Inspect, "") }, rests},
			"off, and an inspection is asked for": {"power off", nil, func(w *world) { w.annotate(names.Inspect, "") }, rests},
			"off, and another inspection than the backup asks for": {"power off", map[string]string{names.Inspect: ""}, func(w *world) {
				w.annotate(names.Retry, "somebody looks again, for whatever reason")
				let(time.Hour)
				w.leftAlone("power off")
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Inspect) })
				let(time.Minute)
				w.annotate(names.Inspect, "")
			}, rests},
			"off, called free without inspections": {"power off", nil, func(w *world) {
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.InspectionMode = metal3.InspectionModeDisabled })
				let(time.Hour)
				w.leftAlone("power off")
				w.annotate(names.Inspect, "")
			}, rests},
		} {
			t.Run(string(state)+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := restoredToWork(t, state, at, c.holds)
					defer func() { w.stop() }()
					w.enrolledAgain(c.power)
					let(time.Hour)
					w.leftAlone(c.power)
					w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("(" + string(state) + ")"))
					w.sim.Edit("lab~host-1", map[string]any{"power_state": "power off"})
					let(time.Hour)
					w.leftAlone("power off")
					w.sim.Edit("lab~host-1", map[string]any{"power_state": c.power})

					c.ends(w)
					w.until(name, 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" && c.want(h) })
					let(time.Minute)
					w.edit(func(h *metal3.BareMetalHost) {
						h.Spec.ExternallyProvisioned = false
						askFor("http://images.test/second.img")(h)
					})
					w.untilState(metal3.StateProvisioned, 10*time.Minute)
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
					w.untilState(metal3.StateAvailable, 10*time.Minute)
					n, _ := w.sim.Node("lab~host-1")
					w.g.Expect(n.Fields["extra"]).NotTo(HaveKey("ironflow_baseline"))
				})
			})
		}
	}
}

// restoredToWork is a host restored from a backup of when its machine was worked on, in an Ironic that has lost its database
// since: what is installed on the machine is of later.
func restoredToWork(t *testing.T, state, at metal3.ProvisioningState, holds map[string]string) *world {
	t.Helper()
	w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
		h.Spec.Online = true
		askFor("http://images.test/first.img")(h)
	})
	backup := w.backup(at)
	backup.Status.Provisioning.State = state // one is too short to be seen
	backup.Annotations = holds
	w.edit(askFor("http://images.test/second.img"))
	w.until("installed", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.Image.URL == "http://images.test/second.img"
	})
	w.halt()
	w.putBack(backup)
	w.sim.Wipe()
	w.sim.ResetCounts()
	refused := false
	w.sim.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method != http.MethodPost || refused {
			return nil
		}
		refused = true // that a host without a node was looked at proves nothing
		return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "No valid service found"}
	})
	w.start(policy.Settings{})
	return w
}

// TestWhatIsSaidToBeKeptOutlivesItsHost: a host of a backup of when its machine was deployed is left alone; somebody says
// that what is on it is to be kept, and deletes the host at once.
func TestWhatIsSaidToBeKeptOutlivesItsHost(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateProvisioning, metal3.StateDeprovisioning} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restoredToWork(t, state, state, nil)
				defer func() { w.stop() }()
				w.enrolledAgain("power on")
				let(time.Hour)
				w.leftAlone("power on")
				cleaned := w.sim.Steps()["deploy.erase_devices_metadata"]
				keepWhatIsThere(w)
				w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
				let(time.Hour)
				w.g.Expect(w.host()).To(BeNil())
				w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(cleaned), "the machine is cleaned")
			})
		})
	}
}

// TestWhatMayBeInstalledIsNotCleanedWithItsHost: a host that is left alone is deleted, and nobody has called its machine free. Who does so
// before has it cleaned.
func TestWhatMayBeInstalledIsNotCleanedWithItsHost(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateInspecting, metal3.StateProvisioning, metal3.StateDeprovisioning} {
		for name, free := range map[string]bool{"left alone": false, "called free": true} {
			t.Run(string(state)+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := restoredToWork(t, state, state, nil)
					defer func() { w.stop() }()
					w.enrolledAgain("power on")
					let(time.Hour)
					w.leftAlone("power on")
					cleaned := w.sim.Steps()["deploy.erase_devices_metadata"]
					if free {
						w.annotate(names.Inspect, "")
						w.until("free", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == "" })
					}
					w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
					let(time.Hour)
					w.g.Expect(w.host()).To(BeNil())
					w.g.Expect(w.sim.Nodes()).To(BeEmpty())
					if free {
						w.g.Expect(w.events.list()).NotTo(ContainElement("DeletedWithoutDeprovisioning"))
						return
					}
					w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(cleaned), "the machine is cleaned")
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(Equal(1), "it is switched off")
				})
			})
		}
	}
}

func keepWhatIsThere(w *world) {
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
}

func isExternal(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateExternallyProvisioned
}

// rests reports a host that has come to an end of its work.
func rests(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateProvisioned || h.Status.Provisioning.State == metal3.StateAvailable
}

// TestWorkGoesOnThoughTheDatabaseIsLost: who has seen the machine worked on needs nobody to say that it is free, also where
// the status cannot name the new node at once.
func TestWorkGoesOnThoughTheDatabaseIsLost(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateInspecting, metal3.StateProvisioning, metal3.StateDeprovisioning} {
		for name, lose := range map[string]func(*world){
			"and that is stored":        func(w *world) { w.sim.Wipe(); w.enrolledAgain("power on") },
			"and that cannot be stored": loseUnheard,
		} {
			t.Run(string(state)+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
						h.Spec.Online = true
						askFor("http://images.test/first.img")(h)
					})
					defer func() { w.stop() }()
					if state == metal3.StateDeprovisioning {
						w.untilState(metal3.StateProvisioned, 10*time.Minute)
						w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
					}
					w.untilState(state, 10*time.Minute)
					let(time.Second)
					w.g.Expect(w.host().Status.Provisioning.State).To(Equal(state))
					lose(w)
					w.until("the end", 10*time.Minute, rests)
					w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
				})
			})
		}
	}
}

// loseUnheard loses Ironic's database while the API server takes no status: the id of the new node cannot be stored at once.
func loseUnheard(w *world) {
	w.takeStatuses(false)
	w.sim.Wipe()
	w.until("enrolled", 10*time.Minute, func(*metal3.BareMetalHost) bool { return len(w.sim.Nodes()) == 1 })
	let(time.Minute)
	w.takeStatuses(true)
}

// TestWorkGoesOnThoughItsEndIsNotStored: it ends while the API server takes no status, and Ironic's database is lost then. The
// status that is stored is no older than what this process has seen. Only what was installed meanwhile is left alone.
func TestWorkGoesOnThoughItsEndIsNotStored(t *testing.T) {
	for state, ended := range map[metal3.ProvisioningState]string{metal3.StateDeprovisioning: "available", metal3.StateProvisioning: "active"} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				if state == metal3.StateDeprovisioning {
					w.untilState(metal3.StateProvisioned, 10*time.Minute)
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				}
				w.untilState(state, 10*time.Minute)
				let(time.Second)
				w.takeStatuses(false)
				w.until("at its end", time.Minute, func(*metal3.BareMetalHost) bool {
					n, _ := w.sim.Node("lab~host-1")
					return n.ProvisionState == ended
				})
				let(time.Minute)
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(state))
				w.sim.Wipe()
				w.takeStatuses(true)
				if state == metal3.StateProvisioning {
					let(time.Hour)
					w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
					return
				}
				w.untilState(metal3.StateAvailable, time.Hour)
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			})
		})
	}
}

// takeStatuses has the API server take statuses, or not.
func (w *world) takeStatuses(taken bool) {
	w.takeWrites(func(r *http.Request) bool {
		return taken || r.Method != http.MethodPatch || !strings.HasSuffix(r.URL.Path, "/status")
	})
}

// TestWhatIsSaidToBeKeptBeforeIsKept: somebody says so of a machine that was worked on before the program has had a look at it,
// as who restores a backup may do as a precaution.
func TestWhatIsSaidToBeKeptBeforeIsKept(t *testing.T) {
	for state, at := range map[metal3.ProvisioningState]metal3.ProvisioningState{
		metal3.StateRegistering: metal3.StateInspecting,
		metal3.StateInspecting:  metal3.StateInspecting, metal3.StatePreparing: metal3.StateInspecting,
		metal3.StateProvisioning: metal3.StateProvisioning, metal3.StateDeprovisioning: metal3.StateDeprovisioning,
	} {
		t.Run(string(state), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				backup := w.backup(at)
				backup.Status.Provisioning.State = state
				w.edit(askFor("http://images.test/second.img"))
				w.until("installed", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.Image.URL == "http://images.test/second.img"
				})
				w.halt()
				backup.Spec.ExternallyProvisioned = true
				w.putBack(backup)
				w.sim.Wipe()
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				w.enrolledAgain("power on")
				let(time.Hour)
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateExternallyProvisioned), "%s", w.host().Status.ErrorMessage)
				w.g.Expect(n.ProvisionState).To(Equal("active"))
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(2), "verified and adopted")
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
			})
		})
	}
}
