package resources

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestADigestIsOfTheContent: marks leave it as it is, and without the Secret's own UID it
// tells nothing of a password.
func TestADigestIsOfTheContent(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "6f1c", ResourceVersion: "1"}, Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}}
	digest := contentDigest(secret, secret.Data)
	g.Expect(digest).To(MatchRegexp(`^[0-9a-f]{32}$`))

	marked := secret.DeepCopy()
	marked.ResourceVersion, marked.Labels, marked.Finalizers = "2", map[string]string{"x": "y"}, []string{"z"}
	marked.OwnerReferences, marked.Annotations = []metav1.OwnerReference{{Name: "host-1"}}, map[string]string{"x": "y"}
	g.Expect(contentDigest(marked, marked.Data)).To(Equal(digest))

	changed := secret.DeepCopy()
	changed.Data["b"] = []byte("3")
	g.Expect(contentDigest(changed, changed.Data)).NotTo(Equal(digest))

	other := secret.DeepCopy()
	other.UID = "7a2d"
	g.Expect(contentDigest(other, other.Data)).NotTo(Equal(digest), "a guess cannot be tried without the UID")
}
