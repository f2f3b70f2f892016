// Package pki gives the hub its certificates: its own CA and server
// certificate, made on first start and kept, or those that the operator gives.
// An [Authority] alone, without files, serves others that need a CA.
//
// Given certificates are read again when their files change, so that a renewal
// needs no restart. Keys are ECDSA P-256 and are written with mode 0600.
package pki

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Lifetimes of what [Ensure] makes. The server certificate is renewed at start
// when less than a third of its life is left.
const (
	caLife     = 10 * 365 * 24 * time.Hour
	serverLife = 365 * 24 * time.Hour
)

// Files names the certificate files of a listener.
type Files struct {
	// CA is the bundle that clients are to trust, PEM.
	CA string
	// Cert and Key are the server's certificate chain and key, PEM.
	Cert, Key string
}

// CAText is the bundle that clients are to trust; empty where there is none.
func (f Files) CAText() (string, error) {
	raw, err := os.ReadFile(f.CA)
	if os.IsNotExist(err) || f.CA == "" {
		return "", nil
	}
	return string(raw), err
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
	pair, err := ca.Issue(Request{
		Subject: pkix.Name{CommonName: "ironflow"}, Hosts: hosts, Usage: x509.ExtKeyUsageServerAuth, Now: now, Life: serverLife,
	})
	if err != nil {
		return Files{}, err
	}
	return files, writePair(files.Cert, files.Key, pair)
}

// ensureCA reads the CA's files, or makes the CA when there are none.
func ensureCA(certFile, keyFile string, now time.Time) (*Authority, error) {
	cert, errCert := os.ReadFile(certFile)
	key, errKey := os.ReadFile(keyFile)
	if errors.Is(errCert, fs.ErrNotExist) { // nobody can trust it yet, a key alone is what a crash has left
		a, pair, err := NewAuthority("Ironflow CA", now, caLife)
		if err != nil {
			return nil, fmt.Errorf("make the CA: %w", err)
		}
		return a, writePair(certFile, keyFile, pair)
	}
	err := errors.Join(errCert, errKey)
	if err == nil {
		var a *Authority
		if a, err = ParseAuthority(Pair{Cert: cert, Key: key}); err == nil {
			return a, nil
		}
	}
	return nil, fmt.Errorf("load the CA from %s and %s: %w; restore the files or remove both to make a new CA", certFile, keyFile, err)
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

// writePair writes the key first: a certificate without its key would never be replaced.
func writePair(certFile, keyFile string, pair Pair) error {
	if err := write(keyFile, pair.Key, 0o600); err != nil {
		return err
	}
	return write(certFile, pair.Cert, 0o644)
}

// write replaces a file at once or not at all.
func write(file string, content []byte, mode fs.FileMode) error {
	tmp := file + ".new"
	if err := os.WriteFile(tmp, content, mode); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
