package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

func TestDescribe(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	meta := metav1.ObjectMeta{Namespace: "site", Name: "node-0"}
	host := &metal3v1.BareMetalHost{ObjectMeta: meta}
	host.Spec.BMC = metal3v1.BMCDetails{Address: "redfish-virtualmedia://192.0.2.1", CredentialsName: "node-0-bmc"}
	host.Spec.Online = true
	host.Status.Provisioning.State = metal3v1.StateProvisioning
	host.Status.ErrorType, host.Status.ErrorMessage = metal3v1.ProvisioningError, "disk sda: write error"
	agent := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "a", Labels: map[string]string{names.AgentHostLabel: "node-0"}}}
	agent.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: "Writing image to disk", ProgressInfo: "45%", InstallationPercentage: 30}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "node-0-bmc"}, Data: map[string][]byte{"password": []byte("s3cret")}}
	cl := fake.NewClientBuilder().WithScheme(scheme).WithObjects(host, agent, secret).Build()

	root, err := describe(t.Context(), cl, types.NamespacedName{Namespace: "site", Name: "node-0"})
	g.Expect(err).NotTo(HaveOccurred())
	var out strings.Builder
	g.Expect(render.Tree(&out, root)).To(Succeed())
	g.Expect(out.String()).To(And(
		HavePrefix("BareMetalHost/node-0\n"),
		ContainSubstring("reason: disk sda: write error"),
		ContainSubstring("ironflow.io/retry"),
		ContainSubstring("power: off, wanted on"),
		ContainSubstring("Secret/node-0-bmc: not accepted yet"),
		ContainSubstring("stage: Writing image to disk 45% (30% of the installation)"),
	))
	g.Expect(out.String()).NotTo(ContainSubstring("s3cret"))

	_, err = describe(t.Context(), cl, types.NamespacedName{Namespace: "site", Name: "nobody"})
	g.Expect(err).To(MatchError(ContainSubstring("host site/nobody")))
}
