package bmcrotation

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// TestOnlyHostsWithSomethingToBeDoneHavePasses: most hosts of a fleet have no password and
// no certificate that is to be changed, and what happens to them costs nothing here.
func TestOnlyHostsWithSomethingToBeDoneHavePasses(t *testing.T) {
	annotated := func(name string) func(*world, *loop) {
		return func(w *world, _ *loop) {
			w.change(key.Name, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{name: "1"} })
		}
	}
	for name, c := range map[string]struct {
		every                 time.Duration
		change                func(w *world, l *loop)
		password, certificate bool
	}{
		"nothing is asked of it":        {},
		"another password":              {change: annotated(names.RotateCredentials), password: true},
		"another certificate":           {change: annotated(names.ReplaceCertificate), certificate: true},
		"passwords change by schedule":  {every: time.Hour, password: true},
		"its password was changed once": {change: func(w *world, _ *loop) { w.secret(rotation.RecordName(key.Name), user, original) }, password: true},
		"its certificate was replaced":  {change: func(w *world, _ *loop) { w.secret(certificate.RecordName(key.Name), user, original) }},
		"it is held, and has a place to give back": {password: true, change: func(w *world, l *loop) {
			annotated(names.Hold)(w, l)
			l.places.enter(key.String(), w.base)
		}},
		"it is held": {change: annotated(names.Hold), every: time.Hour},
		"it is not registered yet": {every: time.Hour, change: func(w *world, _ *loop) {
			w.change(key.Name, func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateNone })
		}},
		"it is gone": {password: true, certificate: true, change: func(w *world, _ *loop) {
			h := &metal3.BareMetalHost{}
			w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
			w.Expect(w.kube.Delete(w.t.Context(), h)).To(Succeed())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := loop{client: w.kube, live: w.kube, cache: w.kube, places: newPlaces(&credentials.Gate{Most: 1})}
			if c.change != nil {
				c.change(w, &l)
			}
			of := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
			objects := []kclient.Object{&v1alpha1.BMC{ObjectMeta: of}}
			h := &metal3.BareMetalHost{}
			if err := w.kube.Get(t.Context(), key, h); err == nil {
				objects = append(objects, h)
			}
			for _, want := range []struct {
				work   work
				passes bool
			}{
				{&reconciler{loop: l, options: Options{Every: c.every}}, c.password},
				{&certifier{loop: l, options: CertificateOptions{}}, c.certificate},
			} {
				about, secret := l.about(want.work), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: rotation.RecordName(key.Name)}}
				for _, o := range objects {
					w.Expect(about.Update(event.UpdateEvent{ObjectOld: o, ObjectNew: o})).To(Equal(want.passes), "%T of a %T", want.work, o)
					w.Expect(about.Create(event.CreateEvent{Object: o})).To(Equal(want.passes), "%T of a %T", want.work, o)
					w.Expect(about.Delete(event.DeleteEvent{Object: o})).To(BeTrue(), "%T of a %T", want.work, o)
				}
				woken := l.ofSecret(t.Context(), want.work, secret, []string{rotation.RecordName("")})
				w.Expect(woken).To(ContainElement(HaveField("NamespacedName", key)), "its record is always looked at")
			}
		})
	}
}
