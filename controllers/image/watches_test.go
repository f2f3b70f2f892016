package image

import (
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
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

func TestANewBootCardReachesTheImage(t *testing.T) {
	host := func(mac string) client.Object {
		return &metal3v1.BareMetalHost{Spec: metal3v1.BareMetalHostSpec{BootMACAddress: mac}}
	}
	for name, c := range map[string]struct {
		old, now client.Object
		want     bool
	}{
		"another card":     {host("02:00:00:00:00:01"), host("02:00:00:00:00:02"), true},
		"the same":         {host("02:00:00:00:00:01"), host("02:00:00:00:00:01"), false},
		"of another thing": {asked(), asked(), false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(bootCardChanged{}.Update(event.UpdateEvent{ObjectOld: c.old, ObjectNew: c.now})).To(Equal(c.want))
		})
	}
}
