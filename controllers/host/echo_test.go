package host

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

// TestOwnMarksAreNoNews tells the controller of its own marks, and of what others
// have written after them.
func TestOwnMarksAreNoNews(t *testing.T) {
	g := NewWithT(t)
	hostNamed := func(name, version string) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "metal", Name: name, ResourceVersion: version}}
		h.Spec.BMC.CredentialsName = "shared"
		return h
	}
	r := &Reconciler{cache: newKube(t, hostNamed("a", ""), hostNamed("b", "")), echoes: newEchoes(), written: newWritten()}
	a := types.NamespacedName{Namespace: "metal", Name: "a"}
	r.echoes.expectHost(a, "7")
	r.echoes.expectSecret(a, "8")

	updated := func(name, version string) bool {
		return notEcho{r.echoes, r.written}.Update(event.UpdateEvent{ObjectOld: hostNamed(name, "1"), ObjectNew: hostNamed(name, version)})
	}
	g.Expect(updated("a", "7")).To(BeFalse(), "its own mark")
	g.Expect(updated("a", "9")).To(BeTrue(), "what came after it")
	g.Expect(updated("b", "7")).To(BeTrue(), "another host")

	woken := func(version string) (names []string) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "metal", Name: "shared", ResourceVersion: version}}
		for _, request := range r.hostsOfSecret(t.Context(), client.Object(secret)) {
			names = append(names, request.Name)
		}
		return names
	}
	g.Expect(woken("8")).To(ConsistOf("b"), "who shares the Secret hears of it")
	g.Expect(woken("9")).To(ConsistOf("a", "b"))
	r.echoes.forget(a)
	g.Expect(woken("8")).To(ConsistOf("a", "b"))
}
