package events

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestServe: over TLS 1.2 and later with HTTP/1.1, until it is to end.
func TestServe(t *testing.T) {
	g := NewWithT(t)
	pattern := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer pattern.Close()
	heard := make(chan string, 1)
	r := NewReceiver(Options{Keys: testKeys(t), Sink: &sink{more: make(chan struct{}, 1)}, Heard: func(host string, _ time.Time) { heard <- host }})
	r.Register("host-1", 0)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- r.Serve(ctx, listener, &tls.Config{Certificates: pattern.TLS.Certificates, MinVersion: tls.VersionTLS12})
	}()
	key := testKeys(t).Of("host-1", 0)
	destination, err := key.Destination("https://" + listener.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	post := func(url string) (status, protocol int) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(`{"Context":"`+key.Context+`","Events":[]}`)))
		g.Expect(err).NotTo(HaveOccurred())
		answer, err := pattern.Client().Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		return answer.StatusCode, answer.ProtoMajor
	}
	status, protocol := post(destination)
	g.Expect(status).To(Equal(http.StatusNoContent))
	g.Expect(protocol).To(Equal(1))
	g.Expect(<-heard).To(Equal("host-1"))
	status, _ = post(destination + "x")
	g.Expect(status).To(Equal(http.StatusNotFound))
	g.Expect(heard).To(BeEmpty())
	pattern.Client().CloseIdleConnections()
	stop()
	g.Expect(<-ended).To(Succeed())
}

// TestGate: nobody takes all connections that there are, and who leaves makes room.
func TestGate(t *testing.T) {
	g := NewWithT(t)
	gate := &gate{most: 3, perAddress: 2, by: map[netip.Addr]int{}}
	a, b := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	g.Expect([]bool{gate.enter(a), gate.enter(a), gate.enter(a), gate.enter(b), gate.enter(b)}).To(Equal([]bool{true, true, false, true, false}))
	gate.leave(a)
	g.Expect(gate.enter(b)).To(BeTrue())
	gate.leave(a)
	gate.leave(b)
	gate.leave(b)
	g.Expect(gate.by).To(BeEmpty())
	g.Expect(gate.open).To(BeZero())
}
