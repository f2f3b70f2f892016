package certificate

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

// Keys are the key and the certificate of one BMC. It has no lock.
type Keys struct {
	current tls.Certificate
	pending crypto.Signer // of the last signing request
}

// New keeps a certificate with its key.
func New(current tls.Certificate) *Keys { return &Keys{current: current} }

// SelfSigned makes keys with a certificate of their own for names and addresses,
// as BMCs have from the factory.
func SelfSigned(names []string, now time.Time) (*Keys, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "BMC"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true, IsCA: true,
	}
	template.DNSNames, template.IPAddresses = split(names)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return New(tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}), nil
}

// split tells addresses from names.
func split(names []string) (dns []string, ips []net.IP) {
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			ips = append(ips, ip)
		} else if name != "" {
			dns = append(dns, name)
		}
	}
	return dns, ips
}

// Current is the certificate with its key.
func (k *Keys) Current() *tls.Certificate { return &k.current }

// Leaf is the certificate as it can be read.
func (k *Keys) Leaf() (*x509.Certificate, error) {
	return x509.ParseCertificate(k.current.Certificate[0])
}

// PEM is the certificate with its chain, without the key.
func (k *Keys) PEM() string {
	var out []byte
	for _, der := range k.current.Certificate {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	}
	return string(out)
}

// Request makes a new key, keeps it, and returns a signing request for it in PEM.
func (k *Keys) Request(subject pkix.Name, names []string) (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", err
	}
	template := &x509.CertificateRequest{Subject: subject}
	template.DNSNames, template.IPAddresses = split(names)
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		return "", err
	}
	k.pending = key
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), nil
}

// Replace takes a certificate with its chain in PEM: of the last signing request,
// or with its private key.
func (k *Keys) Replace(text []byte) error {
	var next tls.Certificate
	signer := k.pending
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "CERTIFICATE":
			next.Certificate = append(next.Certificate, block.Bytes)
		case "PRIVATE KEY":
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return fmt.Errorf("the private key cannot be read: %w", err)
			}
			own, ok := key.(crypto.Signer)
			if !ok {
				return errors.New("the private key cannot sign")
			}
			signer = own
		}
	}
	if len(next.Certificate) == 0 {
		return errors.New("there is no certificate in PEM")
	}
	leaf, err := x509.ParseCertificate(next.Certificate[0])
	if err != nil {
		return fmt.Errorf("the certificate cannot be read: %w", err)
	}
	public, ok := leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if signer == nil || !ok || !public.Equal(signer.Public()) {
		return errors.New("the certificate is not of the last signing request, and its key is not with it")
	}
	next.PrivateKey = signer
	k.current, k.pending = next, nil
	return nil
}
