package authority

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"

	"github.com/ironflow/ironflow/bmc/credentials/certificate"
)

// Authority is who signs.
type Authority struct {
	// chain is the authority's own certificate, and those above it but the root.
	chain []*x509.Certificate
	key   crypto.Signer
	// roots are what the signed certificates are trusted by (PEM).
	roots []byte
}

// Parse reads an authority: its certificate, which those above it may follow, its key,
// and the root that vouches for it, all PEM. The root may be missing: the certificate
// itself is what is trusted then.
func Parse(chain, key, root []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, fmt.Errorf("certificate and key of the issuer: %w", err)
	}
	a := &Authority{roots: root}
	if a.chain, err = certificate.ParseChain(chain); err != nil {
		return nil, fmt.Errorf("certificate of the issuer: %w", err)
	}
	signer, is := pair.PrivateKey.(crypto.Signer)
	if !is {
		return nil, errors.New("key of the issuer: it cannot sign")
	}
	a.key = signer
	self := a.chain[0]
	if !self.IsCA || self.KeyUsage != 0 && self.KeyUsage&x509.KeyUsageCertSign == 0 {
		return nil, fmt.Errorf("certificate of the issuer %q: it is not one of an authority, so that nobody trusts what it signs", self.Subject)
	}
	if len(bytes.TrimSpace(root)) == 0 {
		last := a.chain[len(a.chain)-1]
		a.roots = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: last.Raw})
	} else if _, err := certificate.ParseChain(root); err != nil {
		return nil, fmt.Errorf("root of the issuer: %w", err)
	}
	return a, nil
}

// Name is the authority's, for people.
func (a *Authority) Name() string {
	if name := a.chain[0].Subject.CommonName; name != "" {
		return name
	}
	return a.chain[0].Subject.String()
}

// CA is what the signed certificates are trusted by (PEM).
func (a *Authority) CA() []byte { return bytes.Clone(a.roots) }

const (
	// skew is how much a BMC's clock, or ours, may be behind.
	skew = time.Hour
	// longestName is that of a common name, by the rules for certificates.
	longestName = 64
	serialBits  = 127
)

// Sign signs a request (PEM) for names and addresses, for so long, but not longer than
// the authority lives itself. It returns the chain (PEM), the new certificate first.
func (a *Authority) Sign(random io.Reader, request []byte, names []string, life time.Duration, now time.Time) ([]byte, error) {
	asked, err := certificate.ParseRequest(request)
	if err != nil {
		return nil, err
	}
	self := a.chain[0]
	if !now.Before(self.NotAfter) {
		return nil, fmt.Errorf("the certificate of the issuer %q has expired at %s", a.Name(), self.NotAfter.UTC().Format(time.RFC3339))
	}
	serial := make([]byte, serialBits/8)
	if _, err := io.ReadFull(random, serial); err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), NotBefore: later(now.Add(-skew), self.NotBefore), NotAfter: earlier(now.Add(life), self.NotAfter),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	if len(names) > 0 && len(names[0]) <= longestName {
		template.Subject = pkix.Name{CommonName: names[0]}
	}
	der, err := x509.CreateCertificate(random, template, self, asked.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the BMC's request: %w", err)
	}
	chain := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for _, c := range a.chain {
		if !bytes.Equal(c.RawIssuer, c.RawSubject) { // whoever trusts a root has it
			chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
		}
	}
	return chain, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
