package work_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/cluster/manifests"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/cluster/played"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

type object = incluster.Object

// world is a real kube-apiserver with the program's rights in it, and nobody else: the
// test plays kubelets and the operators of OpenShift. The hub is played, too.
type world struct {
	*WithT

	t *testing.T
	*incluster.Cluster
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), t: t}
	var err error
	w.Cluster, err = incluster.New(t.Context(), labtest.ControlPlane(t, lab.ControlPlaneOptions{}))
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(w.Close)
	w.Expect(w.Apply(t.Context(), manifests.Settings{
		Image: "registry.example/x:1", HubURL: "http://hub.example", ClusterID: played.ClusterID, Token: "t", OpenShift: true, HubLeaves: true,
	})).To(Succeed())
	return w
}

// as is a client with somebody's access.
func (w *world) as(user string, groups ...string) *kube.Client {
	w.t.Helper()
	client, err := w.As(user, groups...)
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(client.Close)
	return client
}

// program is who the manifests let it be.
func (w *world) program() *kube.Client {
	user, groups := incluster.Account()
	return w.as(user, groups...)
}

// ask makes a signing request as somebody.
func (w *world) ask(name string, as *kube.Client, node, signer string, names []string, addresses ...string) {
	w.t.Helper()
	w.Expect(incluster.Ask(w.t.Context(), as, name, node, signer, names, addresses...)).To(Succeed())
}

func (w *world) approvals(name string) int {
	n, err := w.Approvals(w.t.Context(), name)
	w.Expect(err).NotTo(HaveOccurred())
	return n
}

func (w *world) node(name, address string, ready bool) {
	w.t.Helper()
	w.Expect(w.Node(w.t.Context(), name, address, ready, nil)).To(Succeed())
}

func (w *world) pod(name string, ready bool) {
	w.t.Helper()
	w.Expect(w.Pod(w.t.Context(), name, ready)).To(Succeed())
}

// inside is the program as tests start it.
type inside struct {
	*work.Runner

	Done chan work.Outcome
	stop context.CancelFunc
	wait sync.WaitGroup
	// writes are those that the Kubernetes API has answered.
	writes atomic.Int64
	// requests are all of them by method and code.
	mu       sync.Mutex
	requests map[string]int
}

// start starts it; the end of the test stops it. written is called after each write to the Kubernetes API.
func (w *world) start(hub *played.Hub, options func(*work.Runner), written func()) *inside {
	w.t.Helper()
	client, err := hubapi.New(hubapi.Options{URL: hub.URL, ClusterID: played.ClusterID, Token: "secret"})
	w.Expect(err).NotTo(HaveOccurred())
	kubernetes := w.program()
	p := &inside{Done: make(chan work.Outcome, 1), requests: map[string]int{}}
	m := metrics.New()
	kubernetes.Requests = func(verb string, code int) {
		m.Kube(verb, code)
		p.mu.Lock()
		p.requests[verb]++
		p.mu.Unlock()
		if verb != http.MethodGet {
			p.writes.Add(1)
			if written != nil {
				written()
			}
		}
	}
	ring := &logs.Ring{}
	p.Runner = &work.Runner{
		Hub: client, Kube: kubernetes, Caches: observe.New(), Metrics: m, Log: slog.New(slog.NewJSONHandler(ring, nil)), Ring: ring,
		Now: time.Now, Probe: func(context.Context, string) string { return "" }, StartWithin: time.Minute,
		Busy: 100 * time.Millisecond, Rest: 100 * time.Millisecond, Gap: 10 * time.Millisecond,
	}
	if options != nil {
		options(p.Runner)
	}
	ctx, stop := context.WithCancel(w.t.Context())
	p.stop = stop
	p.wait.Go(func() {
		p.Caches.Follow(ctx, kubernetes, p.Log, func() time.Duration { return 200 * time.Millisecond })
	})
	p.wait.Go(func() {
		outcome, err := p.Run(ctx)
		if err != nil {
			w.t.Log(outcome, err)
		}
		p.Done <- outcome
		stop()
	})
	w.t.Cleanup(p.kill)
	return p
}

// kill ends it wherever it is.
func (p *inside) kill() {
	p.stop()
	p.wait.Wait()
}
