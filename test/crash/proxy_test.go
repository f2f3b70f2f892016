package crash

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
)

// rig is a gate with a proxy in front of a server; its process is a count of kills.
type rig struct {
	gate   *Gate
	url    string
	served atomic.Int32
	kills  atomic.Int32
}

func newRig(t *testing.T, plan Plan, handle http.HandlerFunc) *rig {
	r := &rig{gate: NewGate(plan)}
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.served.Add(1)
		handle(w, req)
	}))
	proxy := httptest.NewServer(NewProxy(r.gate, ProxyOptions{
		Peer: Ironic, Target: parse(t, peer.URL), Transport: http.DefaultTransport,
		Ignore: func(req *http.Request) bool { return req.URL.Path == "/clock" },
	}))
	t.Cleanup(peer.Close)
	t.Cleanup(proxy.Close)
	r.url = proxy.URL
	r.start(t)
	return r
}

// start is the process's next start.
func (r *rig) start(t *testing.T) {
	NewWithT(t).Expect(r.gate.up(func() (func(), error) { return func() { r.kills.Add(1) }, nil })).To(Succeed())
}

// get reports what a client hears.
func (r *rig) get(t *testing.T, path string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	request.Close = true // a cut connection is not tried again on another
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "cut"
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func TestKills(t *testing.T) {
	hello := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.URL.Path) }
	for name, c := range map[string]struct {
		plan   Plan
		served int32
	}{
		"before the request is sent on": {Plan{When: Before, First: 2}, 1},
		"before the answer":             {Plan{When: After, First: 2}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := newRig(t, c.plan, hello)
			g.Expect(r.get(t, "/one")).To(Equal("hello /one"))
			g.Expect(r.get(t, "/clock")).To(Equal("hello /clock"), "passes without a number")
			r.served.Store(1)
			g.Expect(r.get(t, "/two")).To(Equal("cut"))
			g.Expect(r.served.Load()).To(Equal(c.served))
			g.Expect(r.kills.Load()).To(BeEquivalentTo(1))
			g.Expect(r.get(t, "/three")).To(Equal("cut"), "the dead do not speak")
			g.Expect(r.get(t, "/clock")).To(Equal("cut"))
			r.start(t)
			g.Expect(r.get(t, "/four")).To(Equal("hello /four"))
			g.Expect(r.gate.Journal()).To(HaveExactElements(
				And(HaveField("Path", "/one"), HaveField("Status", http.StatusOK), HaveField("Killed", false)),
				And(HaveField("Path", "/two"), HaveField("Killed", true), HaveField("Start", 1)),
				And(HaveField("Path", "/four"), HaveField("Killed", false), HaveField("Start", 2)),
			))
		})
	}
}

func TestPlan(t *testing.T) {
	g := NewWithT(t)
	var hit []int
	for n := range 12 {
		if (Plan{First: 3, Every: 4}).hits(n) {
			hit = append(hit, n)
		}
	}
	g.Expect(hit).To(Equal([]int{3, 7, 11}))
	g.Expect(Plan{}.hits(1)).To(BeFalse())
}

func TestStreamsPass(t *testing.T) {
	g := NewWithT(t)
	more := make(chan string)
	r := newRig(t, Plan{}, func(w http.ResponseWriter, req *http.Request) {
		for {
			select {
			case line := <-more:
				_, _ = io.WriteString(w, line+"\n")
				w.(http.Flusher).Flush()
			case <-req.Context().Done():
				return
			}
		}
	})
	go func() { more <- "first" }()
	answer, err := http.Get(r.url + "/hosts?watch=true")
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	events := bufio.NewScanner(answer.Body)
	g.Expect(events.Scan()).To(BeTrue())
	g.Expect(events.Text()).To(Equal("first"))
	more <- "second"
	g.Expect(events.Scan()).To(BeTrue(), "delivered while the answer goes on")
	g.Expect(events.Text()).To(Equal("second"))
}

func TestSupervisorStartsAgain(t *testing.T) {
	g := NewWithT(t)
	gate := NewGate(Plan{})
	var starts atomic.Int32
	s := &Supervisor{Gate: gate, Command: func() *exec.Cmd {
		starts.Add(1)
		return exec.Command("sleep", "60")
	}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	for n := range int32(3) {
		g.Eventually(gate.alive, patience).Should(BeTrue())
		g.Expect(starts.Load()).To(Equal(n + 1))
		gate.down()
		g.Eventually(starts.Load, patience).Should(BeNumerically(">", n+1))
	}
	cancel()
	g.Eventually(ended, patience).Should(Receive(MatchError(context.Canceled)))
	g.Expect(gate.alive()).To(BeFalse())
}

func TestSupervisorReportsAnEndOfItsOwn(t *testing.T) {
	s := &Supervisor{Gate: NewGate(Plan{}), Command: func() *exec.Cmd { return exec.Command("false") }}
	err := s.Run(t.Context())
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("ended by itself")))
	_, isExit := errors.AsType[*exec.ExitError](err)
	NewWithT(t).Expect(isExit).To(BeTrue())
}
