package host

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// world is one host on an API server in memory and a simulated Ironic, looked after
// by the controllers as a program wires them: their queue, event filters and limits.
// It runs inside a synctest bubble: minutes of Ironic pass at once.
type world struct {
	t      *testing.T
	g      Gomega
	key    types.NamespacedName
	api    *kubeapi.Server
	kube   client.WithWatch // what a user does
	sim    *simulator.Server
	with   Options // besides what start sets
	rec    *Reconciler
	events *eventLog
	stop   func()
	over   <-chan struct{} // closed when all that start has started has ended

	progressed chan types.NamespacedName

	mu         sync.Mutex
	mayFail    bool // passes are expected to end in errors
	panics     bool // who is asked for progress panics
	progress   policy.Progress
	log        logr.LogSink           // what the passes log; nil: nothing
	heartbeats time.Duration          // Ironic's time-out of a ramdisk, where the program is told; zero: not
	left       []types.NamespacedName // hosts that nobody asks the hub for any more
	statuses   int
	passes     int
	ended      func(ctrl.Result)
	refuse     func(*http.Request) *kubeapi.Fault
}

// delays are those that the speed figures are measured with.
var delays = simulator.Delays{
	Verify: 500 * time.Millisecond, Inspect: 5 * time.Second, Clean: 5 * time.Second,
	Deploy: 5 * time.Second, Power: time.Second,
}

var lab = types.NamespacedName{Namespace: "lab", Name: "host-1"}

// worldScheme is made once: to make one takes longer than a host's life here.
var worldScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(metal3.AddToScheme(scheme))
	utilruntime.Must(corev1.AddToScheme(scheme))
	return scheme
})

// newWorld starts everything; change edits the host before it is created.
func newWorld(t *testing.T, o simulator.Options, s policy.Settings, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	return newWorldWith(t, o, Options{Settings: s}, change)
}

// newWorldWith does so with more options than settings.
func newWorldWith(t *testing.T, o simulator.Options, with Options, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w := &world{t: t, g: NewWithT(t), key: lab, events: &eventLog{}, with: with, progressed: make(chan types.NamespacedName, 16)}
	var err error
	w.api, err = kubeapi.New(worldScheme(), &metal3.BareMetalHost{}, &metal3.HardwareData{}, &metal3.PreprovisioningImage{}, &corev1.Secret{}, &corev1.ConfigMap{},
		&metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}, &metal3.FirmwareSchema{}, &metal3.HostUpdatePolicy{}, &metal3.DataImage{})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.api.Intercept(w.seen)
	w.kube, err = w.api.Client(worldScheme())
	w.g.Expect(err).NotTo(HaveOccurred())
	if o.Delays == (simulator.Delays{}) {
		o.Delays = delays
	}
	if o.Heartbeat == 0 {
		o.Heartbeat = 2 * time.Second
	}
	w.sim = simulator.New(o)
	t.Cleanup(w.sim.Close)
	w.start(with.Settings)
	host := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name},
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
	return w
}

// start runs gateway, watch and controllers, as a process would, once those of
// before have ended.
func (w *world) start(s policy.Settings) {
	if w.over != nil {
		<-w.over
	}
	o := w.with
	o.Progress, o.ProgressChanged, o.Settings = w, w.progressed, s
	mgr, err := w.api.Manager(worldScheme(), w.events)
	w.g.Expect(err).NotTo(HaveOccurred())
	var read firmware.Gateway = ironic.FirmwareReader{Endpoints: o.Ironics}
	if o.Ironics == nil {
		gateway, err := ironic.New(w.t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
		w.g.Expect(err).NotTo(HaveOccurred())
		watch := ironic.NewWatch(gateway, ironic.WatchOptions{HeartbeatTimeout: w.heartbeats})
		o.Gateway, o.Watch, read = gateway, watch, gateway
		w.g.Expect(mgr.Add(manager.RunnableFunc(watch.Run))).To(Succeed())
	}
	o.Firmware, err = firmware.Setup(mgr, firmware.Options{Gateway: read})
	w.g.Expect(err).NotTo(HaveOccurred())
	w.rec, err = newController(mgr, o)
	w.g.Expect(err).NotTo(HaveOccurred())
	w.g.Expect(w.rec.register(mgr, passes{w.rec, w})).To(Succeed())
	w.stop, w.over = kubeapi.Start(w.t, mgr)
}

// halt ends the program, and waits until nothing of it goes on.
func (w *world) halt() {
	w.stop()
	<-w.over
}

// knowHeartbeats starts the program anew with Ironic's default time-out of a ramdisk.
func (w *world) knowHeartbeats() {
	w.stop()
	w.heartbeats = 5 * time.Minute
	w.start(w.with.Settings)
}

// seen counts what is written, and refuses what a test wants to be refused.
func (w *world) seen(r *http.Request) *kubeapi.Fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method == http.MethodPatch && strings.HasSuffix(r.URL.Path, "/status") {
		w.statuses++
	}
	if w.refuse == nil {
		return nil
	}
	return w.refuse(r)
}

// counted is how many statuses were written, and passes made.
func (w *world) counted() (statuses, passes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.statuses, w.passes
}

// passes are the controller's, counted.
type passes struct {
	*Reconciler
	w *world
}

// Reconcile implements reconcile.Reconciler.
func (p passes) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	p.w.mu.Lock()
	p.w.passes++
	if p.w.log != nil {
		ctx = ctrl.LoggerInto(ctx, logr.New(p.w.log))
	}
	p.w.mu.Unlock()
	result, err := p.Reconciler.Reconcile(ctx, request)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if err != nil && ctx.Err() == nil && !p.w.mayFail {
		p.w.t.Errorf("reconcile: %v", err)
	}
	if p.w.ended != nil {
		p.w.ended(result)
	}
	return result, err
}

// HostProgress implements observe.Progress.
func (w *world) HostProgress(types.NamespacedName) (policy.Progress, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.panics {
		panic("out of order")
	}
	return w.progress, w.progress != policy.Progress{}
}

// Leave implements observe.Progress.
func (w *world) Leave(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = append(w.left, key)
}

// report sets what the hub says about the host.
func (w *world) report(p policy.Progress) {
	w.mu.Lock()
	w.progress = p
	w.mu.Unlock()
	w.progressed <- w.key
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
		change(h)
		return w.kube.Update(w.t.Context(), h)
	})
	w.g.Expect(err).NotTo(HaveOccurred())
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
	node, _ := w.sim.Node(nodespec.NodeName(h))
	w.t.Fatalf("not %s after %s: state %q, error %q, node %q (%s), conditions %v, events %v", what, limit,
		h.Status.Provisioning.State, h.Status.ErrorMessage, node.ProvisionState, node.LastError, h.Status.Conditions, w.events.list())
	return 0
}

// let passes time on the bubble's clock.
func let(d time.Duration) { <-time.After(d) }

// untilState waits for a phase.
func (w *world) untilState(s policy.State, limit time.Duration) time.Duration {
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
	related []runtime.Object // what they are about besides the host
}

// Eventf implements events.EventRecorder.
func (l *eventLog) Eventf(_, related runtime.Object, _, reason, _, note string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reasons = append(l.reasons, reason)
	l.related = append(l.related, related)
	l.texts = append(l.texts, reason+": "+fmt.Sprintf(note, args...))
}

// said is the texts of the events so far, a line each.
func (l *eventLog) said() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.texts, "\n")
}

func (l *eventLog) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.reasons...)
}
