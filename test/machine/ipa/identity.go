package ipa

import (
	"context"
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

// Validity of an agent's certificate; it begins early, because clocks of fresh
// machines are off.
const (
	clockSkew = time.Hour
	validFor  = 90 * 24 * time.Hour
)

// Identity is what Ironic knows an agent by. It lives as long as the boot: one
// that is kept lets a restarted agent go on, a new one is refused while Ironic
// remembers the old. The zero value is a fresh boot.
type Identity struct {
	// Token is the agent token, empty before the look-up. Secret.
	Token string
	// Address is the listener's host:port, empty before the first start.
	Address string

	pem  string
	cert tls.Certificate
}

// listen opens the command API's listener and makes the certificate, or uses
// the kept ones.
func (id *Identity) listen(ctx context.Context) (net.Listener, error) {
	address := id.Address
	if address == "" {
		address = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("agent's command API: %w", err)
	}
	id.Address = listener.Addr().String()
	if id.pem == "" {
		if err := id.certify(listener.Addr().(*net.TCPAddr).IP); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
	}
	return tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{id.cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}), nil
}

// certify makes a self-signed certificate for the address.
func (id *Identity) certify(ip net.IP) error {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "ironic-python-agent"}, IPAddresses: []net.IP{ip},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(validFor),
		SignatureAlgorithm: x509.ECDSAWithSHA512,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("agent's certificate: %w", err)
	}
	id.pem = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	id.cert = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return nil
}

// String keeps the token and the key out of logs.
func (id *Identity) String() string { return "agent at " + id.Address }
