package work_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/cluster/work"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/played"
)

// requestsAPI is a Kubernetes API with signing requests, and nothing else. It counts how often each was read by itself.
type requestsAPI struct {
	mu       sync.Mutex
	requests map[string]object
	nodes    []object
	reads    map[string]int
	approved []string
}

func (a *requestsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Has("watch") {
		<-r.Context().Done()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	list := []object{}
	name, one := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name=")
	switch {
	case r.Method == http.MethodPut:
		a.approved = append(a.approved, path.Base(path.Dir(r.URL.Path)))
	case r.Method == http.MethodPost: // an event
	case r.URL.Path == observe.Requests && one:
		a.reads[name]++
		if q, there := a.requests[name]; there {
			list = append(list, q)
		}
	case r.URL.Path == observe.Requests:
		for _, q := range a.requests {
			list = append(list, q)
		}
	case r.URL.Path == observe.Nodes:
		list = append(list, a.nodes...)
	default:
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = json.NewEncoder(w).Encode(object{"metadata": object{"resourceVersion": "1"}, "items": list}) // who hangs up needs no answer
}

// Approved are the names of those that were approved.
func (a *requestsAPI) Approved() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.approved)
}

// Reads are how often each request was read.
func (a *requestsAPI) Reads() map[string]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.reads)
}

// TestStrangersRequestsAreReadOnce: whoever may make signing requests can make any number of them. They hold up no
// host, and none is read again before there is something new of its host.
func TestStrangersRequestsAreReadOnce(t *testing.T) {
	g := NewWithT(t)
	const many = 350
	api := &requestsAPI{requests: map[string]object{}, reads: map[string]int{}}
	for i := range many {
		name := fmt.Sprintf("a-stranger-%d", i)
		api.requests[name] = signingRequest(g, name, name)
	}
	api.requests["writing"] = signingRequest(g, "writing", "master-0")
	api.requests["z-worker"] = signingRequest(g, "z-worker", "worker-0")
	hosts := threeHosts()
	hosts[0].Progress.CurrentStage = wire.HostStageWritingImageToDisk
	hub := played.Start(t, hosts)
	api.watched(t, hub.URL)
	g.Eventually(api.Approved, long).Should(ConsistOf("z-worker"), "those before it do not hold it up")
	g.Eventually(func() int { return len(api.Reads()) }, long).Should(Equal(many+2), "each has its turn")
	calls := hub.Calls()
	g.Eventually(hub.Calls, long).Should(BeNumerically(">", calls+20), "it looks again and again")
	g.Expect(api.Reads()).To(HaveEach(1))

	hub.Do(func(_ *wire.Cluster, hosts []wire.Host) { hosts[0].Progress.CurrentStage = wire.HostStageRebooting })
	g.Eventually(api.Approved, long).Should(ConsistOf("z-worker", "writing"), "its host has left its live system")
	reads := api.Reads()
	g.Expect(reads["writing"]).To(Equal(2))
	delete(reads, "writing")
	g.Expect(reads).To(HaveEach(1), "there is nothing new of the others")
}

// watched has the program work on it until the test ends.
func (a *requestsAPI) watched(t *testing.T, hub string) {
	t.Helper()
	g := NewWithT(t)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	client, err := hubapi.New(hubapi.Options{URL: hub, ClusterID: played.ClusterID, Token: "secret"})
	g.Expect(err).NotTo(HaveOccurred())
	kubernetes, err := kube.New(kube.Access{URL: server.URL})
	g.Expect(err).NotTo(HaveOccurred())
	r := &work.Runner{
		Hub: client, Kube: kubernetes, Caches: observe.New(), Metrics: metrics.New(), Log: slog.New(slog.DiscardHandler), Ring: &logs.Ring{}, Now: time.Now,
		StartWithin: time.Minute, Busy: 20 * time.Millisecond, Rest: 20 * time.Millisecond, Gap: 10 * time.Millisecond,
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
	running.Go(func() { r.Caches.Follow(ctx, kubernetes, r.Log, func() time.Duration { return time.Hour }) })
	running.Go(func() { _, _ = r.Run(ctx) })
}

// TestARequestIsJudgedAgainWhenAnotherHostIsGone: of two hosts that say that they have an address, neither gets a certificate
// for it until there is one of them only.
func TestARequestIsJudgedAgainWhenAnotherHostIsGone(t *testing.T) {
	g := NewWithT(t)
	api := &requestsAPI{reads: map[string]int{}, nodes: []object{{"metadata": object{"name": "master-0", "uid": "n"}}}, requests: map[string]object{
		"serving": servingRequest(g, "serving", "master-0", "192.0.2.1"),
	}}
	hosts := threeHosts()
	hosts[0].Progress.CurrentStage = wire.HostStageJoined // nothing is reported of it
	hosts[1].Inventory = hosts[0].Inventory
	hub := played.Start(t, hosts)
	api.watched(t, hub.URL)
	g.Eventually(api.Reads, long).Should(HaveKeyWithValue("serving", 1))
	calls := hub.Calls()
	g.Eventually(hub.Calls, long).Should(BeNumerically(">", calls+20), "it looks again and again")
	g.Expect(api.Approved()).To(BeEmpty())
	g.Expect(api.Reads()).To(HaveKeyWithValue("serving", 1), "there is nothing new of either host")
	hub.Do(func(_ *wire.Cluster, hosts []wire.Host) { hosts[1].Status = wire.HostStatusCancelled })
	g.Eventually(api.Approved, long).Should(ConsistOf("serving"))
}

// TestWhatAHubRefusesForItsTokenIsToldAgain: the token may have been replaced just then, and is read again.
func TestWhatAHubRefusesForItsTokenIsToldAgain(t *testing.T) {
	g := NewWithT(t)
	request := signingRequest(g, "client", "worker-0")
	request["status"] = object{"conditions": []object{{"type": "Approved", "status": "True", "reason": csr.ApprovedBy, "lastUpdateTime": time.Now().UTC()}}}
	api := &requestsAPI{reads: map[string]int{}, requests: map[string]object{"client": request}}
	hub := played.Start(t, threeHosts())
	at, err := url.Parse(hub.URL)
	g.Expect(err).NotTo(HaveOccurred())
	var refused atomic.Bool
	behind := httputil.NewSingleHostReverseProxy(at)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") && !refused.Swap(true) {
			http.Error(w, `{"code":401,"message":"the token is another one by now"}`, http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	defer front.Close()
	api.watched(t, front.URL)
	g.Eventually(refused.Load, long).Should(BeTrue())
	g.Eventually(hub.Signed, long).Should(ConsistOf(ContainSubstring("client")))
}
