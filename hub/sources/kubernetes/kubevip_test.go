package kubernetes_test

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestAnAPIServerTakesTheStaticPod has a real kube-apiserver judge the pod of kube-vip, as strictly as it can: a kubelet
// leaves out members that it does not know, and says nothing.
func TestAnAPIServerTakesTheStaticPod(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	config := plane.Config()
	pair, err := tls.X509KeyPair(config.CertData, config.KeyData)
	g.Expect(err).NotTo(HaveOccurred())
	api, err := kube.New(kube.Access{URL: config.Host, CA: config.CAData, Certificate: &pair})
	g.Expect(err).NotTo(HaveOccurred())
	defer api.Close()
	const pods = "/api/v1/namespaces/kube-system/pods?dryRun=All&fieldValidation=Strict"
	vip := func(o *sources.Order) { o.Kubernetes.VIPImage = "registry.example/kube-vip/kube-vip:v1.0.0" }
	for name, tc := range map[string]struct {
		order *sources.Order
		host  string
	}{
		"initialises": {changed(order(3, 1), vip), "id-master-0"},
		"joins":       {changed(order(3, 1), vip), "id-master-1"},
		"IPv6":        {changed(changed(order(3, 1), onlyIPv6), vip), "id-master-0"},
		"day 2":       {changed(joining(wire.HostRoleMaster, mustMake(t, changed(order(3, 1), vip))), vip), "id-master-7"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			text := strings.ReplaceAll(files(t, mustMake(t, tc.order), tc.host)[here+"kube-vip.yaml"], "@INTERFACE@", "eno1")
			var pod map[string]any
			g.Expect(yaml.Unmarshal([]byte(text), &pod)).To(Succeed())
			g.Eventually(func() error { return api.Post(t.Context(), pods, pod) }, time.Minute).Should(Succeed(), text)
			pod["spec"].(map[string]any)["hostname"] = "not a name"
			g.Expect(api.Post(t.Context(), pods, pod)).To(MatchError(ContainSubstring("spec.hostname")), "it judges")
		})
	}
}
