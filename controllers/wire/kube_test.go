package wire_test

import (
	"testing"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/wire"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestOnARealAPIServer writes a host with a brief answer, and reads it from the cache.
func TestOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	ctrl.SetLogger(logr.Discard())
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	kube := manager(t, plane.Config())
	host := func(name string) *metal3.BareMetalHost {
		return &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	b := host("b")
	g.Expect(kube.Create(t.Context(), b)).To(Succeed())

	// A brief answer brings the version, and the client reads what it wrote.
	status := []byte(`{"status":{"errorCount":0,"errorMessage":"","hardware":{"cpu":{"count":7}},"operationalStatus":"OK","poweredOn":true,"provisioning":{"ID":"x","state":"available"}}}`)
	answer := b.DeepCopy()
	g.Expect(kube.Status().Patch(wire.Brief(t.Context(), metal3.GroupVersion.WithKind("BareMetalHost")), answer, client.RawPatch(types.MergePatchType, status))).To(Succeed())
	g.Expect(answer.ResourceVersion).NotTo(Equal(b.ResourceVersion))
	g.Expect(answer.Name).To(Equal("b"))
	g.Expect(answer.ManagedFields).To(BeEmpty(), "who wrote what is left out")
	g.Expect(answer.Status.PoweredOn).To(BeFalse(), "the answer is the metadata")
	read := host("b")
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(b), read)).To(Succeed())
	g.Expect(read.ResourceVersion).To(Equal(answer.ResourceVersion))
	g.Expect(read.Status.PoweredOn).To(BeTrue())
	g.Expect(read.Status.HardwareDetails.CPU.Count).To(Equal(7))
	stale := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"`+b.ResourceVersion+`"},"status":{"poweredOn":false}}`))
	err = kube.Status().Patch(wire.Brief(t.Context(), metal3.GroupVersion.WithKind("BareMetalHost")), b.DeepCopy(), stale)
	g.Expect(err).To(MatchError(ContainSubstring("the object has been modified")))
}

// manager runs a manager, and returns its client.
func manager(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	config = rest.CopyConfig(config)
	config.Wrap(wire.Transport)
	readYourWrites := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() { g.Expect(<-done).To(Succeed()) })
	g.Expect(mgr.GetCache().WaitForCacheSync(t.Context())).To(BeTrue())
	return mgr.GetClient()
}
