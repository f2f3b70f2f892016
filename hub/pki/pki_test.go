package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
)

func TestEnsure(t *testing.T) {
	now := time.Now()
	for name, tc := range map[string]struct {
		hosts []string
		at    time.Time
		kept  bool
	}{
		"a second start keeps the certificate":           {[]string{"127.0.0.1", "hub.example"}, now.Add(time.Hour), true},
		"a new name makes a new certificate":             {[]string{"127.0.0.1", "other.example"}, now.Add(time.Hour), false},
		"a certificate near its end is renewed at start": {[]string{"127.0.0.1"}, now.Add(300 * 24 * time.Hour), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			files, err := pki.Ensure(dir, []string{"127.0.0.1", "hub.example"}, now)
			g.Expect(err).NotTo(HaveOccurred())
			ca, first := read(g, files.CA), read(g, files.Cert)

			again, err := pki.Ensure(dir, tc.hosts, tc.at)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(read(g, again.CA)).To(Equal(ca), "clients trust this CA: it must stay")
			g.Expect(read(g, again.Cert) == first).To(Equal(tc.kept))
			verify(g, again, tc.hosts, tc.at)
		})
	}
}

func TestEnsureDoesNotReplaceABrokenCA(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	_, err := pki.Ensure(dir, []string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.WriteFile(filepath.Join(dir, "ca.key"), []byte("broken"), 0o600)).To(Succeed())
	_, err = pki.Ensure(dir, []string{"127.0.0.1"}, time.Now())
	g.Expect(err).To(MatchError(ContainSubstring("restore the files")))
	g.Expect(os.Remove(filepath.Join(dir, "ca.key"))).To(Succeed())
	_, err = pki.Ensure(dir, []string{"127.0.0.1"}, time.Now())
	g.Expect(err).To(MatchError(ContainSubstring("restore the files")), "half a CA is a damaged one")
}

func TestReloaderKeepsTheLastGoodCertificate(t *testing.T) {
	g := NewWithT(t)
	files, err := pki.Ensure(t.TempDir(), []string{"127.0.0.1"}, time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	r, err := pki.NewReloader(files)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Remove(files.Key)).To(Succeed())
	cert, err := r.TLSConfig().GetCertificate(&tls.ClientHelloInfo{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(cert).NotTo(BeNil())
	_, err = pki.NewReloader(files)
	g.Expect(err).To(HaveOccurred(), "a listener never starts without a usable certificate")
}

func read(g *WithT, file string) string {
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

func verify(g *WithT, files pki.Files, hosts []string, at time.Time) {
	pool := x509.NewCertPool()
	g.Expect(pool.AppendCertsFromPEM([]byte(read(g, files.CA)))).To(BeTrue())
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	g.Expect(err).NotTo(HaveOccurred())
	for _, h := range hosts {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: h, CurrentTime: at})
		g.Expect(err).NotTo(HaveOccurred())
	}
}
