package client

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// errPin is a certificate that is not the pinned one.
var errPin = errors.New("the BMC's certificate is not the pinned one: compare its SHA-256 with the pin, and renew the pin if the certificate was replaced")

// verifier checks what a BMC shows in a TLS handshake.
type verifier struct {
	host     string
	roots    *x509.CertPool // nil: the system's
	ca       bool
	pin      []byte
	insecure bool
	now      func() time.Time
	seen     func(leaf *x509.Certificate, version uint16)
}

func newVerifier(trust Trust, host string, now func() time.Time) (*verifier, error) {
	v := &verifier{host: host, insecure: trust.Insecure, now: now}
	if len(trust.CA) > 0 {
		v.roots, v.ca = x509.NewCertPool(), true
		if !v.roots.AppendCertsFromPEM(trust.CA) {
			return nil, fmt.Errorf("the BMC's CA holds no certificate: give it as PEM")
		}
	}
	if trust.Pin != "" {
		pin, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(trust.Pin), ":", ""))
		if err != nil || len(pin) != sha256.Size {
			return nil, fmt.Errorf("the BMC's pin is not a SHA-256 of 64 hexadecimal digits: 'openssl x509 -noout -fingerprint -sha256' prints it")
		}
		v.pin = pin
	}
	return v, nil
}

// config is the TLS configuration of one BMC. The check is the verifier's own, so
// that a certificate that is not trusted can be reported too.
func (v *verifier) config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection does it, for resumed connections too
		VerifyConnection:   v.verify,
	}
}

func (v *verifier) verify(state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the BMC shows no certificate")
	}
	leaf := state.PeerCertificates[0]
	if v.seen != nil {
		v.seen(leaf, state.Version)
	}
	if v.pin != nil {
		sum := sha256.Sum256(leaf.Raw)
		if subtle.ConstantTimeCompare(sum[:], v.pin) != 1 {
			return errPin
		}
	}
	if v.insecure || v.pin != nil && !v.ca {
		return nil
	}
	intermediates := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		intermediates.AddCert(certificate)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: v.roots, DNSName: v.host, Intermediates: intermediates, CurrentTime: v.now()})
	if err != nil {
		return &tls.CertificateVerificationError{UnverifiedCertificates: state.PeerCertificates, Err: err}
	}
	return nil
}
