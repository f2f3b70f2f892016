package image

import (
	"net/url"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
)

// TestTheMirrorsOfAnEnvironment are in its hosts' images in the place of the hub's, and
// another ConfigMap makes another image.
func TestTheMirrorsOfAnEnvironment(t *testing.T) {
	env := edge(func(e *agentv1.InfraEnv) {
		e.Spec.MirrorRegistryRef = &agentv1.NamespacedReference{Namespace: "mirrors", Name: "site"}
	})
	files := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "mirrors", Name: "site"}, Data: map[string]string{"registries.conf": "# the first mirror\n"}}
	w := newWorld(t, asked(ofEdge), env, secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), files)
	w.base.Registries = "# the hub's own\n"
	made := func() string {
		t.Helper()
		w.settled()
		text, err := url.PathUnescape(string(w.store.specs[len(w.store.specs)-1].Ignition))
		w.Expect(err).NotTo(HaveOccurred())
		return text
	}
	w.Expect(made()).To(And(ContainSubstring("# the first mirror"), Not(ContainSubstring("# the hub's own"))))
	w.Expect(w.r.imagesOfMirrors(t.Context(), files)).To(ConsistOf(ctrl.Request{NamespacedName: key}), "the ConfigMap wakes the images")

	files.Data["registries.conf"] = "# the second mirror\n"
	w.Expect(w.kube.Update(t.Context(), files)).To(Succeed())
	w.Expect(made()).To(ContainSubstring("# the second mirror"))

	w.Expect(w.kube.Delete(t.Context(), files)).To(Succeed())
	before := len(w.store.specs)
	_, _, err := w.pass()
	w.Expect(err).To(Or(Not(HaveOccurred()), MatchError(ContainSubstring("does not exist"))))
	w.Expect(w.store.specs).To(HaveLen(before), "no image without its mirrors")
}
