package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// osImage asks for an image that is written to a disk.
func osImage(h *metal3.BareMetalHost) {
	h.Spec.Image = &metal3.Image{URL: "http://images/disk.raw", DiskFormat: new("raw"), Checksum: "abc", ChecksumType: metal3.SHA256}
}

// TestWishThatChangesInMidDeployment: a host shows what was deployed on it, whatever
// its spec says by then. Where that is another image or method, it is then given back
// and deployed as it says now; what is asked for besides changes nothing.
func TestWishThatChangesInMidDeployment(t *testing.T) {
	liveISO := func(h *metal3.BareMetalHost) {
		h.Spec.Image = &metal3.Image{URL: "http://images/live.iso", DiskFormat: new("live-iso")}
	}
	for name, c := range map[string]struct {
		first, then func(*metal3.BareMetalHost)
		image       string
		method      string
		stays       bool
	}{
		"a custom method is added to a live ISO": {first: liveISO, then: wantInstall, image: "http://images/live.iso", stays: true},
		"a custom method is added to an image":   {first: osImage, then: wantInstall, image: "http://images/disk.raw", stays: true},
		"an image is added to a custom method":   {first: wantInstall, then: osImage, method: names.StartAssistedInstall, stays: true},
		"another image":                          {first: liveISO, then: osImage, image: "http://images/live.iso"},
		"a custom method is removed": {first: func(h *metal3.BareMetalHost) {
			osImage(h)
			wantInstall(h)
		}, then: func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil }, image: "http://images/disk.raw", method: names.StartAssistedInstall},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer w.stop()
				w.untilAtRest()
				w.edit(c.first)
				first := w.host().Spec
				w.until("deploying", time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return h.Status.Provisioning.State == metal3.StateProvisioning && strings.HasPrefix(n.ProvisionState, "wait call")
				})
				w.edit(c.then)
				if c.stays {
					w.untilState(metal3.StateProvisioned, time.Minute)
				} else {
					w.untilState(metal3.StateDeprovisioning, time.Minute)
				}
				h := w.host()
				g.Expect(h.Status.Provisioning.Image.URL).To(Equal(c.image))
				g.Expect(nodespec.MethodOf(h.Status.Provisioning.CustomDeploy)).To(Equal(c.method))
				if c.image != "" {
					g.Expect(h.Status.Provisioning.Image).To(Equal(*first.Image))
				}
				if c.stays {
					let(time.Hour)
					g.Expect(w.host().Status.Provisioning).To(Equal(h.Status.Provisioning))
					return
				}
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				h = w.host()
				g.Expect(nodespec.MethodOf(h.Status.Provisioning.CustomDeploy)).To(Equal(nodespec.MethodOf(h.Spec.CustomDeploy)))
				if h.Spec.Image != nil {
					g.Expect(h.Status.Provisioning.Image).To(Equal(*h.Spec.Image))
				}
				let(time.Hour)
				g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned), "it stays")
			})
		})
	}
}

// TestAMethodBesideAnImageWipesNothing: a host that runs something is given back when another
// image or method is asked for than is there, not when one is asked for besides.
func TestAMethodBesideAnImageWipesNothing(t *testing.T) {
	for name, c := range map[string]struct{ before, after func(*metal3.BareMetalHost) }{
		"a method is added to a host with an image": {osImage, wantInstall},
		"an image is added to a host with a method": {wantInstall, osImage},
		"another checksum":                          {osImage, func(h *metal3.BareMetalHost) { h.Spec.Image.Checksum = "def" }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, c.before)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(time.Minute)
				w.edit(c.after)
				let(time.Hour)
				n, _ := w.sim.Node(w.host().Status.Provisioning.ID)
				w.g.Expect(n.ProvisionState).To(Equal("active"))
				w.g.Expect(w.events.list()).NotTo(ContainElement("DeprovisioningStarted"))
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image, h.Spec.CustomDeploy = nil, nil })
				w.untilState(metal3.StateAvailable, 5*time.Minute)
				let(time.Minute)
				n, _ = w.sim.Node(w.host().Status.Provisioning.ID)
				w.g.Expect(n.Fields["extra"]).NotTo(HaveKey("ironflow_wish"), "nothing is on the machine")
			})
		})
	}
}

// TestAWishThatIsTakenBackBeforeTheTearDownWipesNothing: somebody asks for another image by mistake, and for that of before
// again while the host waits to be given back.
func TestAWishThatIsTakenBackBeforeTheTearDownWipesNothing(t *testing.T) {
	locked := func(w *world, by any) { w.sim.Edit("lab~host-1", map[string]any{"reservation": by}) }
	for name, c := range map[string]struct {
		keep, while, let func(w *world, q *capacity.Queue, other types.NamespacedName)
	}{
		"in line": {
			keep: func(_ *world, q *capacity.Queue, other types.NamespacedName) { q.Hold(other, capacity.Place{}) },
			let:  func(_ *world, q *capacity.Queue, other types.NamespacedName) { q.Leave(other) },
		},
		"on hold": {
			keep:  func(_ *world, q *capacity.Queue, other types.NamespacedName) { q.Hold(other, capacity.Place{}) },
			while: func(w *world, _ *capacity.Queue, _ types.NamespacedName) { w.annotate(names.Hold, "") },
			let: func(w *world, q *capacity.Queue, other types.NamespacedName) {
				q.Leave(other)
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Hold) })
			},
		},
		"locked": {
			keep: func(w *world, _ *capacity.Queue, _ types.NamespacedName) { locked(w, "conductor-7") },
			let:  func(w *world, _ *capacity.Queue, _ types.NamespacedName) { locked(w, nil) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Total: 1}}, osImage)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(time.Minute)
				q, other := w.rec.schedule.Slots.Queue, types.NamespacedName{Namespace: "lab", Name: "other"}
				cleaned := w.sim.Steps()["deploy.erase_devices_metadata"]
				c.keep(w, q, other)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image.URL = "http://images/another.raw" })
				w.untilState(metal3.StateDeprovisioning, time.Minute)
				let(time.Minute)
				if c.while != nil {
					c.while(w, q, other)
					let(time.Minute)
				}
				w.edit(osImage)
				let(time.Minute)
				c.let(w, q, other)
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(24 * time.Hour)
				h := w.host()
				w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
				w.g.Expect(h.Status.Provisioning.Image).To(Equal(*h.Spec.Image))
				w.g.Expect(h.Status.OperationHistory.Deprovision).To(Equal(metal3.OperationMetric{}))
				w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(cleaned), "the machine is wiped")
				w.g.Expect(q.Holds(w.key)).To(BeFalse(), "nobody waits for it")
				w.g.Expect(w.events.list()).To(ContainElement("DeprovisioningCancelled"))
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
			})
		})
	}
}

// TestAFleetOfBaremetalOperatorThatHasBoth: hosts that it keeps as they are must not be
// wiped by taking them over.
func TestAFleetOfBaremetalOperatorThatHasBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Paused: ""}
			osImage(h)
			wantInstall(h) // set later, as an upgraded machine controller does
		})
		defer func() { w.stop() }()
		w.g.Expect(w.sim.Put(simulator.Seed{Fields: map[string]any{
			"uuid": "u1", "name": "lab~host-1", "driver": "redfish", "provision_state": "active", "power_state": "power on",
			"instance_info": map[string]any{"image_source": "http://images/disk.raw"},
		}, Ports: map[string]bool{ownMAC: true}})).To(Succeed())
		h := w.host()
		h.Status.Provisioning.Image = *h.Spec.Image
		h.Status.PoweredOn, h.Status.OperationalStatus = true, metal3.OperationalStatusOK
		w.setStatus(h, metal3.StateProvisioned, "u1")
		w.unpause()
		let(time.Hour)
		n, _ := w.sim.Node("u1")
		w.g.Expect(n.ProvisionState).To(Equal("active"))
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
		w.g.Expect(w.events.list()).NotTo(ContainElement("DeprovisioningStarted"))
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

// TestAHostThatIsOffByTheEndOfItsCleaningIsNotDeployed: spec.online goes while the machine is cleaned before its
// deployment.
func TestAHostThatIsOffByTheEndOfItsCleaningIsNotDeployed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		w.edit(wantInstall)
		w.until("cleaning", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "clean wait" && h.Status.Provisioning.State == metal3.StateProvisioning
		})
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = false })
		let(time.Hour)
		w.g.Expect(w.sim.Steps()["deploy.start_assisted_install"]).To(BeZero(), "a host that is to be off is deployed")
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
		w.g.Expect(w.host().Status.PoweredOn).To(BeFalse())
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true })
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
	})
}
