package host

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// TestAStatusThatArrivesWhileAHostIsHeldIsRestored: what is written of a held host is no status of its machine.
func TestAStatusThatArrivesWhileAHostIsHeldIsRestored(t *testing.T) {
	for name, lost := range map[string]bool{"with its node": false, "its node gone": true} {
		requests := 0
		if lost {
			requests = 2 // verified and adopted
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				raw, err := json.Marshal(w.host().Status)
				w.g.Expect(err).NotTo(HaveOccurred())
				w.madeAnew(map[string]string{names.Status: string(raw), names.Hold: ""})
				if lost {
					w.sim.Wipe()
				}
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				let(time.Hour)
				w.g.Expect(w.host().Annotations).To(HaveKey(names.Status))
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Hold) })
				if lost {
					w.enrolledAgain("power on")
				}
				let(time.Hour)
				h := w.host()
				w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateProvisioned), h.Status.ErrorMessage)
				w.g.Expect(h.Status.Provisioning.Image.URL).To(Equal("http://images.test/first.img"))
				w.g.Expect(h.Annotations).NotTo(HaveKey(names.Status))
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(requests))
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect(n.ProvisionState).To(Equal("active"))
			})
		})
	}
}

// TestAStatusIsStoredBeforeItsAnnotationGoes: a program that ends between the two would have the host be a new one.
func TestAStatusIsStoredBeforeItsAnnotationGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 10*time.Minute)
		let(time.Minute)
		raw, err := json.Marshal(w.host().Status)
		w.g.Expect(err).NotTo(HaveOccurred())
		w.madeAnew(map[string]string{names.Status: string(raw)})
		gone := false
		w.takeWrites(func(r *http.Request) bool { // all up to the one by which the annotation goes
			last := gone
			gone = gone || r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/baremetalhosts/"+w.key.Name)
			return r.Method != http.MethodPatch || !last
		})
		w.start(policy.Settings{})
		w.until("no annotation", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Annotations[names.Status] == "" })
		w.halt()
		w.takeWrites(func(*http.Request) bool { return true })
		w.start(policy.Settings{})
		let(time.Hour)
		h := w.host()
		w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateProvisioned), h.Status.ErrorMessage)
		w.g.Expect(h.Status.ErrorType).To(BeEmpty())
	})
}

// TestAMachineThatWasGivenBackSinceIsNotAdopted: its node is manageable, as one is that is to be adopted, and what the backup
// says to be on the machine is there no more.
func TestAMachineThatWasGivenBackSinceIsNotAdopted(t *testing.T) {
	for name, end := range map[string]func(*world){
		"given back once more": func(w *world) {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
			w.until("free", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
				return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorType == ""
			})
		},
		"kept": func(w *world) {
			n, _ := w.sim.Node("lab~host-1")
			extra, _ := n.Fields["extra"].(map[string]any)
			delete(extra, nodespec.KeyBegun)
			w.g.Expect(w.sim.Edit(n.UUID, map[string]any{"extra": extra})).To(BeTrue())
			w.annotate(names.Retry, "")
			w.until("adopted", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
				n, _ := w.sim.Node("lab~host-1")
				return n.ProvisionState == "active" && h.Status.ErrorType == ""
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.Online = true
					askFor("http://images.test/first.img")(h)
				})
				defer func() { w.stop() }()
				backup := w.backup(metal3.StateProvisioned)
				let(time.Minute)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				w.annotate(names.Inspect, "")
				w.until("inspected", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					_, asked := h.Annotations[names.Inspect]
					return !asked && h.Status.Provisioning.State == metal3.StateAvailable
				})
				let(time.Minute)
				w.halt()
				w.putBack(backup)
				w.sim.ResetCounts()
				w.start(policy.Settings{})
				let(time.Hour)
				h := w.host()
				w.g.Expect(condition(h, "Stalled").Reason).To(Equal("NodeNotActive"), h.Status.ErrorMessage)
				w.g.Expect(h.Status.ErrorMessage).To(And(ContainSubstring("was given back"), ContainSubstring("remove spec.image"), ContainSubstring(nodespec.KeyBegun)))
				w.g.Expect(h.Status.ErrorCount).To(Equal(1), "nothing is tried that could fail")
				w.g.Expect(condition(h, metal3.ReadyCondition).Status).To(BeEquivalentTo("False"))
				for _, request := range []string{"power", "provision"} {
					w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/"+request]).To(BeZero(), request)
				}
				end(w)
			})
		})
	}
}

// takeWrites has the API server take some requests, and no others.
func (w *world) takeWrites(taken func(*http.Request) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mayFail, w.refuse = true, func(r *http.Request) *kubeapi.Fault {
		if taken(r) {
			return nil
		}
		return &kubeapi.Fault{Status: http.StatusServiceUnavailable}
	}
}

// madeAnew ends the program, and has the host made anew without its status.
func (w *world) madeAnew(annotations map[string]string) {
	w.t.Helper()
	w.halt()
	old := w.host()
	old.Finalizers = nil
	w.g.Expect(w.kube.Update(w.t.Context(), old)).To(Succeed())
	w.g.Expect(w.kube.Delete(w.t.Context(), old)).To(Succeed())
	w.g.Expect(w.kube.Create(w.t.Context(), &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: old.Namespace, Name: old.Name, Annotations: annotations}, Spec: old.Spec,
	})).To(Succeed())
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

// arrivedWithoutStatus is a host that was deployed in another cluster, and has come with its metadata alone, to an Ironic that knows
// nothing of it. Its machine runs.
func arrivedWithoutStatus(t *testing.T, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
		askFor("http://images.test/first.img")(h)
		change(h)
	})
	w.untilState(metal3.StateProvisioned, 10*time.Minute)
	let(time.Minute)
	w.g.Expect(w.host().Annotations).To(HaveKeyWithValue(names.Deployed, Not(BeEmpty())))
	w.madeAnew(w.host().Annotations)
	w.sim.Wipe()
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	w.enrolledAgain("power on")
	return w
}

// TestADeployedHostThatArrivesWithoutStatusIsLeftAlone: tools that back up or move objects may leave the status out, by which alone
// it was known that the machine is in use. What is to become of it is for a person to say.
func TestADeployedHostThatArrivesWithoutStatusIsLeftAlone(t *testing.T) {
	first := "http://images.test/first.img"
	for name, c := range map[string]struct {
		change func(*metal3.BareMetalHost)
		then   func(w *world)
	}{
		"kept": {then: func(w *world) {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
			w.untilState(metal3.StateExternallyProvisioned, 10*time.Minute)
			let(time.Minute)
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = false })
			w.untilState(metal3.StateProvisioned, 10*time.Minute)
			let(time.Hour)
			w.g.Expect(w.host().Status.Provisioning.Image.URL).To(Equal(first))
			w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(2), "verified and adopted")
			w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
		}},
		"called free": {then: func(w *world) {
			w.annotate(names.Inspect, "")
			w.untilState(metal3.StateProvisioned, 10*time.Minute)
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
			w.untilState(metal3.StateAvailable, 10*time.Minute)
			let(time.Minute)
			w.g.Expect(w.host().Annotations).NotTo(HaveKey(names.Deployed), "it is gone, and a host without it is a new one")
		}},
		"its image taken away": {then: func(w *world) {
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
			let(time.Hour)
			w.untouched()
		}},
		"its node lost once more": {then: func(w *world) {
			w.sim.Wipe()
			w.enrolledAgain("power on")
			let(time.Hour)
			w.untouched()
		}},
		"inspection is disabled": {
			change: func(h *metal3.BareMetalHost) { h.Spec.InspectionMode = metal3.InspectionModeDisabled },
			then:   func(*world) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				change := func(*metal3.BareMetalHost) {}
				if c.change != nil {
					change = c.change
				}
				w := arrivedWithoutStatus(t, change)
				defer func() { w.stop() }()
				let(time.Hour)
				w.untouched()
				w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring(names.Deployed), ContainSubstring("set spec.externallyProvisioned"),
					ContainSubstring("what was deployed is what its spec asks for"), ContainSubstring(names.Inspect)))
				c.then(w)
			})
		})
	}
}

// untouched checks that nothing was asked for a machine but to verify its BMC, and that its host says why.
func (w *world) untouched() {
	w.t.Helper()
	w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"), w.host().Status.ErrorMessage)
	w.g.Expect(w.host().Annotations).To(HaveKey(names.Deployed))
	n, _ := w.sim.Node("lab~host-1")
	w.g.Expect(n.ProvisionState).To(Equal("manageable"))
	w.g.Expect(n.PowerState).To(Equal("power on"))
	w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
}

// TestAHostTellsWithoutItsStatusWhatWasDeployed: from before Ironic is asked until the machine was given back, also of a host that
// an earlier version has deployed, and that is at rest, detached or failing.
func TestAHostTellsWithoutItsStatusWhatWasDeployed(t *testing.T) {
	for name, before := range map[string]func(*world){
		"at rest": func(*world) {},
		"no Secret": func(w *world) {
			w.g.Expect(w.kube.Delete(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "bmc"}})).To(Succeed())
		},
		"detached": func(w *world) {
			w.annotate(names.Detached, "")
			w.until("detached", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
				return h.Status.OperationalStatus == metal3.OperationalStatusDetached
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.until("written down", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == metal3.StateProvisioning && h.Annotations[names.Deployed] != ""
				})
				digest := w.host().Annotations[names.Deployed]
				w.g.Expect(digest).To(Equal(nodespec.Wanted(w.host()).Digest()))
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				before(w)
				let(time.Hour)
				w.halt()
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Deployed) })
				w.start(policy.Settings{})
				let(time.Hour)
				w.g.Expect(w.host().Annotations).To(HaveKeyWithValue(names.Deployed, digest))
			})
		})
	}
}
