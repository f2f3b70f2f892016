package contract

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

// Machine is a machine with a BMC that a target provides for one node.
type Machine struct {
	Driver     string
	DriverInfo map[string]any // address and credentials of the BMC, and a deploy_iso
	MAC        string         // of the boot interface
}

// Target is an Ironic with machines behind it.
type Target struct {
	// Connect makes a gateway whose requests pass through wrap (Config.Wrap).
	Connect func(t testing.TB, wrap func(http.RoundTripper) http.RoundTripper) *ironic.Gateway
	// NewMachine makes a machine that nobody uses yet, powered off.
	NewMachine func(t testing.TB) Machine
	// ImageURL is an image that BMCs can insert.
	ImageURL string
	// Patience bounds each wait for a state; Look is the pause between looks.
	Patience, Look time.Duration
	// Events says that the BMCs have an event service. Without it, the case checks
	// that its absence is reported.
	Events bool
	// Watch are the timings for the cases that watch.
	Watch ironic.WatchOptions
}

// Case stands for one row of the call table.
type Case struct {
	Name  string
	Calls []string // "VERB /v1/path" with {n} for a node, {p} for a port
	Run   func(w *World)
}

// World is what a case works with.
type World struct {
	*gomega.WithT
	Target
	T        *testing.T
	Gateway  *ironic.Gateway
	Recorder *Recorder

	visited states // in which the case had a node
	held    states // in which it held a node against the table of actions
}

// Run runs all cases as sub-tests, side by side, each with its own gateway; or
// those with the given names only.
func Run(t *testing.T, target Target, only ...string) {
	for _, c := range Cases {
		if len(only) > 0 && !slices.Contains(only, c.Name) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			recorder := &Recorder{}
			g := target.Connect(t, recorder.Wrap)
			w := &World{WithT: gomega.NewWithT(t), Target: target, T: t, Gateway: g, Recorder: recorder}
			c.Run(w)
			if !t.Failed() {
				w.standsFor(c)
			}
		})
	}
}

// states is a set of provision states, in the order in which they were added.
type states []ironic.ProvisionState

func (s *states) add(state ironic.ProvisionState) {
	if !slices.Contains(*s, state) {
		*s = append(*s, state)
	}
}

// standsFor checks that a case has made the calls and met the states that it is
// named for.
func (w *World) standsFor(c Case) {
	w.T.Helper()
	calls := c.Calls
	if w.Events {
		calls = slices.Concat(calls, eventCalls[c.Name])
	}
	made := w.Recorder.since(0)
	for _, want := range calls {
		w.Expect(made).To(gomega.ContainElement(want), "the case must make the call that it stands for")
	}
	for _, a := range Actions {
		if a.Case == c.Name {
			w.Expect(w.visited).To(gomega.ContainElement(a.State), "the case must have a node in the state that it stands for")
		}
	}
	for state, name := range Homes {
		if name == c.Name {
			w.Expect(w.held).To(gomega.ContainElement(state), "the case must hold a node in the state that it is the home of")
		}
	}
}

// Recorder notes the requests that pass through it, and how they are answered.
type Recorder struct {
	mu       sync.Mutex
	requests []string
	statuses []int // of the same requests; 0 without an answer
}

// Wrap is for Config.Wrap.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		r.mu.Lock()
		i := len(r.requests)
		r.requests, r.statuses = append(r.requests, pattern(request)), append(r.statuses, 0)
		r.mu.Unlock()
		answer, err := next.RoundTrip(request)
		if err == nil {
			r.mu.Lock()
			r.statuses[i] = answer.StatusCode
			r.mu.Unlock()
		}
		return answer, err
	})
}

// answers are the statuses of all requests of one pattern since a mark.
func (r *Recorder) answers(mark int, pattern string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []int
	for i := mark; i < len(r.requests); i++ {
		if r.requests[i] == pattern {
			list = append(list, r.statuses[i])
		}
	}
	return list
}

func (r *Recorder) mark() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

func (r *Recorder) since(mark int) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.requests[mark:])
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var (
	nodeSegment = regexp.MustCompile(`^/v1/nodes/[^/]+`)
	portSegment = regexp.MustCompile(`^/v1/ports/[^/]+`)
)

// shownQuery are the query parameters that tell calls of one path apart.
var shownQuery = []string{"address", "node_uuid", "method", "sort_key", "provision_state"}

// pattern writes a request the way Case.Calls does.
func pattern(r *http.Request) string {
	path := nodeSegment.ReplaceAllString(r.URL.Path, "/v1/nodes/{n}")
	path = portSegment.ReplaceAllString(path, "/v1/ports/{p}")
	var shown []string
	for _, key := range shownQuery {
		if value := r.URL.Query().Get(key); value != "" && value != "created_at" {
			if key == "address" || key == "node_uuid" {
				value = "{" + key + "}"
			}
			shown = append(shown, key+"="+value)
		}
	}
	if len(shown) > 0 {
		path += "?" + strings.Join(shown, "&")
	}
	return r.Method + " " + path
}

// nodeNames makes node names unique within a process.
var nodeNames struct {
	sync.Mutex
	next int
}

// Name returns a node name that is not in use.
func (w *World) Name() string {
	nodeNames.Lock()
	defer nodeNames.Unlock()
	nodeNames.next++
	return fmt.Sprintf("contract~%s-%d", strings.ToLower(regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(w.T.Name(), "-")), nodeNames.next)
}

// Enrol creates a node on a new machine, with its boot port, and removes it
// after the test.
func (w *World) Enrol() (*ironic.Node, Machine) {
	w.T.Helper()
	m := w.NewMachine(w.T)
	n, err := w.Gateway.Enrol(w.T.Context(), ironic.Enrolment{
		Name: w.Name(), Driver: m.Driver, DriverInfo: m.DriverInfo,
		Properties: map[string]any{"cpu_arch": "x86_64", "capabilities": "boot_mode:uefi"},
		Interfaces: ironic.Interfaces{Boot: "redfish-virtual-media", Deploy: "custom-agent", Inspect: "agent", Firmware: "redfish", RAID: "agent"},
	})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.visited.add(n.ProvisionState)
	w.Expect(w.Gateway.EnsurePorts(w.T.Context(), n.UUID, []ironic.Port{{MAC: m.MAC, PXEEnabled: true}})).Error().NotTo(gomega.HaveOccurred())
	return n, m
}

// Manageable is Enrol and manage.
func (w *World) Manageable() *ironic.Node {
	w.T.Helper()
	n, _ := w.Enrol()
	return w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
}

// Available is Manageable and provide, without automated cleaning.
func (w *World) Available() *ironic.Node {
	w.T.Helper()
	n := w.Update(w.Manageable(), ironic.Desired{AutomatedClean: new(bool)})
	return w.Do(n, ironic.Transition{Target: ironic.TargetProvide}, ironic.StateAvailable)
}

// Update changes a node, again while it is busy.
func (w *World) Update(n *ironic.Node, d ironic.Desired) *ironic.Node {
	w.T.Helper()
	var after *ironic.Node
	w.Accepted(func() error {
		var err error
		after, _, err = w.Gateway.Update(w.T.Context(), n, d)
		return err
	})
	return after
}

// Accepted repeats a call while it is answered busy, as its callers do.
func (w *World) Accepted(call func() error) {
	w.T.Helper()
	w.Eventually(func() error {
		err := call()
		if err != nil && ironic.KindOf(err) != ironic.Busy {
			return gomega.StopTrying("not accepted").Wrap(err)
		}
		return err
	}, w.Patience, w.Look).Should(gomega.Succeed())
}

// Do asks for a transition and waits for the state.
func (w *World) Do(n *ironic.Node, t ironic.Transition, state ironic.ProvisionState) *ironic.Node {
	w.T.Helper()
	w.Accepted(func() error { return w.Gateway.Transition(w.T.Context(), n.UUID, t) })
	return w.Until(n.UUID, state)
}

// Until waits until a node is in a state with no lock on it. It stops early
// in a failure state that was not waited for.
func (w *World) Until(uuid string, state ironic.ProvisionState) *ironic.Node {
	w.T.Helper()
	var n *ironic.Node
	w.Eventually(func(g gomega.Gomega) {
		var err error
		n, err = w.Gateway.Get(w.T.Context(), uuid)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		w.visited.add(n.ProvisionState)
		if n.ProvisionState.Failed() && n.ProvisionState != state {
			reason, _ := w.Gateway.FailureReason(w.T.Context(), uuid, time.Time{})
			gomega.StopTrying(fmt.Sprintf("the node is in %q: %s %s", n.ProvisionState, n.LastError, reason)).Now()
		}
		g.Expect(n.ProvisionState).To(gomega.Equal(state), n.LastError)
		g.Expect(n.Reservation).To(gomega.BeEmpty())
	}, w.Patience, w.Look).Should(gomega.Succeed())
	return n
}
