package host_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestVolumesOnARealAPIServer: with the schema as it is shipped, an empty list of
// volumes is stored as such and null as none, whatever was there before. Volumes are
// deleted once though somebody has stored null, and not for anything else.
func TestVolumesOnARealAPIServer(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	none, empty := &metal3.RAIDConfig{}, &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}}
	key := client.ObjectKey{Namespace: "default", Name: "volumes"}
	read := func() *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{}
		g.Expect(kube.Get(t.Context(), key, h)).To(Succeed())
		return h
	}

	g.Expect(kube.Create(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
	whole := true
	for _, next := range []*metal3.RAIDConfig{empty, none, empty, nil, empty, nil, none, empty} {
		h := read()
		saver := reconcile.NewSaver(kube, h)
		saver.Whole, whole = whole, false
		h.Status.OperationalStatus = metal3.OperationalStatusOK
		h.Status.Provisioning.RAID = next
		_, err := saver.Status(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read().Status.Provisioning.RAID).To(Equal(next))
	}
	g.Expect(kube.Delete(t.Context(), read())).To(Succeed())

	sim := simulator.New(simulator.Options{Delays: simulator.Delays{Verify: 100 * time.Millisecond, Inspect: 100 * time.Millisecond, Clean: 100 * time.Millisecond, Power: 100 * time.Millisecond}})
	t.Cleanup(sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: sim.Transport()})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		StringData: map[string]string{"username": "admin", "password": "hunter2hunter2"},
	})).To(Succeed())
	g.Expect(kube.Create(t.Context(), &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: "52:54:00:00:01:01",
			BMC: metal3.BMCDetails{Address: "redfish://bmc.test/redfish/v1/Systems/1", CredentialsName: key.Name},
		},
	})).To(Succeed())
	startManager(t, plane, scheme, gateway, policy.Settings{}, "volumes")
	atRest := func() bool {
		h := read()
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
	}
	g.Eventually(atRest, kubePatience, 100*time.Millisecond).Should(BeTrue())
	g.Eventually(func() error { // somebody else, such as another controller
		h := read()
		h.Status.Provisioning.RAID = none
		return kube.Status().Update(t.Context(), h)
	}, kubePatience, 100*time.Millisecond).Should(Succeed())
	before := read()
	wish := before.DeepCopy()
	wish.Spec.RAID = empty
	g.Expect(kube.Patch(t.Context(), wish, client.MergeFrom(before))).To(Succeed())
	g.Eventually(func() *metal3.RAIDConfig { return read().Status.Provisioning.RAID }, kubePatience, 100*time.Millisecond).Should(Equal(empty))
	g.Eventually(atRest, kubePatience, 100*time.Millisecond).Should(BeTrue())
	for i := range 5 {
		before := read()
		noted := before.DeepCopy()
		metav1.SetMetaDataAnnotation(&noted.ObjectMeta, "example.com/note", fmt.Sprint(i))
		g.Expect(kube.Patch(t.Context(), noted, client.MergeFrom(before))).To(Succeed())
		g.Consistently(atRest, time.Second, 50*time.Millisecond).Should(BeTrue())
	}
	g.Expect(sim.Steps()["raid.delete_configuration"]).To(Equal(1))
}
