package image

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/kubeapi"
)

func TestOtherSettingsReachEveryImage(t *testing.T) {
	changed := make(chan struct{})
	w := newWorld(t, asked(), asked(func(i *metal3v1.PreprovisioningImage) { i.Namespace = "lab" }))
	w.r.options.Changed = changed
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[ctrl.Request]())
	t.Cleanup(q.ShutDown)
	w.Expect(w.r.followSettings(t.Context(), q)).To(Succeed())
	w.Expect(q.Len()).To(BeZero())
	changed <- struct{}{}
	w.Eventually(q.Len, "20s").Should(Equal(2))

	first := w.settled()
	w.Expect(w.settled().ResourceVersion).To(Equal(first.ResourceVersion), "an image that stays as it is costs no write")
}

// TestNewCardsReachTheImage: the static network of a host without a card for network boot is
// found by those that its inspection has shown, and nothing else would wake its image then.
func TestNewCardsReachTheImage(t *testing.T) {
	host := func(mac string, inspected ...string) client.Object {
		h := &metal3v1.BareMetalHost{Spec: metal3v1.BareMetalHostSpec{BootMACAddress: mac}}
		for n, nic := range inspected {
			if n == 0 {
				h.Status.HardwareDetails = &metal3v1.HardwareDetails{}
			}
			h.Status.HardwareDetails.NIC = append(h.Status.HardwareDetails.NIC, metal3v1.NIC{MAC: nic})
		}
		return h
	}
	for name, c := range map[string]struct {
		old, now client.Object
		want     bool
	}{
		"another card":     {host("02:00:00:00:00:01"), host("02:00:00:00:00:02"), true},
		"the same":         {host("02:00:00:00:00:01"), host("02:00:00:00:00:01"), false},
		"of another thing": {asked(), asked(), false},
		"an inspection":    {host(""), host("", "02:00:00:00:00:01", "02:00:00:00:00:02"), true},
		"a card more":      {host("", "02:00:00:00:00:01"), host("", "02:00:00:00:00:01", "02:00:00:00:00:02"), true},
		"another order":    {host("", "02:00:00:00:00:02", "02:00:00:00:00:01"), host("", "02:00:00:00:00:01", "02:00:00:00:00:02"), false},
		"the card for network boot is what the inspection shows": {host("02:00:00:00:00:01"), host("02:00:00:00:00:01", "02:00:00:00:00:01"), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(cardsChanged{}.Update(event.UpdateEvent{ObjectOld: c.old, ObjectNew: c.now})).To(Equal(c.want))
		})
	}
}

// TestAnImageGoesBeforeItsHostThatWaitsForIt: a host that is deleted with its dependents first
// stays until its image is gone. It lets go of the image, and only then of itself.
func TestAnImageGoesBeforeItsHostThatWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		scheme := w.kube.Scheme()
		api, err := kubeapi.New(scheme, &metal3v1.BareMetalHost{}, &metal3v1.PreprovisioningImage{}, &agentv1.InfraEnv{}, &agentv1.NMStateConfig{}, &corev1.Secret{}, &corev1.ConfigMap{})
		w.Expect(err).NotTo(HaveOccurred())
		kube, err := api.Client(scheme)
		w.Expect(err).NotTo(HaveOccurred())
		mgr, err := api.Manager(scheme, nil)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(Setup(mgr, w.r.options)).To(Succeed())
		stop, _ := kubeapi.Start(t, mgr)
		defer stop()
		drop := func(o client.Object, finalizer string) {
			w.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(o), o)).To(Succeed())
			o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == finalizer }))
			w.Expect(kube.Update(t.Context(), o)).To(Succeed())
			<-time.After(time.Minute)
		}

		image := asked()
		host := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{
			Namespace: image.Namespace, Name: image.Name, Finalizers: []string{names.HostFinalizer, metav1.FinalizerDeleteDependents},
		}}
		w.Expect(kube.Create(t.Context(), host)).To(Succeed())
		image.UID, image.Finalizers = "", []string{names.HostImageFinalizer}
		image.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(host, metal3v1.GroupVersion.WithKind("BareMetalHost"))}
		w.Expect(kube.Create(t.Context(), image)).To(Succeed())
		<-time.After(time.Minute)
		w.Expect(kube.Delete(t.Context(), host)).To(Succeed())
		w.Expect(kube.Delete(t.Context(), image)).To(Succeed())
		drop(image, names.HostImageFinalizer)
		w.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(image), image)).To(Succeed(), "its host may still boot it")
		drop(host, names.HostFinalizer)
		w.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(host), host)).To(Succeed(), "it waits for its image")
		w.Expect(apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(image), image))).To(BeTrue())
	})
}
