package host

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// TestNobodyTouchesAHostThatIsKeptOff: neither its machine, nor the host, nor what belongs to it, until the
// annotation goes. Only a host on hold says so in its status.
func TestNobodyTouchesAHostThatIsKeptOff(t *testing.T) {
	for _, annotation := range []string{names.Paused, names.Hold} {
		for name, c := range map[string]struct {
			state  policy.State // that is waited for before the annotation is set, none for at once
			change func(w *world)
		}{
			"new": {policy.StateNone, func(*world) {}},
			"new credentials": {metal3.StateAvailable, func(w *world) {
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "bmc-2" })
			}},
			"another Secret of network data": {metal3.StateAvailable, func(w *world) {
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.PreprovisioningNetworkDataName = "bmc-2" })
			}},
			"to be given back": {metal3.StateProvisioned, func(w *world) {
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
			}},
			"to be deleted": {metal3.StateProvisioned, func(w *world) {
				w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
			}},
		} {
			t.Run(annotation+", "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := NewWithT(t)
					w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: name == "another Secret of network data"}}, func(h *metal3.BareMetalHost) {
						switch c.state {
						case policy.StateNone:
							h.Annotations = map[string]string{annotation: ""}
						case metal3.StateProvisioned:
							wantInstall(h)
						default:
						}
					})
					defer w.stop()
					g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
						ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "bmc-2"},
						Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("correct horse")},
					})).To(Succeed())
					if c.state != policy.StateNone {
						if w.rec.options.Settings.BuildImages {
							w.imageReady()
						}
						w.untilState(c.state, time.Minute)
						let(time.Minute)
						w.annotate(annotation, "")
						let(time.Minute)
					}
					let(time.Minute)
					w.sim.ResetCounts()
					c.change(w)
					before := w.belongings()
					statuses, _ := w.counted()
					let(time.Hour)
					let(time.Hour)
					g.Expect(w.belongings()).To(Equal(before))
					if c.state == policy.StateNone {
						g.Expect(w.host().Finalizers).To(BeEmpty())
						g.Expect(before).NotTo(ContainElement(ContainSubstring(names.SecretFinalizer)))
					}
					g.Expect(w.sim.Total("")-w.sim.Counts()["GET /v1/nodes"]).To(BeZero(), "the watch's own are for the whole fleet")
					if annotation == names.Paused {
						after, _ := w.counted()
						g.Expect(after).To(Equal(statuses))
					} else {
						g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("on hold"))
					}
					w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, annotation) })
					let(time.Minute)
					g.Expect(w.belongings()).NotTo(Equal(before), "then it goes on")
				})
			})
		}
	}
}

// imageReady has somebody build the host's live image.
func (w *world) imageReady() {
	w.until("image asked for", time.Minute, func(*metal3.BareMetalHost) bool {
		image := &metal3.PreprovisioningImage{}
		if w.kube.Get(w.t.Context(), w.key, image) != nil {
			return false
		}
		image.Status.ImageUrl, image.Status.Format, image.Status.Architecture = "http://images.test/host-1.iso", metal3.ImageFormatISO, image.Spec.Architecture
		meta.SetStatusCondition(&image.Status.Conditions, metav1.Condition{
			Type: string(metal3.ConditionImageReady), Status: metav1.ConditionTrue, Reason: "ImageSuccess", ObservedGeneration: image.Generation,
		})
		w.g.Expect(w.kube.Status().Update(w.t.Context(), image)).To(Succeed())
		return true
	})
}

// belongings are the host, without its status, and what belongs to it.
func (w *world) belongings() []string {
	var all []string
	note := func(obj client.Object) {
		if h, ok := obj.(*metal3.BareMetalHost); ok {
			h.Status = metal3.BareMetalHostStatus{}
			h.ResourceVersion = ""
		}
		raw, err := json.Marshal(obj)
		w.g.Expect(err).NotTo(HaveOccurred())
		all = append(all, string(raw))
	}
	if h := w.host(); h != nil {
		note(h)
	}
	for _, list := range []client.ObjectList{&corev1.SecretList{}, &metal3.PreprovisioningImageList{}, &metal3.HardwareDataList{}, &metal3.HostFirmwareSettingsList{}} {
		w.g.Expect(w.kube.List(w.t.Context(), list)).To(Succeed())
		w.g.Expect(meta.EachListItem(list, func(o runtime.Object) error {
			note(o.(client.Object))
			return nil
		})).To(Succeed())
	}
	return all
}
