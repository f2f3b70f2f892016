package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/pki"
)

func TestServerAndClientTrustEachOther(t *testing.T) {
	g := NewWithT(t)
	authority, err := pki.New("test")
	g.Expect(err).NotTo(HaveOccurred())
	serving, err := authority.Server("bmc.example")
	g.Expect(err).NotTo(HaveOccurred())
	presented, err := authority.Client("alice", "system:masters", "staff")
	g.Expect(err).NotTo(HaveOccurred())

	pool := x509.NewCertPool()
	g.Expect(pool.AppendCertsFromPEM(authority.PEM)).To(BeTrue())
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		_, _ = io.WriteString(w, subject.CommonName+" "+strings.Join(slices.Sorted(slices.Values(subject.Organization)), ","))
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{load(g, serving)}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)

	for _, name := range []string{"", "localhost", "bmc.example"} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: pool, ServerName: name, Certificates: []tls.Certificate{load(g, presented)},
		}}}
		response, err := client.Get(server.URL)
		g.Expect(err).NotTo(HaveOccurred())
		body, err := io.ReadAll(response.Body)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(body)).To(Equal("alice staff,system:masters"))
		g.Expect(response.Body.Close()).To(Succeed())
	}

	other, err := pki.New("test")
	g.Expect(err).NotTo(HaveOccurred())
	stranger := x509.NewCertPool()
	g.Expect(stranger.AppendCertsFromPEM(other.PEM)).To(BeTrue())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: stranger}}}
	_, err = client.Get(server.URL) //nolint:bodyclose // there is no answer
	g.Expect(err).To(MatchError(ContainSubstring("certificate")))
}

// load parses a pair as crypto/tls does it for a listener.
func load(g *WithT, pair pki.Pair) tls.Certificate {
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	g.Expect(err).NotTo(HaveOccurred())
	return certificate
}
