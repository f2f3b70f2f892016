package kubeapi_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/test/kubeapi"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// contract is what tests rely on, by name; each case has names of its own.
var contract = map[string]func(*WithT, *testing.T, client.WithWatch){
	"creation": creation, "generation": generation, "old copies": oldCopies, "finalizers": finalizers,
	"secrets": secrets, "labels": labels, "owners": owners,
}

func scheme(g *WithT) *runtime.Scheme {
	s := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(s)).To(Succeed())
	g.Expect(corev1.AddToScheme(s)).To(Succeed())
	return s
}

func TestInMemory(t *testing.T) {
	for name, run := range contract {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			api, err := kubeapi.New(scheme(g), &metal3.BareMetalHost{}, &corev1.Secret{})
			g.Expect(err).NotTo(HaveOccurred())
			kube, err := api.Client(scheme(g))
			g.Expect(err).NotTo(HaveOccurred())
			run(g, t, kube)
		})
	}
}

func TestOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	ctrl.SetLogger(logr.Discard())
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	kube, err := client.NewWithWatch(plane.Config(), client.Options{Scheme: scheme(g)})
	g.Expect(err).NotTo(HaveOccurred())
	for name, run := range contract {
		t.Run(name, func(t *testing.T) { run(NewWithT(t), t, kube) })
	}
}

func host(name string) *metal3.BareMetalHost {
	return &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// stored reads an object again.
func stored[T client.Object](g *WithT, t *testing.T, kube client.Client, o T) T {
	t.Helper()
	fresh, _ := o.DeepCopyObject().(T)
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(o), fresh)).To(Succeed())
	return fresh
}

func creation(g *WithT, t *testing.T, kube client.WithWatch) {
	h := host("created")
	h.UID, h.Generation, h.Status.ErrorCount = "mine", 7, 3
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	g.Expect(h.UID).NotTo(BeElementOf("", "mine"))
	g.Expect(h.Generation).To(Equal(int64(1)))
	g.Expect(h.CreationTimestamp.IsZero()).To(BeFalse())
	g.Expect(stored(g, t, kube, h).Status.ErrorCount).To(BeZero(), "a status is written by itself")
	g.Expect(apierrors.IsAlreadyExists(kube.Create(t.Context(), host("created")))).To(BeTrue())
	g.Expect(apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(host("missing")), host("")))).To(BeTrue())
}

func generation(g *WithT, t *testing.T, kube client.WithWatch) {
	h := host("grows")
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	h.Spec.Online = true
	g.Expect(kube.Update(t.Context(), h)).To(Succeed())
	g.Expect(h.Generation).To(Equal(int64(2)))
	h.Labels = map[string]string{"a": "b"}
	g.Expect(kube.Update(t.Context(), h)).To(Succeed())
	g.Expect(h.Generation).To(Equal(int64(2)))
	h.Status.OperationalStatus, h.Status.PoweredOn, h.Spec.Online = metal3.OperationalStatusOK, true, false
	g.Expect(kube.Status().Update(t.Context(), h)).To(Succeed())
	before := h.DeepCopy()
	h.Status.ErrorCount = 2
	g.Expect(kube.Status().Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
	h = stored(g, t, kube, h)
	g.Expect(h.Status.PoweredOn).To(BeTrue())
	g.Expect(h.Status.ErrorCount).To(Equal(2))
	g.Expect(h.Spec.Online).To(BeTrue(), "a part of its own")
	g.Expect(h.Generation).To(Equal(int64(2)))
	version := h.ResourceVersion
	g.Expect(kube.Update(t.Context(), h)).To(Succeed())
	g.Expect(h.ResourceVersion).To(Equal(version), "nothing has changed")
}

func oldCopies(g *WithT, t *testing.T, kube client.WithWatch) {
	h := host("old")
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	old := h.DeepCopy()
	h.Spec.Online = true
	g.Expect(kube.Update(t.Context(), h)).To(Succeed())
	g.Expect(apierrors.IsConflict(kube.Update(t.Context(), old))).To(BeTrue())
	changed := old.DeepCopy()
	changed.Annotations = map[string]string{"a": "b"}
	locked := client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
	g.Expect(apierrors.IsConflict(kube.Patch(t.Context(), changed.DeepCopy(), locked))).To(BeTrue())
	g.Expect(kube.Patch(t.Context(), changed, client.MergeFrom(old))).To(Succeed())
	g.Expect(apierrors.IsConflict(kube.Delete(t.Context(), h, client.Preconditions{UID: new(old.UID + "x")}))).To(BeTrue())
}

func finalizers(g *WithT, t *testing.T, kube client.WithWatch) {
	h := host("held")
	h.Finalizers = []string{"example.com/hold"}
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	g.Expect(kube.Delete(t.Context(), h)).To(Succeed())
	h = stored(g, t, kube, h)
	g.Expect(h.DeletionTimestamp.IsZero()).To(BeFalse())
	g.Expect(h.Generation).To(Equal(int64(2)), "it is another wish")
	more := h.DeepCopy()
	more.Finalizers = append(more.Finalizers, "example.com/more")
	g.Expect(apierrors.IsInvalid(kube.Patch(t.Context(), more, client.MergeFrom(h)))).To(BeTrue(), "no new finalizers can be added")
	before := h.DeepCopy()
	h.Finalizers = nil
	g.Expect(kube.Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
	g.Expect(apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(h), h))).To(BeTrue())
}

func secrets(g *WithT, t *testing.T, kube client.WithWatch) {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "texts", Finalizers: []string{"example.com/a"}}, StringData: map[string]string{"user": "admin"}}
	g.Expect(kube.Create(t.Context(), s)).To(Succeed())
	g.Expect(stored(g, t, kube, s).Data).To(Equal(map[string][]byte{"user": []byte("admin")}))
	s = stored(g, t, kube, s)
	before := s.DeepCopy()
	s.Finalizers = append(s.Finalizers, "example.com/b")
	g.Expect(kube.Patch(t.Context(), s, client.StrategicMergeFrom(before))).To(Succeed())
	g.Expect(stored(g, t, kube, s).Finalizers).To(ConsistOf("example.com/a", "example.com/b"))
	before = s.DeepCopy()
	s.Finalizers = []string{"example.com/b"}
	g.Expect(kube.Patch(t.Context(), s, client.StrategicMergeFrom(before))).To(Succeed())
	g.Expect(stored(g, t, kube, s).Finalizers).To(ConsistOf("example.com/b"))
}

// labels watches by label: objects come and go with theirs.
func labels(g *WithT, t *testing.T, kube client.WithWatch) {
	watching, err := kube.Watch(t.Context(), &metal3.BareMetalHostList{}, client.InNamespace("default"), client.MatchingLabels{"show": "yes"})
	g.Expect(err).NotTo(HaveOccurred())
	defer watching.Stop()
	h := host("labelled")
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	for _, value := range []string{"yes", "no"} {
		h.Labels = map[string]string{"show": value}
		g.Expect(kube.Update(t.Context(), h)).To(Succeed())
	}
	for _, want := range []watch.EventType{watch.Added, watch.Deleted} {
		event := <-watching.ResultChan()
		g.Expect(event.Type).To(Equal(want))
		g.Expect(event.Object).To(HaveField("Name", "labelled"))
	}
	var list metal3.BareMetalHostList
	g.Expect(kube.List(t.Context(), &list, client.MatchingLabels{"show": "no"})).To(Succeed())
	g.Expect(list.Items).To(ConsistOf(HaveField("Name", "labelled")))
}

// owners take with them what they alone own.
func owners(g *WithT, t *testing.T, kube client.WithWatch) {
	one, two := host("one"), host("two")
	g.Expect(kube.Create(t.Context(), one)).To(Succeed())
	g.Expect(kube.Create(t.Context(), two)).To(Succeed())
	owned := func(name string, by ...*metal3.BareMetalHost) *corev1.Secret {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		for _, h := range by {
			g.Expect(controllerutil.SetOwnerReference(h, s, kube.Scheme())).To(Succeed())
		}
		g.Expect(kube.Create(t.Context(), s)).To(Succeed())
		return s
	}
	alone, shared := owned("alone", one), owned("shared", one, two)
	g.Expect(kube.Delete(t.Context(), one)).To(Succeed())
	g.Eventually(func() bool {
		return apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(alone), &corev1.Secret{}))
	}, time.Minute, 100*time.Millisecond).Should(BeTrue())
	stored(g, t, kube, shared)
}
