package host

import (
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
)

func TestLiveImageIsAskedForAndUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, func(h *metal3.BareMetalHost) {
			wantInstall(h)
			h.Labels = map[string]string{"rack": "r1"}
		})
		defer w.stop()
		image := &metal3.PreprovisioningImage{}
		w.until("asked for", time.Minute, func(*metal3.BareMetalHost) bool { return w.kube.Get(t.Context(), w.key, image) == nil })
		g.Expect(image.Labels).To(HaveKeyWithValue("rack", "r1"))
		g.Expect(image.Spec.AcceptFormats).To(Equal([]metal3.ImageFormat{metal3.ImageFormatISO, metal3.ImageFormatInitRD}))
		g.Expect(metav1.IsControlledBy(image, w.host())).To(BeTrue())
		w.until("said", 5*time.Second, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(condition(h, metal3.ProgressingCondition).Message, "building the live image")
		})
		let(time.Hour)
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateInspecting), "nothing boots without it")

		set := func(condition metav1.Condition) {
			g.Expect(w.kube.Get(t.Context(), w.key, image)).To(Succeed())
			image.Status = metal3.PreprovisioningImageStatus{
				ImageUrl: "http://images/a.iso", Format: metal3.ImageFormatISO, Architecture: image.Spec.Architecture,
				Conditions: []metav1.Condition{condition},
			}
			g.Expect(w.kube.Status().Update(t.Context(), image)).To(Succeed())
		}
		set(metav1.Condition{Type: "Error", Status: metav1.ConditionTrue, Message: "no base image", ObservedGeneration: image.Generation})
		w.until("error shown", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("no base image"))
		set(metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: image.Generation})
		took := w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(took).To(BeNumerically("<", 30*time.Second), "a mended image needs no back-off")
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.Fields["driver_info"]).To(HaveKeyWithValue("deploy_iso", "http://images/a.iso"))
	})
}

// TestLabelsOfAHostReachItsImage: those that it gets and loses after its image was made, at work and at rest, and no
// others.
func TestLabelsOfAHostReachItsImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, func(h *metal3.BareMetalHost) {
			h.Labels = map[string]string{"rack": "r1", "row": "7"}
		})
		defer w.stop()
		image := func() *metal3.PreprovisioningImage {
			i := &metal3.PreprovisioningImage{}
			g.Expect(w.kube.Get(t.Context(), w.key, i)).To(Succeed())
			return i
		}
		set := func(labels map[string]string) {
			w.edit(func(h *metal3.BareMetalHost) { h.Labels = labels })
			let(time.Second)
		}
		w.until("asked for", time.Minute, func(*metal3.BareMetalHost) bool {
			return w.kube.Get(t.Context(), w.key, &metal3.PreprovisioningImage{}) == nil
		})
		spec := image().Spec
		set(map[string]string{"rack": "r2", "row": "7", names.InfraEnvLabel: "env-1"})
		g.Expect(image().Labels).To(Equal(map[string]string{"rack": "r2", "row": "7", names.InfraEnvLabel: "env-1"}))

		theirs := image()
		theirs.Labels["site"] = "a" // of somebody else
		g.Expect(w.kube.Update(t.Context(), theirs)).To(Succeed())
		w.imageReady()
		w.untilAtRest()
		set(map[string]string{"rack": "r2", names.InfraEnvLabel: "env-2"})
		g.Expect(image().Labels).To(Equal(map[string]string{"rack": "r2", names.InfraEnvLabel: "env-2", "site": "a"}))
		w.stop()
		w.start(policy.Settings{Settings: nodespec.Settings{BuildImages: true}})
		set(nil)
		g.Expect(image().Labels).To(Equal(map[string]string{"site": "a"}), "after a restart too")
		g.Expect(image().Annotations).NotTo(HaveKey(names.CopiedLabels))
		g.Expect(image().Spec).To(Equal(spec))

		version := image().ResourceVersion
		w.annotate("example.com/note", "")
		let(time.Minute)
		g.Expect(image().ResourceVersion).To(Equal(version), "nothing is written for nothing")
	})
}

// TestImagesOfBaremetalOperatorAreLeftAsTheyAre until the host's labels change: taking a fleet over writes nothing.
func TestImagesOfBaremetalOperatorAreLeftAsTheyAre(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"rack": "r1"}}}
	image := &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"rack": "r1", "old": "x"}}}
	g.Expect(nodespec.CopyLabels(h, image)).To(BeFalse())
	h.Labels["row"] = "7"
	g.Expect(nodespec.CopyLabels(h, image)).To(BeTrue())
	g.Expect(image.Labels).To(Equal(map[string]string{"rack": "r1", "old": "x", "row": "7"}))
	delete(h.Labels, "rack")
	g.Expect(nodespec.CopyLabels(h, image)).To(BeTrue())
	g.Expect(image.Labels).To(Equal(map[string]string{"old": "x", "row": "7"}), "from then on, it is known what was the host's")
}

// TestALiveImageThatSomebodyDeletesIsMadeAnew once nothing is to be expected of it any more.
func TestALiveImageThatSomebodyDeletesIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, nil)
		defer w.stop()
		image := &metal3.PreprovisioningImage{}
		w.until("asked for", time.Minute, func(*metal3.BareMetalHost) bool { return w.kube.Get(t.Context(), w.key, image) == nil })
		let(time.Second)
		image.Finalizers = append(image.Finalizers, names.ImageFinalizer) // of whoever builds it
		g.Expect(w.kube.Update(t.Context(), image)).To(Succeed())
		g.Expect(w.kube.Delete(t.Context(), image)).To(Succeed())
		let(time.Second)
		g.Expect(w.kube.Get(t.Context(), w.key, image)).To(Succeed())
		g.Expect(image.Finalizers).To(ConsistOf(names.ImageFinalizer), "the host has given it up")
		image.Finalizers = nil
		g.Expect(w.kube.Update(t.Context(), image)).To(Succeed())
		let(time.Second)
		anew := &metal3.PreprovisioningImage{}
		g.Expect(w.kube.Get(t.Context(), w.key, anew)).To(Succeed())
		g.Expect(anew.DeletionTimestamp).To(BeNil())
		w.imageReady()
		w.untilAtRest()
	})
}

// TestNetworkSecretsThatAHostAtRestHasNamedGoWithIt: it asks for no other image when it names
// another Secret, and nobody else takes the finalizer of the one before away.
func TestNetworkSecretsThatAHostAtRestHasNamedGoWithIt(t *testing.T) {
	for name, next := range map[string][]string{"another": {"net-2"}, "two more": {"net-2", "net-3"}, "none": {""}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, func(h *metal3.BareMetalHost) {
					h.Spec.PreprovisioningNetworkDataName = "net-1"
				})
				defer func() { w.stop() }()
				secrets := []string{"net-1", "net-2", "net-3"}
				for _, name := range secrets {
					w.g.Expect(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: name}})).To(Succeed())
				}
				image := &metal3.PreprovisioningImage{}
				w.until("asked for", time.Minute, func(*metal3.BareMetalHost) bool { return w.kube.Get(t.Context(), w.key, image) == nil })
				let(time.Second)
				w.g.Expect(w.kube.Get(t.Context(), w.key, image)).To(Succeed())
				image.Status = metal3.PreprovisioningImageStatus{
					ImageUrl: "http://images/a.iso", Format: metal3.ImageFormatISO, Architecture: image.Spec.Architecture,
					NetworkData: metal3.SecretStatus{Name: "net-1", Version: w.readSecret("net-1").ResourceVersion},
					Conditions:  []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, ObservedGeneration: image.Generation}},
				}
				w.g.Expect(w.kube.Status().Update(t.Context(), image)).To(Succeed())
				w.untilAtRest()
				for _, name := range next {
					w.edit(func(h *metal3.BareMetalHost) { h.Spec.PreprovisioningNetworkDataName = name })
					let(time.Minute)
				}
				w.g.Expect(w.readSecret("net-1").Finalizers).NotTo(BeEmpty(), "the image is still of it")
				w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
				w.until("gone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
				for _, name := range secrets {
					w.g.Expect(w.readSecret(name).Finalizers).To(BeEmpty(), name)
				}
			})
		})
	}
}
