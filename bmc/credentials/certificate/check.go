package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// leastRSA is the shortest RSA key that is taken, in bits.
const leastRSA = 2048

// Digest is the SHA-256 of a certificate (DER) in hexadecimal digits, as a pin has it.
func Digest(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// ParseRequest reads a BMC's request, which some write without line breaks of their
// own, and refuses one that nobody should sign.
func ParseRequest(text []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(bytes.TrimSpace(text))
	if block == nil || !strings.HasSuffix(block.Type, "CERTIFICATE REQUEST") {
		return nil, errors.New("the BMC's request is no certificate request in PEM")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("the BMC's request cannot be read: %w", err)
	}
	if err := request.CheckSignature(); err != nil {
		return nil, fmt.Errorf("the BMC's request is not signed by its own key: %w", err)
	}
	if err := strong(request.PublicKey); err != nil {
		return nil, fmt.Errorf("the BMC's key: %w", err)
	}
	return request, nil
}

// strong refuses keys that are too short, and kinds that are not known.
func strong(key any) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if k.N.BitLen() < leastRSA {
			return fmt.Errorf("an RSA key of %d bits is too short, %d is the least: update the BMC's firmware", k.N.BitLen(), leastRSA)
		}
	case *ecdsa.PublicKey, ed25519.PublicKey:
	default:
		return errors.New("it is of a kind that is not known")
	}
	return nil
}

// ParseChain reads certificates in PEM, the leaf first.
func ParseChain(text []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of the chain: %w", len(chain)+1, err)
		}
		chain = append(chain, c)
	}
	if len(chain) == 0 {
		return nil, errors.New("there is no certificate in PEM")
	}
	return chain, nil
}

// CheckIssued holds an issuer's certificate against the request and the names under
// which the BMC is reached. A BMC that serves a wrong one is reached by nobody, so this
// is done before it is sent.
func CheckIssued(chain, request, ca []byte, names []string, now time.Time) error {
	certificates, err := ParseChain(chain)
	if err != nil {
		return fmt.Errorf("the issuer's answer: %w", err)
	}
	asked, err := ParseRequest(request)
	if err != nil {
		return err
	}
	leaf := certificates[0]
	if same, known := equalKeys(leaf.PublicKey, asked.PublicKey); !known || !same {
		return errors.New("the issuer's certificate is for another key than the BMC's: the first certificate of its answer must be the BMC's")
	}
	if leaf.IsCA {
		return errors.New("the issuer's certificate is one of an authority, not of a server")
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return errors.New("the issuer's authority holds no certificate in PEM")
	}
	between := x509.NewCertPool()
	for _, c := range certificates[1:] {
		between.AddCert(c)
	}
	options := x509.VerifyOptions{Roots: pool, Intermediates: between, CurrentTime: now}
	if _, err := leaf.Verify(options); err != nil {
		return fmt.Errorf("the issuer's certificate is not vouched for by its authority: %w", err)
	}
	for _, name := range names {
		if err := leaf.VerifyHostname(bracketed(name)); err != nil {
			return fmt.Errorf("the issuer's certificate is not for %q, under which the BMC is reached: have the issuer keep the names of a request", name)
		}
	}
	return nil
}

// bracketed is a name as VerifyHostname takes it: it reads addresses in brackets.
func bracketed(name string) string {
	if ip := net.ParseIP(name); ip != nil {
		return "[" + name + "]"
	}
	return name
}

// equalKeys compares public keys.
func equalKeys(a, b any) (same, known bool) {
	switch k := a.(type) {
	case *rsa.PublicKey:
		other, is := b.(*rsa.PublicKey)
		return is && k.Equal(other), true
	case *ecdsa.PublicKey:
		other, is := b.(*ecdsa.PublicKey)
		return is && k.Equal(other), true
	case ed25519.PublicKey:
		other, is := b.(ed25519.PublicKey)
		return is && k.Equal(other), true
	}
	return false, false
}
