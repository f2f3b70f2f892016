package tokens_test

import (
	"crypto/tls"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestNobodyApprovesUnseen: kubeadm has what a bearer of a bootstrap token asks for approved
// by kube-controller-manager, which asks the API server as this test does. After the source's
// manifest it does not any more. What kubeadm does is made by the test.
func TestNobodyApprovesUnseen(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	config := plane.Config()
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	g.Expect(err).NotTo(HaveOccurred())
	admin, err := kube.New(kube.Access{URL: config.Host, CA: config.CAData, Certificate: &pair})
	g.Expect(err).NotTo(HaveOccurred())
	defer admin.Close()
	const rbac = "rbac.authorization.k8s.io"
	g.Expect(admin.Post(t.Context(), "/apis/"+rbac+"/v1/clusterrolebindings", map[string]any{
		"metadata": map[string]string{"name": admission.Binding},
		"roleRef":  map[string]string{"apiGroup": rbac, "kind": "ClusterRole", "name": admission.ApprovalRole},
		"subjects": []map[string]string{{"apiGroup": rbac, "kind": "Group", "name": token.Group}},
	})).To(Succeed())
	approved := func() (bool, error) {
		var answer struct{ Status struct{ Allowed bool } }
		err := admin.PostFor(t.Context(), "/apis/authorization.k8s.io/v1/subjectaccessreviews", map[string]any{"spec": map[string]any{
			"user": "system:bootstrap:abcdef", "groups": []string{"system:bootstrappers", token.Group},
			"resourceAttributes": map[string]string{"group": "certificates.k8s.io", "resource": "certificatesigningrequests", "subresource": "nodeclient", "verb": "create"},
		}}, &answer)
		return answer.Status.Allowed, err
	}
	g.Eventually(approved, time.Minute).Should(BeTrue(), "as kubeadm leaves it")

	manifest := &unstructured.Unstructured{}
	g.Expect(yaml.Unmarshal([]byte(admission.Watched), &manifest.Object)).To(Succeed())
	kubectl, err := client.New(config, client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	apply := client.ApplyConfigurationFromUnstructured(manifest)
	g.Expect(kubectl.Apply(t.Context(), apply, client.FieldOwner("ironflow"), client.ForceOwnership)).To(Succeed())
	g.Eventually(approved, time.Minute).Should(BeFalse(), "the program inside is the only one that approves")
}
