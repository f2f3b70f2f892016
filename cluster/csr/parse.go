package csr

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"errors"
	"fmt"
)

const (
	// MaxRequest bounds what is parsed: a kubelet's request has about 600 bytes, and one with a hundred addresses
	// and the largest key 6 KiB.
	MaxRequest = 8 << 10
	// minRSA is the smallest RSA key that is taken, in bits.
	minRSA = 2048
	maxRSA = 8192
)

// subjectAltName is the one extension that a kubelet asks for.
var subjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// Object identifiers of a subject's parts that a kubelet sets.
var (
	commonName   = asn1.ObjectIdentifier{2, 5, 4, 3}
	organization = asn1.ObjectIdentifier{2, 5, 4, 10}
)

// parse reads it, and refuses what no kubelet writes: more than one block, more
// of a subject than its name and organisation, other extensions, weak keys.
func (r Request) parse() (*x509.CertificateRequest, error) {
	if size := len(r.PEM); size > MaxRequest {
		return nil, fmt.Errorf("the request has %d bytes, more than %d", size, MaxRequest)
	}
	return parse(r.PEM)
}

func parse(raw []byte) (*x509.CertificateRequest, error) {
	block, rest := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE REQUEST" || len(block.Headers) != 0 || len(bytes.TrimSpace(rest)) != 0 {
		return nil, errors.New("the request is not one PEM block CERTIFICATE REQUEST")
	}
	r, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, errors.New("the request is no PKCS#10 request that can be read")
	}
	for _, part := range r.Subject.Names {
		if !part.Type.Equal(commonName) && !part.Type.Equal(organization) {
			return nil, fmt.Errorf("the subject has the part %s besides name and organisation", part.Type)
		}
	}
	seen := false
	for _, extension := range r.Extensions {
		if !extension.Id.Equal(subjectAltName) || seen {
			return nil, fmt.Errorf("it asks for the extension %s; a kubelet asks for names and addresses once, and for nothing else", extension.Id)
		}
		seen = true
	}
	if err := goodKey(r.PublicKey); err != nil {
		return nil, err
	}
	if err := r.CheckSignature(); err != nil {
		return nil, errors.New("it is not signed with the key that it is for")
	}
	return r, nil
}

func goodKey(key any) error {
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return fmt.Errorf("its RSA key has %d bits; want %d to %d", bits, minRSA, maxRSA)
		}
	case *ecdsa.PublicKey:
		if bits := key.Curve.Params().BitSize; bits < 256 {
			return fmt.Errorf("its ECDSA key has %d bits; want at least 256", bits)
		}
	case ed25519.PublicKey:
	default:
		return errors.New("its key is none of RSA, ECDSA, Ed25519")
	}
	return nil
}
