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

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// Values of reboot annotations.
const (
	forcedSoft = `{"force":true}`
	forcedHard = `{"mode":"hard","force":true}`
)

// TestForcedRebootAtRest: an annotation with force reboots a host that nothing runs
// on; it is done once, and goes. One without force is for hosts in use.
func TestForcedRebootAtRest(t *testing.T) {
	for name, c := range map[string]struct {
		value    string
		neverOff bool
		want     []string
		stays    bool
	}{
		"hard":                    {value: forcedHard, want: []string{"power off", "power on"}},
		"soft":                    {value: forcedSoft, want: []string{"soft power off", "power on"}},
		"must not be off":         {value: forcedHard, neverOff: true, want: []string{"rebooting"}},
		"without force":           {value: `{"mode":"hard"}`, stays: true},
		"empty":                   {value: "", stays: true},
		"no JSON, hence no force": {value: "force", stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var a asked
				w := newWorld(t, assisted(a.behave), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.DisablePowerOff = c.neverOff })
				defer w.stop()
				w.untilAtRest()
				a.since()
				w.annotate(names.Reboot, c.value)
				let(time.Hour)
				if c.want == nil {
					g.Expect(a.since()).To(BeEmpty())
				} else {
					g.Expect(a.since()).To(Equal(c.want))
				}
				h := w.host()
				_, there := h.Annotations[names.Reboot]
				g.Expect(there).To(Equal(c.stays))
				g.Expect(h.Annotations).NotTo(HaveKey(names.Rebooting))
				g.Expect(h.Status.PoweredOn).To(BeTrue())
				g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
			})
		})
	}
}

// TestForcedKeyHoldsAHostAtRestOff while its client leaves it there.
func TestForcedKeyHoldsAHostAtRestOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.annotate(names.Reboot+"/me", forcedHard)
		let(time.Hour)
		g.Expect(w.host().Status.PoweredOn).To(BeFalse())
		g.Expect(w.host().Annotations).To(HaveKey(names.Reboot + "/me"))
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Reboot+"/me") })
		w.until("on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
	})
}

// TestRebootsOfBeforeAnOperation: what was asked for before an inspection or a
// deployment begins neither starts it over nor reboots the machine after it. A key is its
// client's: it stays, and has the machine off once it is in use; with force it keeps the
// operation from being begun until its client takes it away.
func TestRebootsOfBeforeAnOperation(t *testing.T) {
	for name, c := range map[string]struct{ key, value string }{
		"forced":                  {names.Reboot, forcedHard},
		"not forced":              {names.Reboot, ""},
		"a client's key":          {names.Reboot + "/me", ""},
		"a client's key by force": {names.Reboot + "/me", forcedHard},
	} {
		keyed := c.key != names.Reboot
		annotated := func(h *metal3.BareMetalHost) {
			if h.Annotations == nil {
				h.Annotations = map[string]string{}
			}
			h.Annotations[c.key] = c.value
		}
		for when, scene := range map[string]func(*world){
			"while available": func(w *world) {
				w.untilAtRest()
				w.edit(annotated)
				let(time.Hour)
				w.edit(wantInstall)
			},
			"with the wish": func(w *world) {
				w.untilAtRest()
				w.edit(func(h *metal3.BareMetalHost) {
					annotated(h)
					wantInstall(h)
				})
			},
			"while cleaned before": func(w *world) {
				w.untilAtRest()
				w.edit(wantInstall)
				w.until("cleaning", time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return n.ProvisionState == "clean wait" && h.Status.Provisioning.State == metal3.StateProvisioning
				})
				w.edit(annotated)
			},
			"in another life": func(w *world) {
				w.edit(wantInstall)
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				w.edit(func(h *metal3.BareMetalHost) {
					annotated(h)
					h.Spec.CustomDeploy = nil
				})
				w.untilState(metal3.StateAvailable, 5*time.Minute)
				w.edit(wantInstall)
			},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := NewWithT(t)
					var a asked
					w := newWorld(t, assisted(a.behave), policy.Settings{}, nil)
					defer w.stop()
					scene(w)
					if keyed && c.value != "" {
						let(time.Hour)
						g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
						w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, c.key) })
					}
					w.untilState(metal3.StateProvisioned, 5*time.Minute)
					a.since()
					let(time.Hour)
					g.Expect(w.events.list()).NotTo(ContainElement("ForcedReboot"))
					if keyed && c.value == "" {
						g.Expect(w.host().Status.PoweredOn).To(BeFalse())
						g.Expect(w.host().Annotations).To(HaveKey(c.key))
						return
					}
					g.Expect(a.since()).To(BeEmpty(), "the machine is left alone after its deployment")
					h := w.host()
					g.Expect(h.Status.PoweredOn).To(BeTrue())
					g.Expect(h.Annotations).NotTo(HaveKey(c.key))
				})
			})
		}
		t.Run(name+", before the first inspection", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, annotated)
				defer w.stop()
				if keyed && c.value != "" {
					let(time.Hour)
					w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateInspecting))
					w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, c.key) })
				}
				w.untilState(metal3.StateAvailable, time.Minute)
				w.g.Expect(w.events.list()).NotTo(ContainElement("ForcedReboot"))
			})
		})
	}
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
