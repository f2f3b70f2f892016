package bmcrotation

import (
	"net/http"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// remove deletes the host; nothing keeps it.
func (w *world) remove() {
	w.t.Helper()
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	w.Expect(w.kube.Delete(w.t.Context(), h)).To(Succeed())
	w.Expect(apierrors.IsNotFound(w.kube.Get(w.t.Context(), key, h))).To(BeTrue(), "a change under way does not keep a host from being deleted")
}

// owners are the owners of the record.
func (w *world) owners() []metav1.OwnerReference {
	record := &corev1.Secret{}
	w.Expect(kclient.IgnoreNotFound(w.kube.Get(w.t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "host-1-bmc-rotation"}, record))).To(Succeed())
	return record.OwnerReferences
}

// TestAHostIsDeletedInTheMiddle: the deletion waits for nothing, the record outlives the
// host, and the change is brought to its end, so that the Secret opens the BMC. What was
// not sent is given up.
func TestAHostIsDeletedInTheMiddle(t *testing.T) {
	for name, c := range map[string]struct {
		method, secret string
		after          int32
		phase          rotation.Phase
	}{
		"not sent":         {method: http.MethodPut, secret: "host-1-bmc-rotation", after: 0, phase: rotation.Staged},
		"sent":             {method: http.MethodPut, secret: "host-1-bmc-rotation", after: 2, phase: rotation.Finding},
		"not written":      {method: http.MethodPatch, secret: "bmc", after: 0, phase: rotation.Promoting},
		"Ironic not asked": {method: http.MethodPut, secret: "host-1-bmc-rotation", after: 6, phase: rotation.Telling},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.cut(c.method, c.secret, c.after)
			stop := w.start()
			w.ask("1")
			w.reach(c.phase)
			stop()
			w.Expect(w.owners()).To(BeEmpty(), "it may be the only copy of the password")
			w.remove()
			w.api.Intercept(nil)
			w.start()
			w.Eventually(func() map[string]string { return w.stored("host-1-bmc-rotation") }).WithTimeout(time.Minute).Should(BeEmpty(), "it is not needed any more")
			w.Expect(w.stored("bmc")).To(HaveKeyWithValue("password", w.bmcPassword()))
			w.Expect(w.bmcPassword() == original).To(Equal(c.phase == rotation.Staged))
			w.Expect(w.sim.Total("")).To(BeNumerically(">", 0))
		})
	}
}

// TestARecordGoesWithItsHost, unless it has the only copy of the password: the user's
// Secret was put back.
func TestARecordGoesWithItsHost(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.ask("1")
	fresh := w.done()
	w.Eventually(w.owners).WithTimeout(time.Minute).Should(HaveLen(1))
	w.put(original)
	w.until(reason.Reverted, "host-1-bmc-rotation")
	w.Eventually(w.owners).WithTimeout(time.Minute).Should(BeEmpty())
	w.put(fresh)
	w.until(reason.Current, "")
	w.Eventually(w.owners).WithTimeout(time.Minute).Should(HaveLen(1))
	w.remove()
	w.Eventually(func() map[string]string { return w.stored("host-1-bmc-rotation") }).WithTimeout(time.Minute).Should(BeEmpty())
}

// TestAHostOfTheSameNameTakesARecordOver: the former host's record would be deleted
// with it in the middle of a change of the new one.
func TestAHostOfTheSameNameTakesARecordOver(t *testing.T) {
	w := newWorld(t)
	stop := w.start()
	w.ask("1")
	w.done()
	w.Eventually(w.owners).WithTimeout(time.Minute).Should(HaveLen(1))
	stop()
	former := w.owners()[0].UID
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	h.Finalizers = []string{"example.com/slow"}
	w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
	record := &corev1.Secret{}
	w.Expect(w.kube.Get(t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "host-1-bmc-rotation"}, record)).To(Succeed())
	record.OwnerReferences[0].UID = "another"
	w.Expect(w.kube.Update(t.Context(), record)).To(Succeed())
	w.start()
	w.ask("2")
	w.Eventually(w.owners).WithTimeout(time.Minute).Should(ConsistOf(HaveField("UID", former)))
}

// TestAHostIsPausedInTheMiddle: nothing is done until it is let go of, the host at its
// side is not kept waiting, and then the change goes on.
func TestAHostIsPausedInTheMiddle(t *testing.T) {
	w := newWorld(t)
	w.cut(http.MethodPatch, "bmc", 0)
	stop := w.start()
	w.ask("1")
	w.reach(rotation.Promoting)
	stop()
	w.api.Intercept(nil)
	w.change(key.Name, func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Paused, "") })
	w.start()
	w.Consistently(func() string { return w.stored("bmc")["password"] }).WithTimeout(300 * time.Millisecond).Should(Equal(original))
	w.change(key.Name, func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Paused) })
	w.done()
}

// TestTheBMCHasAnotherPassword: somebody has changed it before we were asked for. One
// login finds out; then the host is in quarantine, and nobody goes on trying.
func TestTheBMCHasAnotherPassword(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.sim.SetPassword(user, "Somebody-elses-1")).To(Succeed())
	w.start()
	w.ask("1")
	condition := w.until(reason.NeitherHolds, "somebody has changed it")
	w.Expect(condition.Message).NotTo(ContainSubstring(original))
	wrong := w.sim.Logins()[accounts.Wrong]
	w.Expect(wrong).To(Equal(1))
	w.ahead.Store(int64(1000 * time.Hour))
	w.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.Online = true }) // it is looked at again
	w.Consistently(func() int { return w.sim.Logins()[accounts.Wrong] }).WithTimeout(300 * time.Millisecond).Should(Equal(wrong))
}

// TestOneAddressInManySpellings is one BMC.
func TestOneAddressInManySpellings(t *testing.T) {
	base := func(address string) string {
		h := &metal3.BareMetalHost{}
		h.Spec.BMC.Address = address
		return baseOf(h)
	}
	g := NewWithT(t)
	for _, same := range [][]string{
		{"redfish://bmc.test/redfish/v1/Systems/1", "redfish-virtualmedia://BMC.test/redfish/v1/Systems/2", "redfish+https://bmc.test:443"},
		{"redfish+http://192.0.2.1", "redfish+http://192.0.2.1:80/redfish/v1/Systems/1"},
		{"redfish://[2001:db8::1]", "redfish://[2001:0db8:0:0::1]:443/redfish/v1/Systems/1"},
	} {
		g.Expect(base(same[0])).NotTo(BeEmpty(), same[0])
		for _, other := range same[1:] {
			g.Expect(base(other)).To(Equal(base(same[0])), other)
		}
	}
	g.Expect(base("redfish://bmc.test:8443")).NotTo(Equal(base("redfish://bmc.test")))
	g.Expect(base("ipmi://192.0.2.1")).To(BeEmpty())
}
