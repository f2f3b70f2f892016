package bmcevents

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	kevents "k8s.io/client-go/tools/events"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

var key = kclient.ObjectKey{Namespace: "lab", Name: "host-1"}

const every = 15 * time.Minute

// world is the controller with its receiver over an API in memory, a host, and a
// simulated BMC that was probed.
type world struct {
	*WithT
	t        *testing.T
	scheme   *runtime.Scheme
	api      *kubeapi.Server
	kube     kclient.Client
	sim      *simulator.Server
	bmcURL   string
	listener net.Listener
	pattern  *httptest.Server // for its certificate
	told     *kevents.FakeRecorder
	keys     events.Keys
	ahead    atomic.Int64 // of the controller's clock, in nanoseconds
	report   *v1alpha1.BMCReport
	// deaf has the BMC's deliveries fail.
	deaf atomic.Bool
	// every is the time between two looks at a subscription.
	every time.Duration
	stop  func()

	mu      sync.Mutex
	clients map[string]*client.Client
	refused error    // why nobody gets a client of a BMC
	woken   []string // hosts that were, "power" behind those because of it
	health  int
}

// RoundTrip is how the BMC's deliveries go.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.deaf.Load() {
		return nil, http.ErrHandlerTimeout
	}
	return w.pattern.Client().Transport.RoundTrip(r)
}

func secretOf(word string) []byte { return []byte(strings.Repeat(word, 32)) }

func newWorld(t *testing.T, quirks ...simulator.Quirk) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, every: every, told: kevents.NewFakeRecorder(1000), scheme: runtime.NewScheme(), pattern: httptest.NewTLSServer(http.NotFoundHandler())}
	t.Cleanup(w.pattern.Close)
	w.clients = map[string]*client.Client{}
	w.sim, w.bmcURL = w.newBMC()
	for _, quirk := range quirks {
		w.Expect(w.sim.SetQuirk("1", quirk, simulator.Always)).To(Succeed())
	}
	var err error
	w.report, err = probe.Probe(t.Context(), w.connect(), probe.Options{Address: w.bmcURL})
	w.Expect(err).NotTo(HaveOccurred())
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.Expect(add(w.scheme)).To(Succeed())
	}
	w.api, err = kubeapi.New(w.scheme, &metal3.BareMetalHost{}, &corev1.Secret{}, &v1alpha1.BMC{})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = w.api.Client(w.scheme)
	w.Expect(err).NotTo(HaveOccurred())
	w.keys, err = events.NewKeys(secretOf("k"))
	w.Expect(err).NotTo(HaveOccurred())
	w.listener, err = newListener(t.Context(), "127.0.0.1:0")
	w.Expect(err).NotTo(HaveOccurred())
	return w
}

// newBMC starts a BMC of a machine that is on.
func (w *world) newBMC() (sim *simulator.Server, url string) {
	w.t.Helper()
	sim = simulator.New(simulator.Options{Events: w, EventRetryInterval: time.Millisecond})
	server := httptest.NewServer(sim)
	w.t.Cleanup(func() { server.Close(); sim.Close() })
	w.Expect(sim.AddSystem(simulator.System{ID: "1", Power: simulator.On})).To(Succeed())
	return sim, server.URL
}

// connect makes a client of the BMC.
func (w *world) connect() *client.Client {
	w.t.Helper()
	c, err := client.New(client.Target{URL: w.bmcURL, System: "/redfish/v1/Systems/1"}, client.Options{Rate: 10_000, Burst: 10_000, Now: w.now})
	w.Expect(err).NotTo(HaveOccurred())
	return c
}

// clientOf is the client of a host's BMC, the same for all who ask.
func (w *world) clientOf(_ context.Context, h *metal3.BareMetalHost) (*client.Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refused != nil {
		return nil, w.refused
	}
	base := baseOf(h)
	if w.clients[base] == nil {
		c, err := client.New(client.Target{URL: base, System: "/redfish/v1/Systems/1"}, client.Options{Rate: 10_000, Burst: 10_000, Now: w.now})
		if err != nil {
			return nil, err
		}
		w.clients[base] = c
	}
	return w.clients[base], nil
}

// refuse has the client of a BMC be refused; nil for not any more.
func (w *world) refuse(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = err
}

// now is the time of everybody but the BMC.
func (w *world) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

// start runs the controller, as a program does.
func (w *world) start() *Dispatcher {
	w.t.Helper()
	mgr, err := w.api.Manager(w.scheme, w.told)
	w.Expect(err).NotTo(HaveOccurred())
	dispatcher, err := Setup(mgr, Options{
		Keys: w.keys, URL: "https://" + w.listener.Addr().String(), Connect: w.clientOf, Parting: w.clientOf, Parted: func(string) {}, Every: w.every, TestTime: 2 * time.Second,
		Now: w.now,
	})
	w.Expect(err).NotTo(HaveOccurred())
	dispatcher.OnHost(w.wake)
	dispatcher.OnHealth(func(types.NamespacedName) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.health++
	})
	listener := w.listener
	w.Expect(mgr.Add(everywhere(func(ctx context.Context) error {
		return dispatcher.Run(ctx, mgr.GetCache(), func(context.Context) (net.Listener, error) { return listener, nil }, &tls.Config{Certificates: w.pattern.TLS.Certificates, MinVersion: tls.VersionTLS12})
	}))).To(Succeed())
	stop, over := kubeapi.Start(w.t, mgr)
	w.stop = func() { stop(); <-over }
	return dispatcher
}

// end ends the controller, so that it can be started again.
func (w *world) end() {
	w.t.Helper()
	w.stop()
	address := w.listener.Addr().String()
	w.Eventually(func() (err error) {
		w.listener, err = newListener(w.t.Context(), address)
		return err
	}).WithTimeout(patience).Should(Succeed())
}

type everywhere func(context.Context) error

// Start implements manager.Runnable.
func (e everywhere) Start(ctx context.Context) error { return e(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e everywhere) NeedLeaderElection() bool { return false }

func (w *world) wake(key types.NamespacedName, power bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if power {
		w.woken = append(w.woken, key.Name+" power")
	} else {
		w.woken = append(w.woken, key.Name)
	}
}

// wakes are those so far, and how often health was asked for.
func (w *world) wakes() (woken []string, health int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.woken), w.health
}

// host makes a host at rest with its BMC's report.
func (w *world) host() {
	w.t.Helper()
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Finalizers: []string{metal3.BareMetalHostFinalizer}}}
	h.Spec.BMC.Address = "redfish-virtualmedia+" + w.bmcURL + "/redfish/v1/Systems/1"
	w.Expect(w.kube.Create(w.t.Context(), h)).To(Succeed())
	b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: metal3.GroupVersion.String(), Kind: "BareMetalHost", Name: h.Name, UID: h.UID}},
	}}
	w.Expect(w.kube.Create(w.t.Context(), b)).To(Succeed())
	w.progressing(metav1.ConditionFalse)
	b.Status.Report = w.report
	w.Expect(w.kube.Status().Update(w.t.Context(), b)).To(Succeed())
}

// move gives the host another BMC.
func (w *world) move() {
	w.t.Helper()
	w.sim, w.bmcURL = w.newBMC()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	before := h.DeepCopy()
	h.Spec.BMC.Address = "redfish-virtualmedia+" + w.bmcURL + "/redfish/v1/Systems/1"
	w.Expect(w.kube.Patch(w.t.Context(), h, kclient.MergeFrom(before))).To(Succeed())
}

// bmc is the host's, as it is stored.
func (w *world) bmc() *v1alpha1.BMC {
	b := &v1alpha1.BMC{}
	w.Expect(w.kube.Get(w.t.Context(), key, b)).To(Succeed())
	return b
}

// progressing says whether something is under way on the host.
func (w *world) progressing(status metav1.ConditionStatus) {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	h.Status.Provisioning.State = metal3.StateAvailable
	meta.SetStatusCondition(&h.Status.Conditions, metav1.Condition{Type: metal3.ProgressingCondition, Status: status, Reason: "Test"})
	w.Expect(w.kube.Status().Update(w.t.Context(), h)).To(Succeed())
}

// annotate changes an annotation of the host.
func (w *world) annotate(name, value string) {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	before := h.DeepCopy()
	metav1.SetMetaDataAnnotation(&h.ObjectMeta, name, value)
	w.Expect(w.kube.Patch(w.t.Context(), h, kclient.MergeFrom(before))).To(Succeed())
}

// later lets the time for another look come: a change of the host wakes the pass.
func (w *world) later() {
	w.t.Helper()
	w.ahead.Add(int64(every) + int64(time.Second))
	w.progressing(metav1.ConditionTrue)
	w.progressing(metav1.ConditionFalse)
}

// subscribed is the condition; the zero value when there is none.
func (w *world) subscribed() metav1.Condition {
	b := w.bmc()
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Subscribed); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func (w *world) until(status metav1.ConditionStatus, reason string) metav1.Condition {
	w.t.Helper()
	w.Eventually(w.subscribed).WithTimeout(time.Minute).WithPolling(20 * time.Millisecond).Should(And(HaveField("Status", status), HaveField("Reason", reason)))
	return w.subscribed()
}

// fail makes a fan fail, which is an alert.
func (w *world) fail() {
	w.t.Helper()
	w.Expect(w.sim.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, simulator.Condition{Health: "Critical"})).To(Succeed())
}

func (w *world) uid() types.UID {
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	return h.UID
}

// source is what the deliveries of the host's BMC come under.
func (w *world) source() string {
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	return sourceOf(h)
}

func newListener(ctx context.Context, address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp", address)
}
