package tokens_test

import (
	"crypto/tls"
	"net/url"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/test/cluster/tokens/contract"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestOnARealAPIServer: it refuses who has no rights, takes the Secret, and knows the token's bearer for a host that
// joins. The rights are those that kubeadm gives when it initialises a cluster; here the test does.
func TestOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{ExtraArgs: []string{"--enable-bootstrap-token-auth=true"}})
	config, err := plane.ConfigFor("ironflow-hub", authorities.Administrators)
	g.Expect(err).NotTo(HaveOccurred())
	base, err := url.Parse(config.Host)
	g.Expect(err).NotTo(HaveOccurred())
	door := admission.Door{Endpoint: base.Host, CA: config.CAData, Certificate: config.CertData, Key: config.KeyData}
	full := plane.Config()
	pair, err := tls.X509KeyPair(full.CertData, full.KeyData)
	g.Expect(err).NotTo(HaveOccurred())
	admin, err := kube.New(kube.Access{URL: full.Host, CA: full.CAData, Certificate: &pair})
	g.Expect(err).NotTo(HaveOccurred())
	defer admin.Close()
	var namespace struct{ Metadata struct{ Name string } }
	g.Eventually(func() error { return admin.Get(t.Context(), "/api/v1/namespaces/kube-system", &namespace) }, time.Minute).Should(Succeed())

	g.Expect(door.Admit(t.Context(), token.New(time.Now()), time.Now())).To(MatchError(And(
		ContainSubstring(door.Endpoint), ContainSubstring("403"), ContainSubstring(authorities.Administrators))), "nobody has given the group its rights")
	g.Expect(admin.Post(t.Context(), "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", map[string]any{
		"metadata": map[string]string{"name": "kubeadm:cluster-admins"},
		"roleRef":  map[string]string{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []map[string]string{{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": authorities.Administrators}},
	})).To(Succeed())
	g.Eventually(func() error { return door.Admit(t.Context(), token.New(time.Now()), time.Now()) }, time.Minute).Should(Succeed())
	contract.Run(t, door)
}
