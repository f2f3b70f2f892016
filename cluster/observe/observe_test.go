package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/csr"
	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/nodes"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/wire"
)

// listed has a list bring one object.
func listed(sink kube.Sink, object string) {
	add, done := sink.List()
	add(json.RawMessage(object))
	done()
}

// TestPodsThatAreWaitedFor: what has ended or is going, and what its controller has replaced
// by another pod, never gets ready.
func TestPodsThatAreWaitedFor(t *testing.T) {
	const (
		ofSet  = `"ownerReferences":[{"kind":"ReplicaSet","controller":true}]`
		ofNode = `"ownerReferences":[{"kind":"Node","controller":true}]`
		ofJob  = `"ownerReferences":[{"kind":"Job","controller":true}]`
		going  = `"deletionTimestamp":"2026-11-28T12:00:00Z"`
		ready  = `"conditions":[{"type":"Ready","status":"True"}]`
	)
	for name, tc := range map[string]struct {
		metadata, status string
		waits            string
	}{
		"ready":                          {ofSet, `"phase":"Running",` + ready, ""},
		"not ready":                      {ofSet, `"phase":"Running"`, "Running"},
		"crashing":                       {ofSet, `"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]`, "CrashLoopBackOff"},
		"of a Job, which tries again":    {ofJob, `"phase":"Failed"`, ""},
		"has done its work":              {`"labels":{}`, `"phase":"Succeeded"`, ""},
		"evicted, and replaced":          {ofSet, `"phase":"Failed","reason":"Evicted"`, ""},
		"going, and replaced":            {ofSet + "," + going, `"phase":"Running"`, ""},
		"failed, and nobody replaces it": {`"labels":{}`, `"phase":"Failed"`, "Failed"},
		"a static pod that failed":       {ofNode, `"phase":"Failed"`, "Failed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := observe.New()
			listed(&c.Pods, `{"metadata":{"name":"p",`+tc.metadata+`},"status":{`+tc.status+`}}`)
			p := c.Pods.All()["p"]
			g.Expect(p.Ready).To(Equal(tc.waits == ""))
			g.Expect(p.Waiting).To(Equal(tc.waits))
		})
	}
}

// TestANodeOfAnEarlierInstallation: a host that is installed once more has its node still,
// which nobody has heard of for long. The host has joined when its kubelet speaks.
func TestANodeOfAnEarlierInstallation(t *testing.T) {
	host := facts.Host{ID: "h", Name: "a", Role: wire.HostRoleWorker, Status: wire.HostStatusInstallingInProgress, Stage: wire.HostStageRebooting}
	for status, stages := range map[string][]wire.HostStage{
		"Unknown": nil,
		"False":   {wire.HostStageJoined},
		"True":    {wire.HostStageJoined, wire.HostStageDone},
	} {
		t.Run(status, func(t *testing.T) {
			g := NewWithT(t)
			c := observe.New()
			listed(&c.Nodes, `{"metadata":{"name":"a"},"status":{"conditions":[{"type":"Ready","status":"`+status+`"}]}}`)
			_, reports := nodes.Plan([]facts.Host{host}, c.Nodes.All(), nodes.Options{})
			var got []wire.HostStage
			for _, r := range reports {
				got = append(got, r.Stage)
			}
			g.Expect(got).To(Equal(stages))
		})
	}
}

// TestCopiesOfOperatorsAreNotRead: there are as many of them as the cluster has namespaces.
func TestCopiesOfOperatorsAreNotRead(t *testing.T) {
	g := NewWithT(t)
	var mu sync.Mutex
	asked := map[string]string{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked[r.URL.Path] = r.URL.Query().Get("labelSelector")
		http.NotFound(w, r)
	}))
	defer api.Close()
	client, err := kube.New(kube.Access{URL: api.URL})
	g.Expect(err).NotTo(HaveOccurred())
	c := observe.New()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		c.Follow(ctx, client, slog.New(slog.DiscardHandler), func() time.Duration { return time.Hour })
		close(ended)
	}()
	g.Eventually(c.Ready, time.Minute).Should(BeTrue())
	stop()
	g.Eventually(ended, time.Minute).Should(BeClosed())
	g.Expect(asked).To(And(HaveLen(7), HaveKeyWithValue(observe.Services, "!olm.copiedFrom"), HaveKeyWithValue(observe.Nodes, ""), HaveKeyWithValue(observe.Subscriptions, "")))
}

// TestContentOfRequestsIsNotKept: whoever has a bootstrap token, or a node's key, can make any number of signing
// requests, of any content. Thousands that are each as large as a kubelet's may be are more than this program may hold.
func TestContentOfRequestsIsNotKept(t *testing.T) {
	g := NewWithT(t)
	c := observe.New()
	object := func(name, signer, status string) json.RawMessage {
		raw, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"name": name, "uid": name, "labels": map[string]any{"a": strings.Repeat("l", 1<<10)}},
			"spec": map[string]any{
				"signerName": signer, "username": strings.Repeat("u", 1<<10), "groups": []string{strings.Repeat("g", 1<<10)}, "request": bytes.Repeat([]byte("A"), csr.MaxRequest),
			},
			"status": json.RawMessage(status),
		})
		g.Expect(err).NotTo(HaveOccurred())
		return raw
	}
	_, done := c.Requests.List()
	done()
	before := heap()
	const many = 2_000
	for i := range many {
		c.Requests.Set(object(fmt.Sprintf("request-%d", i), csr.Serving, `{}`))
	}
	c.Requests.Set(object("another-signers", "example.com/own", `{}`))
	c.Requests.Set(object("denied", csr.Client, `{"conditions":[{"type":"Denied","status":"True"}]}`))
	kept := heap() - before
	g.Expect(kept).To(BeNumerically("<", 500*many), "bytes")
	all := c.Requests.All()
	g.Expect(all).To(And(HaveLen(many), HaveKeyWithValue("request-7", csr.Listed{Name: "request-7", UID: "request-7", Signer: csr.Serving})))
	c.Requests.Set(object("request-7", csr.Serving, `{"conditions":[{"type":"Approved","status":"True","reason":"ByHand"}]}`))
	g.Expect(c.Requests.All()).NotTo(HaveKey("request-7"), "others have settled it")
	c.Requests.Set(object("request-8", csr.Serving, `{"certificate":"QQ==","conditions":[{"type":"Approved","status":"True","reason":"IronflowKnowsTheHost","lastUpdateTime":"2026-11-28T12:00:00Z"}]}`))
	g.Expect(c.Requests.All()["request-8"].ApprovedAt).NotTo(BeZero(), "the hub has to hear of it")
}

// heap are the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
