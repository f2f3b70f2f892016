package parts

import (
	"io"
	"net"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
)

// TestProbesOfAProgramThatWaits holds that it is alive, says why it is not ready,
// and leaves the address to the program that starts then.
func TestProbesOfAProgramThatWaits(t *testing.T) {
	g := NewWithT(t)
	free, err := Listen(t.Context(), "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	addr := free.Addr().String()
	g.Expect(free.Close()).To(Succeed())
	stop, err := serveWaiting(t.Context(), addr, "waiting for pod-1")
	g.Expect(err).NotTo(HaveOccurred())
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		response, err := http.Get("http://" + addr + path)
		g.Expect(err).NotTo(HaveOccurred())
		body, err := io.ReadAll(response.Body)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(response.Body.Close()).To(Succeed())
		g.Expect(response.StatusCode).To(Equal(want))
		if want != http.StatusOK {
			g.Expect(string(body)).To(ContainSubstring("waiting for pod-1"))
		}
	}
	g.Expect(stop()).To(Succeed())
	again, err := net.Listen("tcp", addr)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Close()).To(Succeed())
}
