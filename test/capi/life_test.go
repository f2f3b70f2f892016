package capi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/shipped"
)

// newSite is a real API server with the schemas and rules of config/, and the controllers of hosts.
func newSite(t *testing.T, name string, gateway *ironic.Gateway) *site {
	t.Helper()
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}, CRDs: []*apiextensionsv1.CustomResourceDefinition{machineCRD()}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lab.InstallAdmission(t.Context(), plane.Config())).To(Succeed())
	kube, err := shipped.NewClient(plane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	mgr, err := ctrl.NewManager(plane.Config(), ctrl.Options{
		Scheme: kube.Scheme(), Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	watch := ironic.NewWatch(gateway, ironic.WatchOptions{})
	keeper, err := firmware.Setup(mgr, firmware.Options{Gateway: gateway, Name: name + "-firmware"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.Setup(mgr, host.Options{Gateway: gateway, Watch: watch, Firmware: keeper, Name: name})).To(Succeed())
	done := make(chan error, 1)
	go func() { _ = watch.Run(t.Context()) }() // ends with the test
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() { NewWithT(t).Expect(<-done).To(Succeed()) })
	return &site{kube: kube, patience: 2 * time.Minute}
}

// addHost makes a host of a simulated machine.
func (s *site) addHost(t *testing.T, n int) {
	t.Helper()
	g, name := NewWithT(t), fmt.Sprintf("host-%d", n)
	g.Expect(s.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, StringData: map[string]string{"username": "admin", "password": "hunter2hunter2"},
	})).To(Succeed())
	g.Expect(s.kube.Create(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: metal3.BareMetalHostSpec{
		Online: true, BootMACAddress: fmt.Sprintf("52:54:00:00:00:%02x", n),
		BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: name},
	}})).To(Succeed())
}

// image is never fetched.
var image = metal3.Image{URL: "http://images.test/os.raw", Checksum: strings.Repeat("0", 64), ChecksumType: metal3.SHA256, DiskFormat: new("raw")}

// TestHostsOfClusterAPI takes hosts through the provider's requests in its order: picked, provisioned with
// the data of its template, repaired by the reboot annotation, released with and without a reuse of the
// node, and moved to another cluster, for which Ironic is asked for nothing.
func TestHostsOfClusterAPI(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	sim := simulator.New(simulator.Options{
		AutomatedClean: true, Heartbeat: time.Second,
		Delays: simulator.Delays{Verify: 100 * time.Millisecond, Inspect: 500 * time.Millisecond, Clean: 500 * time.Millisecond, Deploy: 500 * time.Millisecond, Power: 100 * time.Millisecond},
	})
	t.Cleanup(sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: sim.Transport()})
	g.Expect(err).NotTo(HaveOccurred())
	first := newSite(t, "first", gateway)
	for n := range 2 {
		first.addHost(t, n)
	}
	for _, name := range []string{"host-0", "host-1"} {
		first.until(t, name, "available", available)
	}

	m := first.newMachine(t, "m-0", image, func(m *machine) { m.nodeReuse, m.cleaning = true, metal3.CleaningModeDisabled })
	m.associate(t)
	first.until(t, m.host, "still available", available) // the data is not rendered yet
	m.provision(t)
	first.until(t, m.host, "provisioned", provisioned)
	m.remediate(t)
	g.Expect(first.host(t, m.host).Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
	asked := func() int { return sim.Counts()["PUT /v1/nodes/{node}/states/provision"] }
	deployed, used := asked(), m.host

	// Ill hosts are not picked; a node that is kept is picked by machines of its deployment only.
	m.release(t)
	g.Expect(first.host(t, used)).To(And(HaveField("Spec.ConsumerRef", BeNil()), HaveField("Status.Provisioning.Image.URL", BeEmpty())))
	g.Expect(asked()).To(BeNumerically(">", deployed))
	other := first.newMachine(t, "m-1", image, func(m *machine) { m.deployment = "md-1" })
	other.associate(t)
	g.Expect(other.host).NotTo(Equal(used))
	other.provision(t)
	first.until(t, other.host, "provisioned", provisioned)
	again := first.newMachine(t, "m-2", image)
	again.associate(t)
	g.Expect(again.host).To(Equal(used), "the node of its deployment")
	again.provision(t)
	first.until(t, again.host, "provisioned", provisioned)
	other.release(t)
	first.patch(t, other.host, func(h *metal3.BareMetalHost) {
		metav1.SetMetaDataAnnotation(&h.ObjectMeta, unhealthy, "capm3/UnhealthyNode")
	})
	g.Expect(first.newMachine(t, "m-3", image).choose(t)).To(BeEmpty())

	before, puts := first.host(t, again.host), asked()
	node, _ := sim.Node(namespace + "~" + again.host)
	again.pause(t)
	second := newSite(t, "second", gateway)
	moved := again.move(t, second)
	moved.unpause(t)
	second.until(t, moved.host, "as it was", provisioned)
	after := second.host(t, moved.host)
	g.Expect(after.Status.Provisioning.ID).To(Equal(before.Status.Provisioning.ID))
	g.Expect(after.Status.HardwareDetails).To(Equal(before.Status.HardwareDetails), "it was not inspected again")
	still, there := sim.Node(namespace + "~" + moved.host)
	g.Expect(there).To(BeTrue())
	g.Expect(still.UUID).To(Equal(node.UUID))
	moved.remediate(t) // the controllers there work, and have looked at the host
	g.Expect(asked()).To(Equal(puts), "Ironic was asked for nothing")
	moved.release(t)
	g.Expect(second.host(t, moved.host).Spec.ConsumerRef).To(BeNil(), "it can be had by others there")
}
