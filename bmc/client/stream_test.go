package client_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

const sse = "/redfish/v1/EventService/SSE"

// ticks sends an event a minute.
func ticks(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") != "text/event-stream" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	for i := 0; ; i++ {
		_, _ = fmt.Fprintf(w, "data: %d\n", i)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(time.Minute):
		case <-r.Context().Done():
			return
		}
	}
}

func TestStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.paths[sse] = ticks
		it := inside(t, f, quick())
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		f.forgetSessions()
		stream, err := it.Stream(t.Context(), sse)
		g.Expect(err).NotTo(HaveOccurred(), "the session is renewed")
		lines := bufio.NewScanner(stream)
		start := time.Now()
		for i := range 10 {
			g.Expect(lines.Scan()).To(BeTrue(), "%v", lines.Err())
			g.Expect(lines.Text()).To(Equal(fmt.Sprintf("data: %d", i)))
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed(), "a stream takes no turn of others")
		}
		g.Expect(time.Since(start)).To(Equal(9*time.Minute), "it outlives the timeout of a request")
		g.Expect(it.Close(t.Context())).To(Succeed())
		g.Expect(lines.Scan()).To(BeFalse(), "it ends with the client")
		g.Expect(stream.Close()).To(Succeed())
	})
}

func TestStreamEnds(t *testing.T) {
	cases := map[string]func(cancel context.CancelFunc, stream io.Closer){
		"with its context":   func(cancel context.CancelFunc, _ io.Closer) { cancel() },
		"with its own Close": func(_ context.CancelFunc, stream io.Closer) { _ = stream.Close() },
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				gone := make(chan struct{})
				f.paths[sse] = func(w http.ResponseWriter, r *http.Request) {
					ticks(w, r)
					close(gone)
				}
				it := inside(t, f, quick())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				stream, err := it.Stream(ctx, sse)
				g.Expect(err).NotTo(HaveOccurred())
				end(cancel, stream)
				<-gone // or the bubble's deadlock fails the test
				_, err = io.ReadAll(stream)
				g.Expect(err).To(HaveOccurred())
				_ = stream.Close()
			})
		})
	}
}

func TestStreamThatDoesNotBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.paths[sse] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		it := inside(t, f, quick())
		start := time.Now()
		_, err := it.Stream(t.Context(), sse)
		g.Expect(client.KindOf(err)).To(Equal(client.Unreachable))
		g.Expect(time.Since(start)).To(Equal(30 * time.Second))
		_, err = it.Stream(t.Context(), "/redfish/v1/Nothing")
		g.Expect(err).NotTo(HaveOccurred())
		f.paths[sse] = answers(http.StatusServiceUnavailable, "")
		_, err = it.Stream(t.Context(), sse)
		g.Expect(client.KindOf(err)).To(Equal(client.Busy))
		_, err = it.Stream(t.Context(), "https://evil.example/sse")
		g.Expect(client.KindOf(err)).To(Equal(client.Broken))
	})
}
