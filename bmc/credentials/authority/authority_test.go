package authority_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/credentials/authority"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// made is a certificate with its key.
type made struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (m made) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.cert.Raw})
}

func (m made) keyPEM(g *gomega.WithT) []byte {
	der, err := x509.MarshalPKCS8PrivateKey(m.key)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// makeCA makes a certificate that another one signs; itself if there is none.
func makeCA(g *gomega.WithT, name string, ca bool, by *made) made {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: noon.AddDate(-1, 0, 0), NotAfter: noon.AddDate(0, 6, 0),
		IsCA: ca, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	parent, signer := template, crypto.Signer(key)
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cert, err := x509.ParseCertificate(der)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return made{cert, key}
}

// request is a BMC's, which asks for names that are not its own.
func request(g *gomega.WithT) []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "ironic.example", Organization: []string{"Somebody"}}, DNSNames: []string{"ironic.example"},
	}, key)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// TestWhatIsSigned holds it against what is checked before a certificate is sent, for a
// root, and for an authority below one, whose root is given or not.
func TestWhatIsSigned(t *testing.T) {
	g := gomega.NewWithT(t)
	root := makeCA(g, "root", true, nil)
	below := makeCA(g, "below", true, &root)
	for name, c := range map[string]struct {
		chain, root []byte
		key         made
		length      int
	}{
		"a root":                    {root.pem(), nil, root, 1},
		"below a root":              {below.pem(), root.pem(), below, 2},
		"below a root, in one file": {append(below.pem(), root.pem()...), nil, below, 2},
		"below one that is unknown": {below.pem(), nil, below, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			a, err := authority.Parse(c.chain, c.key.keyPEM(g), c.root)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			asked, names := request(g), []string{"192.0.2.1", "bmc.example"}
			chain, err := a.Sign(rand.Reader, asked, names, 365*24*time.Hour, noon)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(certificate.CheckIssued(chain, asked, a.CA(), names, noon)).To(gomega.Succeed())
			parsed, err := certificate.ParseChain(chain)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(parsed).To(gomega.HaveLen(c.length), "a root is not sent along")
			leaf := parsed[0]
			g.Expect(leaf.VerifyHostname("ironic.example")).NotTo(gomega.Succeed(), "a BMC does not choose its names")
			g.Expect(leaf.Subject.Organization).To(gomega.BeEmpty())
			g.Expect(leaf.NotAfter).To(gomega.BeTemporally("<=", c.key.cert.NotAfter), "no longer than the authority")
			g.Expect(leaf.NotBefore).To(gomega.BeTemporally("<", noon), "a BMC's clock may be behind")
			g.Expect(leaf.ExtKeyUsage).To(gomega.ConsistOf(x509.ExtKeyUsageServerAuth))
		})
	}
}

// TestWhatIsNoAuthority says what is wrong.
func TestWhatIsNoAuthority(t *testing.T) {
	g := gomega.NewWithT(t)
	root, other := makeCA(g, "root", true, nil), makeCA(g, "other", true, nil)
	server := makeCA(g, "server", false, &root)
	for name, c := range map[string]struct {
		chain, key, root []byte
		says             string
	}{
		"nothing":               {nil, nil, nil, "certificate and key of the issuer"},
		"another's key":         {root.pem(), other.keyPEM(g), nil, "certificate and key of the issuer"},
		"one of a server":       {server.pem(), server.keyPEM(g), root.pem(), "not one of an authority"},
		"a root that is no PEM": {root.pem(), root.keyPEM(g), []byte("x"), "root of the issuer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			_, err := authority.Parse(c.chain, c.key, c.root)
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
			g.Expect(err.Error()).NotTo(gomega.ContainSubstring("PRIVATE KEY"))
		})
	}
	a, err := authority.Parse(root.pem(), root.keyPEM(g), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = a.Sign(rand.Reader, []byte("x"), []string{"192.0.2.1"}, time.Hour, noon)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no certificate request")))
	_, err = a.Sign(rand.Reader, request(g), []string{"192.0.2.1"}, time.Hour, noon.AddDate(1, 0, 0))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("has expired")))
}
