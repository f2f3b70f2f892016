package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

func TestCertificateIsReloaded(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	cert, key := certificate(t, dir, "one")
	r := start(t, func(o *server.Options) { o.CertFile, o.KeyFile = cert, key })
	name := func() string {
		r.client.CloseIdleConnections()
		resp, _ := r.do(t, http.MethodHead, r.https)
		g.Expect(resp.Proto).To(Equal("HTTP/1.1"))
		return resp.Server
	}
	g.Expect(name()).To(Equal("one"))
	certificate(t, dir, "another")
	g.Eventually(name, time.Minute, "500ms").Should(Equal("another"))
}

// certificate writes a self-signed pair.
func certificate(t *testing.T, dir, name string) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: raw},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

func TestServeNeedsAUsableCertificate(t *testing.T) {
	g := NewWithT(t)
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	s, err := images.NewStore(t.Context(), images.Options{BaseURL: "https://x", SigningKey: make([]byte, 32)})
	g.Expect(err).NotTo(HaveOccurred())
	err = server.New(server.Options{Store: s, CertFile: "/none"}).Serve(t.Context(), []server.Listener{{Listener: l, TLS: true}})
	g.Expect(err).To(MatchError(ContainSubstring("TLS of the image server")))
}

// TestSlowReadersOverTLSTakeLittleMemory: each keeps what was read for it and not sent yet,
// and anybody may be slow.
func TestSlowReadersOverTLSTakeLittleMemory(t *testing.T) {
	const readers, most = 60, 128 << 10
	g, dir := NewWithT(t), t.TempDir()
	cert, key := certificate(t, dir, "one")
	r := startLarge(t, func(o *server.Options) { o.CertFile, o.KeyFile = cert, key })
	address, path, _ := strings.Cut(strings.TrimPrefix(r.https, "https://"), "/")
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // also what lay in pools
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for range readers {
		c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) // a certificate of the test's own
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = c.Close() })
		_, err = c.Write([]byte("GET /" + path + " HTTP/1.1\r\nHost: a\r\n\r\n"))
		g.Expect(err).NotTo(HaveOccurred())
	}
	sent := func() float64 { return r.values(t)["ironflow_images_sent_bytes_total"] }
	g.Eventually(func() float64 { return r.values(t)["ironflow_images_readers"] }, time.Minute).Should(BeEquivalentTo(readers))
	last := -1.0
	g.Eventually(func() bool {
		before := last
		last = sent()
		return last == before
	}, time.Minute, "500ms").Should(BeTrue(), "all are held up")
	g.Expect((heap()-before)/readers).To(BeNumerically("<", most), "bytes for each, the test's own half included")
}
