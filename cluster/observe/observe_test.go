package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
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

// TestLargeRequestsAreNotKept: whoever has a bootstrap token, or a node's key, can make signing requests as large as the
// API server takes. A hundred of them are more than this program may hold; no kubelet's is that large.
func TestLargeRequestsAreNotKept(t *testing.T) {
	g := NewWithT(t)
	c := observe.New()
	object := func(name string, size int) json.RawMessage {
		raw, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"name": name, "uid": name},
			"spec":     map[string]any{"signerName": csr.Serving, "username": "system:node:a", "request": bytes.Repeat([]byte("A"), size)},
		})
		g.Expect(err).NotTo(HaveOccurred())
		return raw
	}
	_, done := c.Requests.List()
	done()
	for i := range 100 {
		c.Requests.Set(object(fmt.Sprintf("large-%d", i), 1<<20))
	}
	c.Requests.Set(object("usual", 3<<10))
	kept, all := 0, c.Requests.All()
	for _, q := range all {
		kept += len(q.PEM)
	}
	g.Expect(all).To(HaveLen(101))
	g.Expect(kept).To(Equal(3<<10), "the usual one alone, in bytes")
	verdict := csr.Judge(all["large-7"], csr.World{})
	g.Expect(verdict.Decision).To(Equal(csr.Leave))
	g.Expect(verdict.Reason).To(Equal(csr.Unreadable))
	g.Expect(verdict.Message).To(ContainSubstring("1048576 bytes"), "its author is told why")
}
