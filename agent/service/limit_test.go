package service

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TestProtocolTimeLimit: the reply of a step whose own time limit ran out, as it
// comes over the wire. The step is shorter than any that is shipped.
func TestProtocolTimeLimit(t *testing.T) {
	g := NewWithT(t)
	const env, host = "11111111-1111-4111-8111-111111111111", "33333333-3333-4333-8333-333333333333"
	posted := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"next_instruction_seconds":60,"instructions":[{"step_type":"inventory","step_id":"inventory-1","args":[]}]}`)
			return
		}
		raw, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/instructions") {
			posted <- string(raw)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	a, err := newAgent(Config{
		URL: server.URL, InfraEnvID: env, HostID: host, Interval: time.Second, Dir: hostfile.Dir{Root: t.TempDir()},
		Dry: dryrun.Settings{Enabled: true}, Log: slog.New(slog.DiscardHandler),
	})
	g.Expect(err).NotTo(HaveOccurred())
	a.dispatcher = steps.NewDispatcher(steps.Registry{"inventory": {Deadline: 50 * time.Millisecond, Run: func(ctx context.Context, _ []string) steps.Result {
		<-ctx.Done()
		return steps.Failed(steps.ExitBad, "the disk does not answer")
	}}}, a.outbox.Put, a.log)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- a.run(ctx) }()
	g.Expect(<-posted).To(MatchJSON(`{"step_type":"inventory","step_id":"inventory-1","exit_code":124,"error":"inventory did not end within 50ms: the disk does not answer"}`))
	cancel()
	<-ended
}
