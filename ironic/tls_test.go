package ironic_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab/pki"
)

// tlsProxy is a reverse proxy in front of an Ironic that demands client
// certificates. Its own certificate and the CA for its clients can be replaced.
type tlsProxy struct {
	*httptest.Server
	serving atomic.Pointer[tls.Config]
}

func newTLSProxy(t *testing.T, behind http.RoundTripper) *tlsProxy {
	p := &tlsProxy{}
	proxy := &httputil.ReverseProxy{Transport: behind, Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host = "http", "ironic.test"
	}}
	p.Server = httptest.NewUnstartedServer(proxy)
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return p.serving.Load(), nil }}
	t.Cleanup(p.Close)
	return p
}

// serve makes the proxy use certificates of these authorities from now on.
func (p *tlsProxy) serve(t *testing.T, server, clients *pki.Authority) {
	t.Helper()
	pair, err := server.Server()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(clients.PEM)
	p.serving.Store(&tls.Config{Certificates: []tls.Certificate{certificate}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots})
}

// credentials are the gateway's files.
type credentials struct{ ca, cert, key string }

func (c credentials) write(t *testing.T, trusted, own *pki.Authority, generation int) {
	t.Helper()
	e := NewWithT(t)
	pair, err := own.Client("ironflow")
	e.Expect(err).NotTo(HaveOccurred())
	for path, content := range map[string][]byte{c.ca: trusted.PEM, c.cert: pair.Cert, c.key: pair.Key} {
		e.Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
		at := time.Unix(int64(generation), 0)
		e.Expect(os.Chtimes(path, at, at)).To(Succeed())
	}
}

func authority(t *testing.T, name string) *pki.Authority {
	t.Helper()
	a, err := pki.New(name)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return a
}

func TestMutualTLSAndReload(t *testing.T) {
	e := NewWithT(t)
	s := simulator.New(simulator.Options{})
	t.Cleanup(s.Close)
	p := newTLSProxy(t, s.Transport())
	serverCA, clientCA := authority(t, "servers"), authority(t, "clients")
	p.serve(t, serverCA, clientCA)
	p.StartTLS()
	dir := t.TempDir()
	files := credentials{filepath.Join(dir, "ca.crt"), filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")}
	files.write(t, serverCA, clientCA, 1)
	config := ironic.Config{URL: p.URL, CAFile: files.ca, CertFile: files.cert, KeyFile: files.key}
	g, err := ironic.New(t.Context(), config)
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(g.Ready(t.Context())).To(Succeed())

	for name, c := range map[string]struct {
		change func(*ironic.Config)
		want   string
	}{
		"no client certificate": {func(c *ironic.Config) { c.CertFile, c.KeyFile = "", "" }, "certificate"},
		"another CA":            {func(c *ironic.Config) { c.CAFile = "" }, "unknown authority"},
		"no such CA file":       {func(c *ironic.Config) { c.CAFile = filepath.Join(dir, "missing") }, "CA file"},
	} {
		changed := config
		c.change(&changed)
		other, err := ironic.New(t.Context(), changed)
		e.Expect(err).NotTo(HaveOccurred())
		_, err = other.Get(t.Context(), "x")
		e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable), name)
		e.Expect(err).To(MatchError(ContainSubstring(c.want)), name)
	}

	newServerCA, newClientCA := authority(t, "new servers"), authority(t, "new clients")
	p.serve(t, newServerCA, newClientCA)
	p.CloseClientConnections()
	files.write(t, newServerCA, newClientCA, 2)
	e.Eventually(func() error { _, err := g.Get(t.Context(), "x"); return err }, 10*time.Second, 100*time.Millisecond).Should(
		HaveField("Kind", ironic.Gone), "the same gateway goes on with the new files")
}

func TestServerNameCanBeSkipped(t *testing.T) {
	e := NewWithT(t)
	s := simulator.New(simulator.Options{})
	t.Cleanup(s.Close)
	ca := authority(t, "servers")
	pair, err := ca.Server() // for 127.0.0.1, not for where it is used
	e.Expect(err).NotTo(HaveOccurred())
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	e.Expect(err).NotTo(HaveOccurred())
	listener, err := net.Listen("tcp", "127.0.0.2:0")
	e.Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(s)
	e.Expect(server.Listener.Close()).To(Succeed())
	server.Listener, server.Config.ErrorLog = listener, log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.crt")
	e.Expect(os.WriteFile(file, ca.PEM, 0o600)).To(Succeed())
	stranger := filepath.Join(t.TempDir(), "ca.crt")
	e.Expect(os.WriteFile(stranger, authority(t, "strangers").PEM, 0o600)).To(Succeed())
	for name, c := range map[string]struct {
		config ironic.Config
		kind   ironic.Kind
	}{
		"not skipped":                       {ironic.Config{CAFile: file}, ironic.Unavailable},
		"skipped":                           {ironic.Config{CAFile: file, SkipServerName: true}, ironic.Gone},
		"skipped, but not the chain":        {ironic.Config{CAFile: stranger, SkipServerName: true}, ironic.Unavailable},
		"nothing is verified when insecure": {ironic.Config{CAFile: stranger, Insecure: true}, ironic.Gone},
	} {
		c.config.URL = server.URL
		g, err := ironic.New(t.Context(), c.config)
		e.Expect(err).NotTo(HaveOccurred())
		_, err = g.Get(t.Context(), "x")
		e.Expect(ironic.KindOf(err)).To(Equal(c.kind), "%s: %v", name, err)
	}
}
