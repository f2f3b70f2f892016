package upgrade_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/shipped"
)

const (
	// namespace is where the fleet lives.
	namespace = "fleet"
	// patience bounds every wait, on a busy machine.
	patience = 3 * time.Minute
	// quiet is how long nothing may be asked of Ironic before the program counts as settled.
	quiet = 5 * time.Second
	// never is longer than any test.
	never = 1000 * time.Hour
)

// world is the program as it is shipped, on a real API server and in front of a simulated Ironic.
type world struct {
	*WithT
	t    *testing.T
	path string // of the program
	lab  *lab.Lab
	kube client.Client
	sim  *simulator.Server

	program *shipped.Process
	metrics string

	mu sync.Mutex
	// calls are the requests that change something, in order.
	calls []string
	// refused are ids and names of nodes that Ironic does not delete.
	refused map[string]bool
	// held are operations that never end and failing those that fail with a text, by the node's name.
	held, failing map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t, path: needs.Ironflow(t), lab: labtest.New(t), refused: map[string]bool{}, held: map[string]string{}, failing: map[string]string{}}
	w.sim = simulator.New(simulator.Options{Username: "ironic", Password: "not-a-secret", Behave: w.behave, BIOS: bios(), Firmware: firmware()})
	t.Cleanup(w.sim.Close)
	w.sim.Intercept(w.intercept)
	server := httptest.NewServer(w.sim)
	t.Cleanup(server.Close)
	w.lab.Ironic = &lab.Ironic{URL: server.URL, User: "ironic", Password: "not-a-secret"}
	_, err := w.lab.StartControlPlane(t.Context(), lab.ControlPlaneOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = shipped.NewClient(w.lab.ControlPlane.Config())
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	return w
}

// behave lets operations of some nodes last for ever, or fail. What is held is named by the operation, with the state in which
// the node waits where it has others before.
func (w *world) behave(o simulator.Operation) simulator.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := strings.TrimPrefix(o.Node.Name, namespace+"~")
	if held := w.held[name]; held == o.Name || held == o.Name+" "+o.Node.ProvisionState {
		return simulator.Outcome{Delay: never}
	}
	if operation, text, fails := strings.Cut(w.failing[name], ": "); fails && operation == o.Name {
		return simulator.Outcome{Error: text}
	}
	return simulator.Outcome{}
}

// nodeOf is the node's id or name in a request's path.
var nodeOf = regexp.MustCompile(`^/v1/nodes/([^/ ]+)`)

func (w *world) intercept(r *http.Request) *simulator.Fault {
	if r.Method == http.MethodGet {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	w.calls = append(w.calls, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
	if found := nodeOf.FindStringSubmatch(r.URL.Path); r.Method == http.MethodDelete && found != nil && w.refused[found[1]] {
		return &simulator.Fault{Status: http.StatusConflict, Text: "Node " + found[1] + " is locked by host simulator, please retry after the current operation is completed."}
	}
	return nil
}

// asked are the requests so far that change something.
func (w *world) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// hold has an operation of a host's node last for ever; fail has one fail.
func (w *world) hold(name, operation string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[name] = operation
}

func (w *world) fail(name, operation string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failing[name] = operation
}

func (w *world) refuse(ident string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused[ident] = true
}

// ironflow runs a command of the program against the cluster.
func (w *world) ironflow(args ...string) string {
	w.t.Helper()
	command := exec.CommandContext(w.t.Context(), w.path, append(args, "--kubeconfig", w.lab.ControlPlane.Kubeconfig)...)
	out, err := command.CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

// start starts the controllers.
func (w *world) start() {
	w.t.Helper()
	w.metrics = free(w.t)
	var err error
	w.program, err = shipped.Start(w.t.Context(), shipped.Options{Lab: w.lab, Program: w.path, Command: "controllers", Settings: map[string]string{
		"DEPLOY_ISO_URL": "http://192.0.2.250/live.iso", "IRONFLOW_METRICS_ADDR": w.metrics, "IRONFLOW_METRICS_INSECURE": "true", "IRONFLOW_HOST_SERIES": "true",
		"IRONIC_CACERT_FILE": "",
	}})
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(w.stop)
}

func (w *world) stop() {
	if w.program != nil {
		w.Expect(w.program.Stop()).To(Succeed())
		w.program = nil
	}
}

// settle waits until the program has looked at each of the hosts, but for one that is paused, and asks nothing of Ironic any more but what is asked for again and again.
func (w *world) settle(hosts []string, again func(call string) bool) {
	w.t.Helper()
	w.Eventually(func() (waiting []string, err error) {
		seen, err := w.passes()
		for _, name := range hosts {
			if seen[name] == 0 && name != "paused" {
				waiting = append(waiting, name)
			}
		}
		return waiting, err
	}).WithTimeout(patience).Should(BeEmpty(), "hosts that the program has not looked at")
	others := func() []string { return slices.DeleteFunc(w.asked(), again) }
	calls, since := len(others()), time.Now()
	w.Eventually(func() time.Duration {
		if now := len(others()); now != calls {
			calls, since = now, time.Now()
		}
		return time.Since(since)
	}).WithTimeout(time.Minute).Should(BeNumerically(">", quiet), func() string { return strings.Join(others(), "\n") })
}

// pass is a line of the metrics that tells how often a host was looked at.
var pass = regexp.MustCompile(`^metal3_reconcile_total\{.*host="([^"]+)".*\} ([0-9.e+]+)$`)

// passes are how often each host was looked at.
func (w *world) passes() (map[string]float64, error) {
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.metrics+"/metrics", http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	seen := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if found := pass.FindStringSubmatch(lines.Text()); found != nil {
			var n float64
			_, _ = fmt.Sscan(found[2], &n) // the pattern has numbers only
			seen[found[1]] += n
		}
	}
	return seen, nil
}

// host reads a host; nil is one that is not there.
func (w *world) host(name string) *metal3.BareMetalHost {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, h)
	if client.IgnoreNotFound(err) == nil && err != nil {
		return nil
	}
	w.Expect(err).NotTo(HaveOccurred())
	return h
}

// node reads the host's node; an empty one is not there.
func (w *world) node(name string) simulator.Node {
	n, _ := w.sim.Node(namespace + "~" + name)
	return n
}

// edit changes a host as a user does.
func (w *world) edit(name string, change func(*metal3.BareMetalHost)) {
	w.t.Helper()
	h := w.host(name)
	before := h.DeepCopy()
	change(h)
	w.Expect(w.kube.Patch(w.t.Context(), h, client.MergeFrom(before))).To(Succeed())
}

// until waits for what a host and its node are.
func (w *world) until(name, what string, ok func(*metal3.BareMetalHost, simulator.Node) bool) {
	w.t.Helper()
	w.Eventually(func() error {
		h, n := w.host(name), w.node(name)
		if h != nil && ok(h, n) {
			return nil
		}
		if h == nil {
			return StopTrying(name + " is gone")
		}
		return fmt.Errorf("%s is %q, %q, node %q: %s", name, h.Status.Provisioning.State, h.Status.ErrorMessage, n.ProvisionState, n.LastError)
	}).WithTimeout(patience).WithContext(context.WithoutCancel(w.t.Context())).Should(Succeed(), what)
}

// bios and firmware are what each machine reports.
func bios() []map[string]any {
	return []map[string]any{
		{"name": "ProcTurboMode", "value": "Enabled", "attribute_type": "Enumeration", "allowable_values": []any{"Disabled", "Enabled"}, "read_only": false, "unique": false},
		{"name": "MaxRetries", "value": "3", "attribute_type": "Integer", "lower_bound": 0, "upper_bound": 9, "read_only": false, "unique": false},
	}
}

func firmware() []map[string]any {
	return []map[string]any{{"component": "bios", "initial_version": "1.2.3", "current_version": "1.2.3"}, {"component": "bmc", "initial_version": "4.5.6", "current_version": "4.5.6"}}
}
