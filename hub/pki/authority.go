package pki

import (
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

// backdate allows for hosts whose clocks are behind.
const backdate = time.Hour

// Pair is a certificate and its key, both PEM encoded.
type Pair struct {
	Cert, Key []byte
}

// Authority is a CA that signs certificates. Its key is ECDSA P-256.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes a CA and returns it with the files to keep it by.
func NewAuthority(commonName string, now time.Time, life time.Duration) (*Authority, Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, Pair{}, fmt.Errorf("make the key of %q: %w", commonName, err)
	}
	template, err := template(pkix.Name{CommonName: commonName}, now, life)
	if err != nil {
		return nil, Pair{}, err
	}
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, Pair{}, fmt.Errorf("sign the certificate of %q: %w", commonName, err)
	}
	pair, err := encode(der, key)
	if err != nil {
		return nil, Pair{}, err
	}
	a, err := ParseAuthority(pair)
	return a, pair, err
}

// ParseAuthority is the CA that was kept as a pair.
func ParseAuthority(pair Pair) (*Authority, error) {
	parsed, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the CA's key is not an ECDSA key")
	}
	return &Authority{cert: parsed.Leaf, key: key}, nil
}

// Request is a certificate to sign.
type Request struct {
	// Subject names the holder.
	Subject pkix.Name
	// Hosts are the names and addresses that a server has.
	Hosts []string
	// Usage is what the certificate is for: serving or being a client.
	Usage x509.ExtKeyUsage
	// Now and Life say how long it is valid.
	Now  time.Time
	Life time.Duration
}

// Issue makes a key and signs a certificate for it.
func (a *Authority) Issue(r Request) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make the key of %q: %w", r.Subject.CommonName, err)
	}
	template, err := template(r.Subject, r.Now, r.Life)
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{r.Usage}
	for _, host := range r.Hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign the certificate of %q: %w", r.Subject.CommonName, err)
	}
	return encode(der, key)
}

// template is a certificate for the subject with a random serial number.
func template(subject pkix.Name, now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return &x509.Certificate{SerialNumber: serial, Subject: subject, NotBefore: now.Add(-backdate), NotAfter: now.Add(life)}, nil
}

// encode is a certificate and its key in PEM.
func encode(der []byte, key *ecdsa.PrivateKey) (Pair, error) {
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a key: %w", err)
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}),
	}, nil
}
