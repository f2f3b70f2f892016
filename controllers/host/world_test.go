package host

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/simulator"
)

// world is one host, a simulated Ironic, and a queue as small as one key needs.
// It runs inside a synctest bubble: minutes of Ironic pass at once.
type world struct {
	t      *testing.T
	g      Gomega
	key    types.NamespacedName
	kube   client.Client
	sim    *simulator.Server
	rec    *Reconciler
	events *eventLog
	wake   chan struct{}
	stop   context.CancelFunc

	mu       sync.Mutex
	progress Progress
	statuses int
	passes   int
	ended    func(ctrl.Result)
}

// delays are those that the speed figures are measured with.
var delays = simulator.Delays{
	Verify: 500 * time.Millisecond, Inspect: 5 * time.Second, Clean: 5 * time.Second,
	Deploy: 5 * time.Second, Power: time.Second,
}

var lab = types.NamespacedName{Namespace: "lab", Name: "host-1"}

// newWorld starts everything; change edits the host before it is created.
func newWorld(t *testing.T, o simulator.Options, s Settings, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w := &world{t: t, g: NewWithT(t), key: lab, events: &eventLog{}, wake: make(chan struct{}, 1)}
	scheme := runtime.NewScheme()
	w.g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	w.g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	w.kube = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&metal3.BareMetalHost{}, &metal3.PreprovisioningImage{}, &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}).
		WithIndex(&metal3.BareMetalHost{}, secretIndex, indexSecrets).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				w.mu.Lock()
				w.statuses++
				w.mu.Unlock()
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	if o.Delays == (simulator.Delays{}) {
		o.Delays = delays
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 2 * time.Second
	}
	w.sim = simulator.New(o)
	t.Cleanup(w.sim.Close)
	w.start(s)
	host := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name, UID: "8f0f3b0e-host-1", Generation: 1},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: "52:54:00:00:00:01",
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/1", CredentialsName: "bmc"},
		},
	}
	if change != nil {
		change(host)
	}
	w.g.Expect(w.kube.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "bmc"},
		Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")},
	})).To(Succeed())
	w.g.Expect(w.kube.Create(t.Context(), host)).To(Succeed())
	w.poke()
	return w
}

// start runs gateway, watch and controller, as a process would.
func (w *world) start(s Settings) {
	ctx, stop := context.WithCancel(w.t.Context())
	w.stop = stop
	gateway, err := ironic.New(ctx, ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
	w.g.Expect(err).NotTo(HaveOccurred())
	watch := ironic.NewWatch(gateway, ironic.WatchOptions{})
	w.rec, err = newReconciler(w.kube, w.kube, Options{
		Gateway: gateway, Watch: watch, Progress: w, Settings: s, Firmware: firmware.NewKeeper(w.kube, gateway, reconcile.Recorder{}),
	})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.rec.recorder = reconcile.Recorder{Sink: w.events}
	go func() { _ = watch.Run(ctx) }()
	go w.pump(ctx, watch)
	go w.work(ctx)
}

// HostProgress implements ProgressSource.
func (w *world) HostProgress(types.NamespacedName) (Progress, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.progress, w.progress != Progress{}
}

// report sets what the hub says about the host.
func (w *world) report(p Progress) {
	w.mu.Lock()
	w.progress = p
	w.mu.Unlock()
	w.poke()
}

// pump wakes the host for changes of its node.
func (w *world) pump(ctx context.Context, watch *ironic.Watch) {
	for {
		select {
		case <-ctx.Done():
			return
		case change := <-watch.Changes():
			if key, ours := hostOfNode(change); ours && key == w.key {
				if change.Kind == ironic.LostAgent {
					w.rec.memories.lostAgent(key, change.Row)
				}
				w.poke()
			}
		}
	}
}

// work is the queue: one key, woken by poke or by its own timer.
func (w *world) work(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
		w.mu.Lock()
		w.passes++
		w.mu.Unlock()
		result, err := w.rec.Reconcile(ctx, ctrl.Request{NamespacedName: w.key})
		if err != nil && ctx.Err() == nil {
			w.t.Errorf("reconcile: %v", err)
			return
		}
		w.mu.Lock()
		if w.ended != nil {
			w.ended(result)
		}
		w.mu.Unlock()
		if result.RequeueAfter > 0 {
			timer.Reset(result.RequeueAfter)
		} else {
			timer.Stop()
		}
	}
}

// onPass delivers the result of the next pass that is wanted.
func (w *world) onPass(wanted func(ctrl.Result) bool) <-chan ctrl.Result {
	found := make(chan ctrl.Result, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = func(r ctrl.Result) {
		if wanted(r) {
			found <- r
			w.ended = nil
		}
	}
	return found
}

func (w *world) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// host reads the host as it is stored; nil when it is gone.
func (w *world) host() *metal3.BareMetalHost {
	h := &metal3.BareMetalHost{}
	err := w.kube.Get(w.t.Context(), w.key, h)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return nil
	}
	w.g.Expect(err).NotTo(HaveOccurred())
	return h
}

// edit changes the host as a user would.
func (w *world) edit(change func(*metal3.BareMetalHost)) {
	w.t.Helper()
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		h := w.host()
		spec := *h.Spec.DeepCopy()
		change(h)
		if fmt.Sprintf("%#v", spec) != fmt.Sprintf("%#v", h.Spec) {
			h.Generation++ // the fake API server does not count
		}
		return w.kube.Update(w.t.Context(), h)
	})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.poke()
}

// annotate sets one annotation.
func (w *world) annotate(key, value string) {
	w.edit(func(h *metal3.BareMetalHost) {
		if h.Annotations == nil {
			h.Annotations = map[string]string{}
		}
		h.Annotations[key] = value
	})
}

// until lets time pass until the host is as wanted, at most limit.
func (w *world) until(what string, limit time.Duration, ok func(*metal3.BareMetalHost) bool) time.Duration {
	w.t.Helper()
	begin, step := time.Now(), 100*time.Millisecond
	for time.Since(begin) < limit {
		if ok(w.host()) {
			return time.Since(begin)
		}
		if let(step); time.Since(begin) > time.Minute {
			step = 5 * time.Second // what takes so long is a back-off
		}
	}
	h := w.host()
	if h == nil {
		w.t.Fatalf("the host is gone, wanted: %s", what)
	}
	node, _ := w.sim.Node(nodeName(h))
	w.t.Fatalf("not %s after %s: state %q, error %q, node %q (%s), conditions %v, events %v", what, limit,
		h.Status.Provisioning.State, h.Status.ErrorMessage, node.ProvisionState, node.LastError, h.Status.Conditions, w.events.list())
	return 0
}

// let passes time on the bubble's clock.
func let(d time.Duration) { <-time.After(d) }

// untilState waits for a phase.
func (w *world) untilState(s State, limit time.Duration) time.Duration {
	w.t.Helper()
	return w.until("in state "+string(s), limit, func(h *metal3.BareMetalHost) bool {
		return h != nil && h.Status.Provisioning.State == s
	})
}

// untilAtRest waits until the host is available and on, and nothing is left to do.
func (w *world) untilAtRest() {
	w.t.Helper()
	w.untilState(metal3.StateAvailable, time.Minute)
	w.until("powered on", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
	let(time.Minute)
}

// eventLog keeps events as "Reason".
type eventLog struct {
	mu      sync.Mutex
	reasons []string
	texts   []string
}

// Eventf implements events.EventRecorder.
func (l *eventLog) Eventf(_, _ runtime.Object, _, reason, _, note string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reasons = append(l.reasons, reason)
	l.texts = append(l.texts, reason+": "+fmt.Sprintf(note, args...))
}

func (l *eventLog) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.reasons...)
}
