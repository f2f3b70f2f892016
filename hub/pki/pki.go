// Package pki gives the hub its certificates: its own CA and server
// certificate, made on first start and kept, or those that the operator gives.
//
// Given certificates are read again when their files change, so that a renewal
// needs no restart. Keys are ECDSA P-256 and are written with mode 0600.
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
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Lifetimes of what this package makes. The server certificate is renewed at
// start when less than a third of its life is left.
const (
	caLife     = 10 * 365 * 24 * time.Hour
	serverLife = 365 * 24 * time.Hour
	// backdate allows for hosts whose clocks are behind.
	backdate = time.Hour
)

// Files names the certificate files of a listener.
type Files struct {
	// CA is the bundle that clients are to trust, PEM.
	CA string
	// Cert and Key are the server's certificate chain and key, PEM.
	Cert, Key string
}

// Ensure returns the files of a server certificate for the given names and
// addresses below dir, made by dir's own CA. Existing files are kept as long as
// they are valid and cover all names; the CA is never replaced.
func Ensure(dir string, hosts []string, now time.Time) (Files, error) {
	files := Files{
		CA:   filepath.Join(dir, "ca.crt"),
		Cert: filepath.Join(dir, "tls.crt"),
		Key:  filepath.Join(dir, "tls.key"),
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Files{}, fmt.Errorf("make certificate folder: %w", err)
	}
	ca, err := ensureCA(files.CA, filepath.Join(dir, "ca.key"), now)
	if err != nil {
		return Files{}, err
	}
	if usable(files, hosts, now) {
		return files, nil
	}
	return files, ca.issue(files, hosts, now)
}

// authority is a CA that can issue.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func ensureCA(certFile, keyFile string, now time.Time) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	switch {
	case err == nil:
		key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
		if !ok {
			return nil, fmt.Errorf("%s: the CA key is not an ECDSA key", keyFile)
		}
		return &authority{cert: pair.Leaf, key: key}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("load the CA: %w; restore the files or remove both to make a new CA", err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "Ironflow CA"},
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(caLife),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the CA: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	if err := writePair(certFile, keyFile, der, key); err != nil {
		return nil, err
	}
	return &authority{cert: cert, key: key}, nil
}

func (a *authority) issue(files Files, hosts []string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: "ironflow"},
		NotBefore:    now.Add(-backdate),
		NotAfter:     now.Add(serverLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, h)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return fmt.Errorf("make the server certificate: %w", err)
	}
	return writePair(files.Cert, files.Key, der, key)
}

// usable reports whether the certificate covers hosts and has a third of its
// life left.
func usable(files Files, hosts []string, now time.Time) bool {
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil || now.Add(serverLife/3).After(pair.Leaf.NotAfter) {
		return false
	}
	for _, h := range hosts {
		if pair.Leaf.VerifyHostname(h) != nil {
			return false
		}
	}
	return true
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		panic(err) //nolint:forbidigo // crypto/rand never fails on a supported system
	}
	return n
}

func writePair(certFile, keyFile string, der []byte, key *ecdsa.PrivateKey) error {
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// The key first: a certificate without its key would never be replaced.
	if err := writePEM(keyFile, "PRIVATE KEY", keyDER, 0o600); err != nil {
		return err
	}
	return writePEM(certFile, "CERTIFICATE", der, 0o644)
}

func writePEM(file, block string, der []byte, mode fs.FileMode) error {
	tmp := file + ".new"
	if err := os.WriteFile(tmp, pem.EncodeToMemory(&pem.Block{Type: block, Bytes: der}), mode); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
