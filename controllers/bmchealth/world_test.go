package bmchealth

import (
	"context"
	"net/http/httptest"
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
	"k8s.io/client-go/tools/events"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

var key = kclient.ObjectKey{Namespace: "lab", Name: "host-1"}

// world is the controller over an API in memory and a simulated BMC that was probed.
type world struct {
	*WithT
	t    *testing.T
	kube kclient.Client
	sim  *simulator.Server
	told *events.FakeRecorder
	// reads counts the readings.
	reads atomic.Int64
	// tell says that the BMC has something to say.
	tell func(key types.NamespacedName)
}

// OnHealth implements Events.
func (w *world) OnHealth(tell func(key types.NamespacedName)) { w.tell = tell }

func newWorld(t *testing.T, change func(h *metal3.BareMetalHost)) *world {
	t.Helper()
	return newWorldWith(t, Options{Interval: 20 * time.Millisecond}, change)
}

// newWorldWith does so with other intervals.
func newWorldWith(t *testing.T, o Options, change func(h *metal3.BareMetalHost)) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, sim: simulator.New(simulator.Options{}), told: events.NewFakeRecorder(100)}
	server := httptest.NewServer(w.sim)
	t.Cleanup(func() { server.Close(); w.sim.Close() })
	w.Expect(w.sim.AddSystem(simulator.System{ID: "1", Power: simulator.On})).To(Succeed())
	bmc, err := client.New(client.Target{URL: server.URL, System: "/redfish/v1/Systems/1"}, client.Options{Rate: 10_000, Burst: 10_000})
	w.Expect(err).NotTo(HaveOccurred())
	report, err := probe.Probe(t.Context(), bmc, probe.Options{Address: server.URL})
	w.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		w.Expect(add(scheme)).To(Succeed())
	}
	api, err := kubeapi.New(scheme, &metal3.BareMetalHost{}, &corev1.Secret{}, &v1alpha1.BMC{})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = api.Client(scheme)
	w.Expect(err).NotTo(HaveOccurred())
	mgr, err := api.Manager(scheme, w.told)
	w.Expect(err).NotTo(HaveOccurred())
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Events = w
	o.Connect = func(context.Context, *metal3.BareMetalHost) (*client.Client, error) { w.reads.Add(1); return bmc, nil }
	w.Expect(Setup(mgr, o)).To(Succeed())
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if change != nil {
		change(h)
	}
	w.Expect(w.kube.Create(t.Context(), h)).To(Succeed())
	b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	w.Expect(w.kube.Create(t.Context(), b)).To(Succeed())
	kubeapi.Start(t, mgr)
	b.Status.Report = report
	w.Expect(w.kube.Status().Update(t.Context(), b)).To(Succeed())
	return w
}

// healthy is the condition; the zero value when there is none.
func (w *world) healthy() metav1.Condition {
	b := v1alpha1.BMC{}
	w.Expect(w.kube.Get(w.t.Context(), key, &b)).To(Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Healthy); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func (w *world) until(status metav1.ConditionStatus, reason string) metav1.Condition {
	w.t.Helper()
	w.Eventually(w.healthy).WithTimeout(time.Minute).WithPolling(20 * time.Millisecond).Should(And(HaveField("Status", status), HaveField("Reason", reason)))
	return w.healthy()
}

// cooling is how the fans are.
func (w *world) cooling() v1alpha1.HealthState {
	b := v1alpha1.BMC{}
	w.Expect(w.kube.Get(w.t.Context(), key, &b)).To(Succeed())
	for _, d := range b.Status.Health {
		if d.Domain == "Cooling" {
			return d.State
		}
	}
	return ""
}

// TestAFanThatFailsAndIsReplaced is said by condition and event, and taken back.
func TestAFanThatFailsAndIsReplaced(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	fan := simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}
	w.Expect(w.sim.SetPart("1", fan, simulator.Condition{Health: "Critical"})).To(Succeed())
	w.Expect(w.until(metav1.ConditionFalse, "Critical").Message).To(ContainSubstring("Fan1"))
	w.Eventually(w.told.Events).WithTimeout(time.Minute).Should(Receive(ContainSubstring(EventCritical)))
	w.Eventually(w.cooling).WithTimeout(time.Minute).Should(Equal(v1alpha1.HealthCritical))
	w.Expect(w.sim.SetPart("1", fan, simulator.Condition{Health: "OK"})).To(Succeed())
	w.Eventually(w.cooling).WithTimeout(time.Minute).Should(Equal(v1alpha1.HealthOK))
}

// TestABMCThatFallsSilent: nothing is known then, which is no fault of the machine.
func TestABMCThatFallsSilent(t *testing.T) {
	w := newWorld(t, nil)
	w.until(metav1.ConditionTrue, ReasonAllWell)
	w.Expect(w.sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
	w.until(metav1.ConditionUnknown, ReasonUnread)
}

func TestAHeldHostIsNotRead(t *testing.T) {
	w := newWorld(t, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{"ironflow.io/hold": ""} })
	w.Consistently(w.reads.Load).WithTimeout(300 * time.Millisecond).Should(BeZero())
}
