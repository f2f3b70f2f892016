package hub

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
)

// TestTheHubListens: with TLS always, and without it only where that was asked for.
func TestTheHubListens(t *testing.T) {
	g := NewWithT(t)
	cert, err := pki.Ensure(filepath.Join(t.TempDir(), "tls"), []string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	hub := func() *Server {
		dir := t.TempDir()
		s := defaults(dir)
		s.Hub.Auth = "token"
		h, err := New(t.Context(), Options{Settings: s, Cert: cert, Log: slog.New(slog.DiscardHandler)})
		g.Expect(err).NotTo(HaveOccurred())
		return h
	}
	secure, plain := free(g), free(g)

	stop := served(g, hub(), secure, "")
	g.Eventually(get(secure)).Should(Equal(http.StatusBadRequest), "net/http's answer to plain HTTP")
	g.Expect(get(plain)()).To(BeZero(), "nobody is there")
	stop()

	stop = served(g, hub(), secure, plain)
	g.Eventually(get(plain)).Should(Equal(http.StatusOK))
	g.Expect(get(secure)()).To(Equal(http.StatusBadRequest))
	stop()
	g.Expect(get(plain)()).To(BeZero(), "it has ended with the hub")

	taken, err := net.Listen("tcp", plain)
	g.Expect(err).NotTo(HaveOccurred())
	defer taken.Close()
	g.Expect(hub().Serve(t.Context(), secure, plain)).To(MatchError(And(ContainSubstring("cannot listen on "+plain), ContainSubstring("choose another address"))))
}

// served serves until the function that it returns is called.
func served(g *WithT, h *Server, addr, plain string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx, addr, plain) }()
	return func() {
		cancel()
		g.Expect(<-done).To(Or(Succeed(), MatchError(context.Canceled)))
	}
}

// get asks at the address without TLS for the status of the hub's health, zero where nobody answers.
func get(addr string) func() int {
	return func() int {
		answer, err := http.Get("http://" + addr + "/health")
		if err != nil {
			return 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode
	}
}

// free is an address that nobody uses.
func free(g *WithT) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	return l.Addr().String()
}
