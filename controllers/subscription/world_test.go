package subscription

import (
	"net/http"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// world is a registered host with its node in a simulated Ironic, and one
// subscription.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	sim  *simulator.Server
	gate *ironic.Gateway
	rec  *Reconciler
	node string
}

var key = client.ObjectKey{Namespace: "lab", Name: "events"}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, sim: simulator.New(simulator.Options{})}
	t.Cleanup(w.sim.Close)
	var err error
	w.gate, err = ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
	w.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	w.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	w.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	w.node = w.enrol()
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "host-1"}}
	h.Status.Provisioning.ID = w.node
	h.Status.GoodCredentials.Reference = &corev1.SecretReference{Name: "bmc"}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&metal3.BMCEventSubscription{}, &metal3.BareMetalHost{}).
		WithIndex(&metal3.BMCEventSubscription{}, hostIndex, indexHost).
		WithIndex(&metal3.BMCEventSubscription{}, secretIndex, indexSecret).
		WithObjects(h, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "headers"}, Data: map[string][]byte{"X-Token": []byte("hush hush")},
		}).Build()
	w.restart()
	w.Expect(w.kube.Create(t.Context(), &metal3.BMCEventSubscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid-1"},
		Spec: metal3.BMCEventSubscriptionSpec{
			HostName: "host-1", Destination: "https://events.test/x", Context: "c",
			HTTPHeadersRef: &corev1.SecretReference{Name: "headers", Namespace: "lab"},
		},
	})).To(Succeed())
	return w
}

// enrol makes a node that Ironic can work with.
func (w *world) enrol() string {
	n, err := w.gate.Enrol(w.t.Context(), ironic.Enrolment{Name: "lab~host-1", Driver: "redfish", DriverInfo: map[string]any{"redfish_address": "https://bmc.test"}})
	w.Expect(err).NotTo(HaveOccurred())
	return n.UUID
}

// restart makes a controller that remembers nothing.
func (w *world) restart() {
	w.rec = newReconciler(w.kube, w.kube, func(*metal3.BareMetalHost) (Gateway, error) { return w.gate, nil })
}

// pass runs the controller once.
func (w *world) pass() (ctrl.Result, error) {
	return w.rec.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
}

// settle runs the controller until nothing is written any more.
func (w *world) settle() {
	w.t.Helper()
	for range 3 {
		_, err := w.pass()
		w.Expect(err).NotTo(HaveOccurred())
	}
}

// object reads the subscription; nil when it is gone.
func (w *world) object() *metal3.BMCEventSubscription {
	obj := &metal3.BMCEventSubscription{}
	err := w.kube.Get(w.t.Context(), key, obj)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return nil
	}
	w.Expect(err).NotTo(HaveOccurred())
	return obj
}

// host changes the host.
func (w *world) host(change func(*metal3.BareMetalHost)) {
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "lab", Name: "host-1"}, h)).To(Succeed())
	change(h)
	w.Expect(w.kube.Status().Update(w.t.Context(), h.DeepCopy())).To(Succeed())
}

func TestLife(t *testing.T) {
	w := newWorld(t)
	w.settle()
	first := w.object()
	w.Expect(first.Status.SubscriptionID).NotTo(BeEmpty())
	w.Expect(first.Status.Error).To(BeEmpty())
	w.Expect(w.sim.Destinations(w.node)).To(ConsistOf("https://events.test/x"))
	secret := &corev1.Secret{}
	w.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: "headers"}, secret)).To(Succeed())
	w.Expect(secret.Labels).To(HaveKeyWithValue("environment.metal3.io", "baremetal"), "so that the cache sees it")

	w.sim.ResetCounts()
	w.settle()
	w.Expect(w.sim.Total("")).To(BeZero(), "at rest, the BMC is not asked")

	w.sim.LoseSubscriptions(w.node)
	w.restart()
	w.settle()
	w.Expect(w.sim.Destinations(w.node)).To(HaveLen(1), "made again after a loss")
	w.Expect(w.object().Status.SubscriptionID).NotTo(Equal(first.Status.SubscriptionID))

	w.Expect(w.kube.Delete(t.Context(), w.object())).To(Succeed())
	w.settle()
	w.Expect(w.object()).To(BeNil())
	w.Expect(w.sim.Destinations(w.node)).To(BeEmpty())
}

func TestLostDatabase(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.Expect(w.gate.Delete(t.Context(), w.node)).To(Succeed())
	w.restart()
	result, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(result.RequeueAfter).To(Equal(lookForHost))
	w.node = w.enrol()
	w.host(func(h *metal3.BareMetalHost) { h.Status.Provisioning.ID = w.node })
	w.settle()
	w.Expect(w.sim.Destinations(w.node)).To(HaveLen(1), "the simulator's BMC lost it together with the node")
}

func TestWhatAPersonHasToMend(t *testing.T) {
	for name, c := range map[string]struct {
		broken func(*world)
		error  string
		mend   func(*world)
	}{
		"no Secret": {
			func(w *world) {
				w.Expect(w.kube.Delete(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "headers"}})).To(Succeed())
			}, `the Secret "headers" with the HTTP headers does not exist`,
			func(w *world) {
				w.Expect(w.kube.Create(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "headers"}})).To(Succeed())
			},
		},
		"a BMC that refuses": {
			func(w *world) {
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if r.Method == http.MethodPost {
						return &simulator.Fault{Status: http.StatusInternalServerError, Text: "too many subscriptions"}
					}
					return nil
				})
			}, "Ironic could not subscribe: too many subscriptions",
			func(w *world) { w.sim.Intercept(nil) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.broken(w)
			w.settle()
			w.Expect(w.object().Status.Error).To(ContainSubstring(c.error))
			c.mend(w)
			w.settle()
			w.Expect(w.object().Status.Error).To(BeEmpty(), "an error that is over goes")
			w.Expect(w.sim.Destinations(w.node)).To(HaveLen(1))
		})
	}
}

func TestIronicAwayIsNoError(t *testing.T) {
	w := newWorld(t)
	w.sim.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Status: http.StatusServiceUnavailable} })
	w.settle()
	result, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(result.RequeueAfter).To(BeNumerically("<=", time.Minute))
	w.Expect(w.object().Status.Error).To(BeEmpty())
}

// TestKilledAtEveryRequest cuts the connection at each request in turn, before it
// is handled and before its answer, and goes on with a controller that remembers
// nothing: never two subscriptions, none left behind.
func TestKilledAtEveryRequest(t *testing.T) {
	for _, handled := range []bool{false, true} {
		for n, killed := 1, true; killed; n++ {
			w := newWorld(t)
			seen := 0
			w.sim.Intercept(func(*http.Request) *simulator.Fault {
				if seen++; seen == n {
					return &simulator.Fault{Cut: true, AfterHandling: handled}
				}
				return nil
			})
			w.again()
			w.Expect(w.sim.Destinations(w.node)).To(HaveLen(1), "killed at request %d", n)
			w.Expect(w.object().Status.SubscriptionID).NotTo(BeEmpty(), "killed at request %d", n)
			w.Expect(w.kube.Delete(t.Context(), w.object())).To(Succeed())
			w.again()
			w.Expect(w.object()).To(BeNil(), "killed at request %d", n)
			w.Expect(w.sim.Destinations(w.node)).To(BeEmpty(), "killed at request %d", n)
			killed = seen >= n
		}
	}
}

// again runs passes of new controllers.
func (w *world) again() {
	for range 4 {
		_, err := w.pass()
		w.Expect(err).NotTo(HaveOccurred())
		w.restart()
	}
}

// TestNobodyTouchesTheSubscriptionOfAHostThatIsKeptOff: neither the object nor the BMC, until the annotation goes.
func TestNobodyTouchesTheSubscriptionOfAHostThatIsKeptOff(t *testing.T) {
	annotate := func(w *world, annotations map[string]string) {
		h := &metal3.BareMetalHost{}
		w.Expect(w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: "lab", Name: "host-1"}, h)).To(Succeed())
		h.Annotations = annotations
		w.Expect(w.kube.Update(w.t.Context(), h)).To(Succeed())
	}
	for _, annotation := range []string{names.Paused, names.Hold} {
		keptOff := map[string]string{annotation: ""}
		t.Run(annotation+", new", func(t *testing.T) {
			w := newWorld(t)
			annotate(w, keptOff)
			before := w.object()
			w.sim.ResetCounts()
			w.settle()
			w.Expect(w.object()).To(Equal(before), "no finalizer, no status")
			w.Expect(w.sim.Total("")).To(BeZero())
			annotate(w, nil)
			w.settle()
			w.Expect(w.sim.Destinations(w.node)).To(HaveLen(1))
		})
		t.Run(annotation+", deleted", func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			annotate(w, keptOff)
			w.Expect(w.kube.Delete(t.Context(), w.object())).To(Succeed())
			before := w.object()
			w.sim.ResetCounts()
			w.settle()
			w.Expect(w.object()).To(Equal(before))
			w.Expect(w.sim.Total("")).To(BeZero())
			annotate(w, nil)
			w.settle()
			w.Expect(w.object()).To(BeNil())
		})
		t.Run(annotation+", released on request", func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			annotate(w, keptOff)
			obj := w.object()
			obj.Annotations = map[string]string{names.ForceDelete: obj.Name}
			w.Expect(w.kube.Update(t.Context(), obj)).To(Succeed())
			w.Expect(w.kube.Delete(t.Context(), obj)).To(Succeed())
			w.sim.ResetCounts()
			w.settle()
			w.Expect(w.object()).To(BeNil(), "that asks nobody")
			w.Expect(w.sim.Total("")).To(BeZero())
		})
	}
}
