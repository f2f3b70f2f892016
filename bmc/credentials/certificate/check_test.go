package certificate_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/credentials/certificate"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func key(g *gomega.WithT) *ecdsa.PrivateKey {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return k
}

func text(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// issue makes a certificate; parent nil is one that signs itself.
func issue(g *gomega.WithT, change func(*x509.Certificate), parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) *x509.Certificate {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "bmc"}, NotBefore: noon.Add(-time.Hour), NotAfter: noon.AddDate(0, 3, 0),
		DNSNames: []string{"bmc.example"}, IPAddresses: []net.IP{net.ParseIP("192.0.2.1"), net.ParseIP("2001:db8::1")},
	}
	change(template)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, signer)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c, err := x509.ParseCertificate(der)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return c
}

func request(g *gomega.WithT, signer crypto.Signer) []byte {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "bmc.example"}}, signer)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return text("CERTIFICATE REQUEST", der)
}

// TestNoCertificateIsSentThatLocksEverybodyOut has what issuers may get wrong.
func TestNoCertificateIsSentThatLocksEverybodyOut(t *testing.T) {
	g := gomega.NewWithT(t)
	authorityKey, bmcKey := key(g), key(g)
	asAuthority := func(c *x509.Certificate) {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, c.NotAfter = true, true, x509.KeyUsageCertSign, noon.AddDate(9, 0, 0)
	}
	root := issue(g, asAuthority, nil, authorityKey.Public(), authorityKey)
	strangerKey := key(g)
	stranger := issue(g, asAuthority, nil, strangerKey.Public(), strangerKey)
	betweenKey := key(g)
	between := issue(g, func(c *x509.Certificate) { asAuthority(c); c.Subject.CommonName = "between" }, root, betweenKey.Public(), authorityKey)
	plain := func(*x509.Certificate) {}
	asked, ca := request(g, bmcKey), text("CERTIFICATE", root.Raw)
	names := []string{"192.0.2.1", "2001:db8::1", "bmc.example"}
	for name, c := range map[string]struct {
		chain []*x509.Certificate
		names []string
		says  string
	}{
		"good":                    {chain: []*x509.Certificate{issue(g, plain, root, bmcKey.Public(), authorityKey)}},
		"good, through another":   {chain: []*x509.Certificate{issue(g, plain, between, bmcKey.Public(), betweenKey), between}},
		"the one between missing": {chain: []*x509.Certificate{issue(g, plain, between, bmcKey.Public(), betweenKey)}, says: "not vouched for"},
		"the root first":          {chain: []*x509.Certificate{root, issue(g, plain, root, bmcKey.Public(), authorityKey)}, says: "another key"},
		"another key":             {chain: []*x509.Certificate{issue(g, plain, root, strangerKey.Public(), authorityKey)}, says: "another key"},
		"an authority":            {chain: []*x509.Certificate{issue(g, asAuthority, root, bmcKey.Public(), authorityKey)}, says: "of an authority"},
		"another authority":       {chain: []*x509.Certificate{issue(g, plain, stranger, bmcKey.Public(), strangerKey)}, says: "not vouched for"},
		"over": {
			chain: []*x509.Certificate{issue(g, func(c *x509.Certificate) { c.NotAfter = noon.Add(-time.Minute) }, root, bmcKey.Public(), authorityKey)}, says: "expired",
		},
		"not the address": {
			chain: []*x509.Certificate{issue(g, func(c *x509.Certificate) { c.IPAddresses = nil }, root, bmcKey.Public(), authorityKey)}, says: `not for "192.0.2.1"`,
		},
		"not the name": {
			chain: []*x509.Certificate{issue(g, plain, root, bmcKey.Public(), authorityKey)}, names: []string{"other.example"}, says: `not for "other.example"`,
		},
		"nothing": {says: "no certificate in PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var chain []byte
			for _, one := range c.chain {
				chain = append(chain, text("CERTIFICATE", one.Raw)...)
			}
			if c.names == nil {
				c.names = names
			}
			err := certificate.CheckIssued(chain, asked, ca, c.names, noon)
			if c.says == "" {
				g.Expect(err).NotTo(gomega.HaveOccurred())
				return
			}
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
		})
	}
	g.Expect(certificate.CheckIssued(text("CERTIFICATE", root.Raw), asked, []byte("x"), names, noon)).NotTo(gomega.Succeed())
}

// TestNobodySignsAWeakRequest has what BMCs may get wrong.
func TestNobodySignsAWeakRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	good := request(g, key(g))
	_, err := certificate.ParseRequest(append([]byte("\r\n  "), good...))
	g.Expect(err).NotTo(gomega.HaveOccurred(), "white space around it")
	forged, _ := pem.Decode(good)
	forged.Bytes[len(forged.Bytes)-1] ^= 1
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"no PEM":      {[]byte("MIIB"), "no certificate request in PEM"},
		"another":     {text("CERTIFICATE", []byte("x")), "no certificate request in PEM"},
		"no DER":      {text("CERTIFICATE REQUEST", []byte("x")), "cannot be read"},
		"forged":      {pem.EncodeToMemory(forged), "its own key"},
		"a short key": {request(g, shortKey(g)), "too short"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := certificate.ParseRequest(c.text)
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
		})
	}
}

// shortKey is one as old BMCs make it. Go makes none itself.
func shortKey(g *gomega.WithT) crypto.Signer {
	prime := func(bits int) *big.Int {
		p, err := rand.Prime(rand.Reader, bits)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		return p
	}
	p, q := prime(512), prime(512)
	one := big.NewInt(1)
	totient := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
	k := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: new(big.Int).Mul(p, q), E: 65537}, Primes: []*big.Int{p, q}}
	k.D = new(big.Int).ModInverse(big.NewInt(65537), totient)
	g.Expect(k.D).NotTo(gomega.BeNil())
	return k
}

func FuzzRequest(f *testing.F) {
	g := gomega.NewWithT(f)
	k := key(g)
	f.Add(request(g, k), []byte("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("-----BEGIN NEW CERTIFICATE REQUEST-----\n-----END NEW CERTIFICATE REQUEST-----"), []byte(""))
	f.Fuzz(func(t *testing.T, asked, chain []byte) {
		g := gomega.NewWithT(t)
		if err := certificate.CheckIssued(chain, asked, chain, []string{"bmc.example"}, noon); err == nil {
			_, err := certificate.ParseRequest(asked)
			g.Expect(err).NotTo(gomega.HaveOccurred())
		}
		_ = certificate.Decode(map[string][]byte{"state": asked, "request.pem": chain})
	})
}
