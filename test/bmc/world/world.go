package world

import (
	"net/http/httptest"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// User and Password are what the BMC takes at the beginning, and what the Secret has.
const (
	User     = "admin"
	Password = "s1mulated-Secret"
)

// Key is the host's, and its BMC's; Secret is the name of its Secret.
var Key = kclient.ObjectKey{Namespace: "lab", Name: "host-1"}

// Secret is the name of the host's Secret.
const Secret = "bmc"

// Patience is how long a test waits for what a controller is to do.
const Patience = time.Minute

// World is the API with what a test puts there, and the BMC.
type World struct {
	*gomega.WithT

	API    *kubeapi.Server
	Scheme *runtime.Scheme
	Kube   kclient.Client
	// Sim is the BMC of one machine, which answers at URL.
	Sim *simulator.Server
	URL string

	// T is the test.
	T *testing.T
}

// New makes a world with a BMC for the machine, which is the system "1" there. The host
// is not made yet.
func New(t *testing.T, system simulator.System) *World {
	t.Helper()
	w := &World{WithT: gomega.NewWithT(t), T: t, Scheme: runtime.NewScheme(), Sim: simulator.New(simulator.Options{Username: User, Password: Password})}
	server := httptest.NewServer(w.Sim)
	t.Cleanup(func() { server.Close(); w.Sim.Close() })
	w.URL = server.URL
	system.ID = "1"
	w.Expect(w.Sim.AddSystem(system)).To(gomega.Succeed())
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.Expect(add(w.Scheme)).To(gomega.Succeed())
	}
	var err error
	w.API, err = kubeapi.New(w.Scheme, &metal3.BareMetalHost{}, &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{},
		&metal3.PreprovisioningImage{}, &corev1.Secret{}, &v1alpha1.BMC{})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Kube, err = w.API.Client(w.Scheme)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return w
}

// Start starts the controllers that setup adds to a manager. Told gets their events; nil
// drops them. Stop ends them and waits for that.
func (w *World) Start(told *events.FakeRecorder, setup func(mgr ctrl.Manager) error) (stop func()) {
	w.T.Helper()
	mgr, err := w.API.Manager(w.Scheme, told)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(setup(mgr)).To(gomega.Succeed())
	end, over := kubeapi.Start(w.T, mgr)
	return func() { end(); <-over }
}

// Create makes an object.
func (w *World) Create(o kclient.Object) {
	w.T.Helper()
	w.Expect(w.Kube.Create(w.T.Context(), o)).To(gomega.Succeed())
}

// CreateSecret makes a Secret with credentials.
func (w *World) CreateSecret(name, username, password string) {
	w.T.Helper()
	w.Create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Key.Namespace, Name: name},
		Data:       map[string][]byte{"username": []byte(username), "password": []byte(password)},
	})
}

// CreateHost makes the host, which names the BMC and its Secret.
func (w *World) CreateHost() {
	w.T.Helper()
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: Key.Namespace, Name: Key.Name}}
	h.Spec.BMC = metal3.BMCDetails{Address: "redfish-virtualmedia+" + w.URL + "/redfish/v1/Systems/1", CredentialsName: Secret}
	w.Create(h)
}

// Host changes the host's metadata, spec and status.
func (w *World) Host(change func(h *metal3.BareMetalHost)) {
	w.T.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.Kube.Get(w.T.Context(), Key, h)).To(gomega.Succeed())
	before := h.DeepCopy()
	change(h)
	status := h.Status
	w.Expect(w.Kube.Patch(w.T.Context(), h, kclient.MergeFrom(before))).To(gomega.Succeed())
	before, h.Status = h.DeepCopy(), status
	w.Expect(w.Kube.Status().Patch(w.T.Context(), h, kclient.MergeFrom(before))).To(gomega.Succeed())
}

// BMC reads the host's BMC; the zero value when there is none.
func (w *World) BMC() v1alpha1.BMC {
	b := v1alpha1.BMC{}
	w.Expect(kclient.IgnoreNotFound(w.Kube.Get(w.T.Context(), Key, &b))).To(gomega.Succeed())
	return b
}

// Condition is one of the host's BMC; the zero value when there is none.
func (w *World) Condition(kind string) metav1.Condition {
	b := w.BMC()
	if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// Until waits for a condition of the host's BMC, and returns the BMC.
func (w *World) Until(kind string, status metav1.ConditionStatus, reason string) v1alpha1.BMC {
	w.T.Helper()
	w.Eventually(func() metav1.Condition { return w.Condition(kind) }).WithTimeout(Patience).WithPolling(20 * time.Millisecond).
		Should(gomega.And(gomega.HaveField("Status", status), gomega.HaveField("Reason", reason)))
	return w.BMC()
}

// Pool makes clients that need not wait for their turn.
func Pool() *client.Pool { return client.NewPool(unhurried) }

var unhurried = client.Options{Rate: 10_000, Burst: 10_000}

// Client is one of the BMC that is in nobody's pool.
func (w *World) Client() *client.Client {
	w.T.Helper()
	c, err := client.New(client.Target{URL: w.URL, System: "/redfish/v1/Systems/1", Username: User, Password: Password}, unhurried)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return c
}

// Probed makes the BMC of the host as a probe leaves it, with the report.
func (w *World) Probed(c *client.Client) {
	w.T.Helper()
	report, err := probe.Probe(w.T.Context(), c, probe.Options{Address: w.URL, Username: User})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: Key.Namespace, Name: Key.Name}}
	w.Create(b)
	b.Status.Report = report
	w.Expect(w.Kube.Status().Update(w.T.Context(), b)).To(gomega.Succeed())
}
