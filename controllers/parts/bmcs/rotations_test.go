package bmcs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/pki"
)

// mounted puts files where a Secret is mounted: each is a link to the folder of the
// present version, which is a link itself.
func mounted(t *testing.T, files map[string][]byte) string {
	t.Helper()
	g, folder := NewWithT(t), t.TempDir()
	g.Expect(os.Mkdir(filepath.Join(folder, "..v1"), 0o700)).To(Succeed())
	g.Expect(os.Symlink("..v1", filepath.Join(folder, "..data"))).To(Succeed())
	for name, content := range files {
		g.Expect(os.WriteFile(filepath.Join(folder, "..v1", name), content, 0o600)).To(Succeed())
		g.Expect(os.Symlink(filepath.Join("..data", name), filepath.Join(folder, name))).To(Succeed())
	}
	return folder
}

// TestTheIssuerOfCertificates is read from a mounted Secret; what is wrong is said with
// the file's name, and without the key.
func TestTheIssuerOfCertificates(t *testing.T) {
	g := NewWithT(t)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site"}, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	g.Expect(err).NotTo(HaveOccurred())
	cert, key := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
	lab, err := pki.New("lab")
	g.Expect(err).NotTo(HaveOccurred())
	server, err := lab.Server()
	g.Expect(err).NotTo(HaveOccurred())
	for name, c := range map[string]struct {
		files map[string][]byte
		says  string
	}{
		"good":            {files: map[string][]byte{"tls.crt": cert, "tls.key": key}},
		"good, with root": {files: map[string][]byte{"tls.crt": cert, "tls.key": key, "ca.crt": cert}},
		"no certificate":  {map[string][]byte{"tls.key": key}, "tls.crt"},
		"no key":          {map[string][]byte{"tls.crt": cert}, "tls.key"},
		"a server's":      {map[string][]byte{"tls.crt": server.Cert, "tls.key": server.Key}, "not one of an authority"},
		"not PEM":         {map[string][]byte{"tls.crt": []byte("x"), "tls.key": key}, "certificate and key of the issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			a, err := readAuthority(mounted(t, c.files))
			if c.says == "" {
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(a.Name()).To(Equal("site"))
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(c.says)))
			g.Expect(err.Error()).NotTo(ContainSubstring(string(key)))
		})
	}
	_, err = readAuthority(filepath.Join(t.TempDir(), "none"))
	g.Expect(err).To(HaveOccurred())
}
