package firmware

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestOnARealAPIServer makes the resources of a host that says the least: the
// real schemas must accept what is written, also where nothing is known yet.
func TestOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	m := server()
	keeper := NewKeeper(kube, m, reconcile.Recorder{})
	for range 2 {
		settings, err := keeper.ReadSettings(t.Context(), h, "node-a")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(settings.Status.Settings).To(HaveKeyWithValue("Cores", "4"))
		components, err := keeper.ReadComponents(t.Context(), h, "node-a", Outcome{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(components.Status.Components).To(HaveLen(1))
	}
	var schemas metal3.FirmwareSchemaList
	g.Expect(kube.List(t.Context(), &schemas)).To(Succeed())
	g.Expect(schemas.Items).To(HaveLen(1))
	m.bios = nil
	_, err = keeper.ReadSettings(t.Context(), h, "node-a")
	g.Expect(err).NotTo(HaveOccurred(), "a machine that has no settings any more")
}
