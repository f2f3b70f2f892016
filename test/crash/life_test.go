package crash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// patience bounds each wish; one takes less than a second without kills.
const patience = 2 * time.Minute

// hostName is the name of each life's one host.
const hostName = "host"

// stage is one wish of a life: how the user expresses it, and when it is granted.
type stage struct {
	Wish
	do    func(*life)
	done  granted
	fails metal3.ErrorType // the error that the host ends it with; empty for none
}

// granted tells whether a wish is fulfilled; the host is nil when it is gone.
type granted = func(l *life, h *metal3.BareMetalHost, node simulator.Node) bool

// life is one host, its Ironic, and the controller that is killed.
type life struct {
	t         *testing.T
	kube      client.Client // beside the proxy
	sim       *simulator.Server
	gate      *Gate
	namespace string

	holding atomic.Value // a state of the node: what the machine begins in it does not end
	failing atomic.Bool  // deployments fail
}

// behave makes the machine of a life hold still, or fail.
func (l *life) behave(o simulator.Operation) simulator.Outcome {
	switch state := o.Node.ProvisionState; {
	case state == l.holding.Load():
		return simulator.Outcome{Delay: time.Hour}
	case state == "wait call-back" && l.failing.Load():
		return simulator.Outcome{Error: "Deploy step " + o.Step + " failed on node " + o.Node.UUID + ". the disk is full"}
	}
	return simulator.Outcome{}
}

// world is what all lives share.
type world struct {
	plane *lab.ControlPlane
	kube  client.Client
	lives atomic.Int32
	// command makes the controller's process.
	command func(t *testing.T, o controllerOptions, log *os.File) func() *exec.Cmd
}

func newWorld(t *testing.T) *world {
	t.Helper()
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme, err := newScheme()
	g.Expect(err).NotTo(HaveOccurred())
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	return &world{plane: plane, kube: kube, command: controllerCommand}
}

// newLife starts everything but the host.
func (w *world) newLife(t *testing.T, plan Plan) *life {
	t.Helper()
	g := NewWithT(t)
	const short = 20 * time.Millisecond
	// Longer than what times in a status are rounded to, so that its end can be told
	// from its beginning.
	const inspection = 1500 * time.Millisecond
	l := &life{t: t, kube: w.kube, gate: NewGate(plan), namespace: fmt.Sprintf("life-%d", w.lives.Add(1))}
	l.sim = simulator.New(simulator.Options{
		AutomatedClean: true,
		Delays:         simulator.Delays{Verify: short, Inspect: inspection, Clean: short, Deploy: short, Service: short, Power: short, Work: short / 2},
		BIOS:           settings, Firmware: components, Behave: l.behave,
		RamdiskSteps: []simulator.Step{{Interface: "deploy", Step: names.StartAssistedInstall}, {Interface: "deploy", Step: names.ConfirmInstall, Priority: 79}},
	})
	t.Cleanup(l.sim.Close)
	g.Expect(w.kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.namespace}})).To(Succeed())
	log, err := os.Create(t.TempDir() + "/controller.log")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = log.Close() })
	options := controllerOptions{Kubernetes: l.kubernetes(w), Ironic: l.ironic(), Namespace: l.namespace}
	supervisor := &Supervisor{Gate: l.gate, Command: w.command(t, options, log)}
	ended := make(chan error, 1)
	go func() { ended <- supervisor.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			text, _ := os.ReadFile(log.Name())
			t.Errorf("%v\n%s", err, text)
		}
	})
	return l
}

// kubernetes is the address of the proxy in front of the API server.
func (l *life) kubernetes(w *world) string {
	g := NewWithT(l.t)
	transport, err := rest.TransportFor(w.plane.Config())
	g.Expect(err).NotTo(HaveOccurred())
	return l.serve(ProxyOptions{Peer: Kubernetes, Target: parse(l.t, w.plane.URL), Transport: transport})
}

// ironic is the address of the proxy in front of the simulator.
func (l *life) ironic() string {
	return l.serve(ProxyOptions{
		Peer: Ironic, Target: parse(l.t, "http://ironic.test"), Transport: l.sim.Transport(),
		Ignore: func(r *http.Request) bool { return r.Method == http.MethodGet && isWatch(r.URL.Path) },
	})
}

func (l *life) serve(o ProxyOptions) string {
	server := httptest.NewServer(NewProxy(l.gate, o))
	l.t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL
}

func parse(t *testing.T, raw string) *url.URL {
	u, err := url.Parse(raw)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return u
}

// live takes the host through the stages and holds what came of it against the
// rules.
func (l *life) live(k kind) {
	g := NewWithT(l.t)
	for _, s := range k.stages {
		l.gate.Wish(s.Name)
		s.do(l)
		l.await(s)
	}
	l.gate.Wish("nothing")
	wishes := make([]Wish, 0, len(k.stages))
	for _, s := range k.stages {
		wishes = append(wishes, s.Wish)
	}
	journal := l.gate.Journal()
	broken := journal.Violations(wishes)
	if skipped := skips(journal.Phases(), k.phases); skipped != "" {
		broken = append(broken, skipped)
	}
	done := l.sim.Steps()
	for step, n := range k.steps {
		if done[step] != n {
			broken = append(broken, fmt.Sprintf("step %s was carried out %d times instead of %d", step, done[step], n))
		}
	}
	if len(broken) > 0 {
		l.t.Errorf("%s\njournal:\n%s", strings.Join(broken, "\n"), lines(journal))
	}
	g.Expect(l.sim.Nodes()).To(BeEmpty())
	l.nothingHeld()
}

// await waits until a wish is granted, without an error on the way.
func (l *life) await(s stage) {
	l.t.Helper()
	NewWithT(l.t).Eventually(func() error {
		h, node := l.host(), l.node()
		if s.done(l, h, node) {
			return nil
		}
		if h == nil {
			return errors.New("the host is gone")
		}
		return fmt.Errorf("phase %q, error %q, node %q, journal:\n%s", h.Status.Provisioning.State, h.Status.ErrorMessage, node.ProvisionState, lines(l.gate.Journal()))
	}, patience, 25*time.Millisecond).Should(Succeed(), s.Name)
	count := 0
	if s.fails != "" {
		count = 1
	}
	if h := l.host(); h != nil && (h.Status.ErrorCount != count || h.Status.ErrorType != s.fails) {
		l.t.Errorf("%s: %d errors, %q: %s", s.Name, h.Status.ErrorCount, h.Status.ErrorType, h.Status.ErrorMessage)
	}
}

// nothingHeld checks that what belongs to the host goes with it: nothing is left that a
// finalizer of ours would keep for ever.
func (l *life) nothingHeld() {
	g := NewWithT(l.t)
	g.Eventually(func() error {
		secret := &corev1.Secret{}
		return l.kube.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: hostName}, secret)
	}, patience, 100*time.Millisecond).Should(Satisfy(apierrors.IsNotFound), "the Secret of a host that is gone")
	g.Eventually(func() ([]metal3.HardwareData, error) {
		var list metal3.HardwareDataList
		err := l.kube.List(l.t.Context(), &list, client.InNamespace(l.namespace))
		return list.Items, err
	}, patience, 100*time.Millisecond).Should(BeEmpty(), "hardware data of a host that is gone")
}

// host reads the host; nil when it is gone.
func (l *life) host() *metal3.BareMetalHost {
	h := &metal3.BareMetalHost{}
	err := l.kube.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: hostName}, h)
	if apierrors.IsNotFound(err) {
		return nil
	}
	NewWithT(l.t).Expect(err).NotTo(HaveOccurred())
	return h
}

// node is the host's node; the zero one when there is none.
func (l *life) node() simulator.Node {
	n, _ := l.sim.Node(l.namespace + names.NodeNameSeparator + hostName)
	return n
}

func lines(j Journal) string {
	var text strings.Builder
	for _, e := range j {
		fmt.Fprintln(&text, e)
	}
	return text.String()
}

// skips compares the stored phases with those of a whole life. Phases in
// parentheses may be passed through without being stored. It says what differs.
func skips(got, want []string) string {
	rest := got
	for _, phase := range want {
		name := strings.Trim(phase, "()")
		switch {
		case len(rest) > 0 && rest[0] == name:
			rest = rest[1:]
		case name == phase:
			return fmt.Sprintf("phase %q was skipped: stored were %q", name, got)
		}
	}
	if len(rest) > 0 {
		return fmt.Sprintf("phases beyond the life's own: %q in %q", rest, got)
	}
	return ""
}
