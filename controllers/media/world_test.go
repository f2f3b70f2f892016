package media

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// world is a provisioned host that is off, its node in a simulated Ironic, and its
// DataImage, with the controller as a program has it. It runs inside a bubble.
type world struct {
	*WithT
	t       *testing.T
	api     *kubeapi.Server
	scheme  *runtime.Scheme
	kube    client.Client
	sim     *simulator.Server
	gateway *ironic.Gateway
	node    string
	stop    func()
	over    <-chan struct{}
	behave  atomic.Pointer[simulator.Outcome]

	mu   sync.Mutex
	gate *Gate
	told int
}

var key = types.NamespacedName{Namespace: "lab", Name: "host-1"}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, scheme: runtime.NewScheme()}
	w.sim = simulator.New(simulator.Options{
		Delays: simulator.Delays{Work: 5 * time.Second},
		Behave: func(o simulator.Operation) simulator.Outcome {
			if outcome := w.behave.Load(); outcome != nil && o.Name == "media" {
				return *outcome
			}
			return simulator.Outcome{}
		},
	})
	t.Cleanup(w.sim.Close)
	var err error
	w.gateway, err = ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(metal3.AddToScheme(w.scheme)).To(Succeed())
	w.Expect(corev1.AddToScheme(w.scheme)).To(Succeed())
	w.adopt()
	w.api, err = kubeapi.New(w.scheme, &metal3.BareMetalHost{}, &metal3.DataImage{}, &corev1.Secret{})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = w.api.Client(w.scheme)
	w.Expect(err).NotTo(HaveOccurred())
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	h.Spec.Online = true
	w.Expect(w.kube.Create(t.Context(), h)).To(Succeed())
	h.Status.Provisioning = metal3.ProvisionStatus{State: metal3.StateProvisioned, ID: w.node}
	w.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
	w.Expect(w.kube.Create(t.Context(), &metal3.DataImage{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: metal3.DataImageSpec{URL: image},
	})).To(Succeed())
	return w
}

// adopt makes a node that is active and off.
func (w *world) adopt() {
	n, err := w.gateway.Enrol(w.t.Context(), ironic.Enrolment{Name: "lab~host-1", Driver: "redfish", DriverInfo: map[string]any{"redfish_address": "https://bmc.test"}})
	w.Expect(err).NotTo(HaveOccurred())
	w.node = n.UUID
	for _, target := range []ironic.Target{ironic.TargetManage, ironic.TargetAdopt} {
		w.Expect(w.gateway.Transition(w.t.Context(), n.UUID, ironic.Transition{Target: target})).To(Succeed())
		let(10 * time.Second)
	}
}

// start runs a controller that remembers nothing, once the one of before has ended.
func (w *world) start() {
	if w.over != nil {
		<-w.over
	}
	mgr, err := w.api.Manager(w.scheme, nil)
	w.Expect(err).NotTo(HaveOccurred())
	gate := NewGate(mgr.GetClient())
	w.mu.Lock()
	w.gate = gate
	w.mu.Unlock()
	gate.OnSettled(func(types.NamespacedName) {
		w.mu.Lock()
		w.told++
		w.mu.Unlock()
	})
	w.Expect(Setup(mgr, func(*metal3.BareMetalHost) (Gateway, error) { return w.gateway, nil }, gate)).To(Succeed())
	w.stop, w.over = kubeapi.Start(w.t, mgr)
	<-mgr.Elected()
}

// let passes time on the bubble's clock.
func let(d time.Duration) { <-time.After(d) }

func (w *world) image() *metal3.DataImage {
	obj := &metal3.DataImage{}
	err := w.kube.Get(w.t.Context(), key, obj)
	if err != nil && client.IgnoreNotFound(err) == nil {
		return nil
	}
	w.Expect(err).NotTo(HaveOccurred())
	return obj
}

// edit changes the DataImage as a user would.
func (w *world) edit(change func(*metal3.DataImage)) {
	obj := w.image()
	change(obj)
	w.Expect(w.kube.Update(w.t.Context(), obj)).To(Succeed())
}

func (w *world) theGate() *Gate {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gate
}

// theHost is the host as it is stored.
func (w *world) theHost() *metal3.BareMetalHost {
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	return h
}

// powerOn does what the host controller does before it starts a machine, and
// returns how long it has waited.
func (w *world) powerOn(limit time.Duration) time.Duration {
	w.t.Helper()
	begin := time.Now()
	for time.Since(begin) < limit {
		gate := w.theGate()
		m, err := gate.Media(w.t.Context(), w.theHost())
		w.Expect(err).NotTo(HaveOccurred())
		if !m.Pending {
			w.Expect(w.gateway.SetPower(w.t.Context(), w.node, ironic.PowerRequest{Target: ironic.PowerOn})).To(Succeed())
			gate.Started(key)
			return time.Since(begin)
		}
		if !m.Asked {
			gate.Ask(w.theHost(), false)
		}
		let(100 * time.Millisecond)
	}
	w.t.Fatalf("the machine may not start after %s: %+v", limit, w.image().Status)
	return 0
}

// powerOff ends the machine.
func (w *world) powerOff() {
	let(time.Minute)
	w.Expect(w.gateway.SetPower(w.t.Context(), w.node, ironic.PowerRequest{Target: ironic.PowerOff})).To(Succeed())
	let(time.Minute)
}

func bubble(t *testing.T, name string, test func(*world)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			test(w)
		})
	})
}

// prepared is a bubble in which something happens before the controller starts.
func prepared(t *testing.T, name string, first, test func(*world)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			first(w)
			w.start()
			test(w)
		})
	})
}

func TestLife(t *testing.T) {
	bubble(t, "attached, changed, deleted", func(w *world) {
		let(time.Minute)
		w.Expect(w.sim.Media(w.node)).To(BeEmpty(), "nothing happens before the machine is to start")
		w.Expect(w.image().OwnerReferences).To(ContainElement(HaveField("Name", key.Name)))
		took := w.powerOn(time.Minute)
		w.t.Logf("attached in %s", took)
		w.Expect(w.sim.Media(w.node)).To(Equal(image))
		w.Expect(w.image().Status.AttachedImage.URL).To(Equal(image))
		w.Expect(w.image().Status.LastReconciled).NotTo(BeNil())

		const second = "https://images.test/second.iso"
		w.edit(func(d *metal3.DataImage) { d.Spec.URL = second })
		let(time.Minute)
		w.Expect(w.sim.Media(w.node)).To(Equal(image), "not under a running system")
		w.powerOff()
		w.powerOn(time.Minute)
		w.Expect(w.sim.Media(w.node)).To(Equal(second))

		w.powerOff()
		w.sim.ResetCounts()
		took = w.powerOn(time.Minute)
		w.Expect(took).To(BeNumerically("<", time.Second), "an image that is in place costs no waiting")
		w.Expect(w.sim.Total("POST") + w.sim.Total("DELETE")).To(BeZero())
		w.powerOff()
		w.sim.LoseMedia(w.node)
		w.powerOn(time.Minute)
		w.Expect(w.sim.Media(w.node)).To(Equal(second), "attached again after a reset of the BMC")

		w.Expect(w.kube.Delete(w.t.Context(), w.image())).To(Succeed())
		let(time.Minute)
		w.Expect(w.image()).NotTo(BeNil(), "the system still has it")
		w.powerOff()
		w.powerOn(time.Minute)
		w.Expect(w.image()).To(BeNil())
		w.Expect(w.sim.Media(w.node)).To(BeEmpty())
	})
}

func TestWhatTheBMCCannotDo(t *testing.T) {
	bubble(t, "the reason is shown and tried again", func(w *world) {
		w.behave.Store(&simulator.Outcome{Error: "404 Not Found"})
		w.theGate().Ask(w.theHost(), false)
		let(30 * time.Second)
		w.Expect(w.image().Status.Error.Message).To(ContainSubstring("404 Not Found"))
		w.Expect(w.image().Status.Error.Count).To(Equal(1))
		m, err := w.theGate().Media(w.t.Context(), w.theHost())
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(m).To(And(HaveField("Pending", true), HaveField("Asked", true), HaveField("Note", ContainSubstring("404"))), "the host says why it does not start")
		let(10 * time.Minute)
		w.Expect(w.image().Status.Error.Count).To(BeNumerically("~", 3, 1), "with growing pauses")
		w.behave.Store(nil)
		w.edit(func(d *metal3.DataImage) { d.Annotations = map[string]string{names.Retry: "1"} })
		took := w.powerOn(time.Minute)
		w.Expect(took).To(BeNumerically("<", 30*time.Second), "at once when somebody asks")
		w.Expect(w.image().Status.Error).To(BeZero())
	})
	bubble(t, "without the image the machine may start", func(w *world) {
		w.behave.Store(&simulator.Outcome{Error: "404 Not Found"})
		w.theGate().Ask(w.theHost(), false)
		let(30 * time.Second)
		w.Expect(w.kube.Delete(w.t.Context(), w.image())).To(Succeed())
		w.powerOn(time.Minute)
		w.Expect(w.image()).To(BeNil())
		w.Expect(w.told).To(BeNumerically(">", 0))
	})
	bubble(t, "a locked node is no error", func(w *world) {
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPost {
				return &simulator.Fault{Status: http.StatusConflict, Text: "locked by c2"}
			}
			return nil
		})
		w.theGate().Ask(w.theHost(), false)
		let(time.Minute)
		w.Expect(w.image().Status.Error).To(BeZero())
		w.sim.Intercept(nil)
		w.powerOn(time.Minute)
		w.Expect(w.sim.Media(w.node)).To(Equal(image))
	})
	bubble(t, "Ironic away is no error", func(w *world) {
		w.sim.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Status: http.StatusServiceUnavailable} })
		w.theGate().Ask(w.theHost(), false)
		let(time.Minute)
		w.Expect(w.image().Status.Error).To(BeZero())
		m, err := w.theGate().Media(w.t.Context(), w.theHost())
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(m.Note).To(ContainSubstring("unavailable"))
		w.sim.Intercept(nil)
		w.powerOn(time.Minute)
	})
}

// TestKilledAtEveryRequest ends the controller at each of its requests in turn,
// before it is handled and before its answer, and goes on with one that remembers
// nothing: the machine starts with the image, and never has it afterwards when
// the object is gone.
func TestKilledAtEveryRequest(t *testing.T) {
	for _, handled := range []bool{false, true} {
		for n, killed := int32(1), true; killed; n++ {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.start()
				var seen atomic.Int32
				die := make(chan struct{}, 1)
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if r.Method == http.MethodPut || seen.Add(1) != n {
						return nil // power is the test's own
					}
					die <- struct{}{}
					return &simulator.Fault{Cut: true, AfterHandling: handled}
				})
				go func() {
					select {
					case <-die:
						w.stop()
						w.start()
					case <-t.Context().Done():
					}
				}()
				w.powerOn(5 * time.Minute)
				w.Expect(w.sim.Media(w.node)).To(Equal(image), "killed at request %d", n)
				w.powerOff()
				w.Expect(w.kube.Delete(t.Context(), w.image())).To(Succeed())
				w.powerOn(5 * time.Minute)
				let(time.Minute)
				w.Expect(w.image()).To(BeNil(), "killed at request %d", n)
				w.Expect(w.sim.Media(w.node)).To(BeEmpty(), "killed at request %d", n)
				w.Expect(w.sim.Nodes()).To(HaveLen(1))
				killed = seen.Load() >= n
			})
		}
	}
}

// TestGateKnowsNoImage lets hosts without a DataImage start at once.
func TestGateKnowsNoImage(t *testing.T) {
	bubble(t, "no DataImage", func(w *world) {
		m, err := w.theGate().Media(w.t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "other"}})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(m).To(Equal(policy.Media{}))
	})
}

// host changes the host as a user would.
func (w *world) host(change func(*metal3.BareMetalHost)) {
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	change(h)
	w.Expect(w.kube.Update(w.t.Context(), h)).To(Succeed())
}

func TestADataImageWithoutAHostCanAlwaysBeDeleted(t *testing.T) {
	remove := func(w *world, obj client.Object) {
		obj.SetNamespace(key.Namespace)
		obj.SetName(key.Name)
		w.Expect(w.kube.Delete(w.t.Context(), obj)).To(Succeed())
		let(time.Minute)
	}
	prepared(t, "there never was one", func(w *world) { remove(w, &metal3.BareMetalHost{}) }, func(w *world) {
		let(time.Minute)
		w.Expect(w.image().Finalizers).To(BeEmpty(), "nobody has to be there for its deletion")
		remove(w, &metal3.DataImage{})
		w.Expect(w.image()).To(BeNil())
	})
	bubble(t, "it has gone", func(w *world) {
		let(time.Minute)
		w.Expect(w.image().Finalizers).To(ConsistOf(metal3.DataImageFinalizer))
		remove(w, &metal3.BareMetalHost{})
		w.Expect(w.image()).To(BeNil(), "nothing holds it back from going with its host")
	})
	bubble(t, "it goes after the image was deleted", func(w *world) {
		w.powerOn(time.Minute)
		remove(w, &metal3.DataImage{})
		w.Expect(w.image()).NotTo(BeNil(), "the system still has it")
		remove(w, &metal3.BareMetalHost{})
		w.Expect(w.image()).To(BeNil())
	})
}

// TestNobodyTouchesTheMediaOfAHostThatIsKeptOff: neither its DataImage nor the BMC, until the annotation goes.
func TestNobodyTouchesTheMediaOfAHostThatIsKeptOff(t *testing.T) {
	for _, annotation := range []string{names.Paused, names.Hold} {
		keep := func(w *world) {
			w.host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{annotation: ""} })
		}
		goOn := func(w *world) { w.host(func(h *metal3.BareMetalHost) { h.Annotations = nil }) }
		prepared(t, annotation+", new", keep, func(w *world) {
			before := w.image()
			w.theGate().Ask(w.theHost(), false)
			let(time.Hour)
			w.Expect(w.image()).To(Equal(before), "no finalizer, no owner, no status")
			w.Expect(w.sim.Media(w.node)).To(BeEmpty())
			goOn(w)
			let(time.Minute)
			w.Expect(w.sim.Media(w.node)).To(Equal(image))
		})
		bubble(t, annotation+", deleted", func(w *world) {
			w.powerOn(time.Minute)
			w.powerOff()
			keep(w)
			let(time.Second) // hosts and images are watched apart: the controller has to have heard of the first change
			w.Expect(w.kube.Delete(w.t.Context(), w.image())).To(Succeed())
			before := w.image()
			w.theGate().Ask(w.theHost(), false)
			let(time.Hour)
			w.Expect(w.image()).To(Equal(before))
			w.Expect(w.sim.Media(w.node)).To(Equal(image))
			goOn(w)
			let(time.Minute)
			w.Expect(w.image()).To(BeNil())
			w.Expect(w.sim.Media(w.node)).To(BeEmpty())
		})
	}
}
