// Package pki makes the lab's certificate authority and the certificates that
// its parts serve and present, by the product's own means (hub/pki). Everything is
// valid for thirty days: a lab is thrown away long before. It is no model for a
// real installation.
package pki

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"time"

	"github.com/ironflow/ironflow/hub/pki"
)

// lifetime is how long certificates are valid.
const lifetime = 30 * 24 * time.Hour

// Pair is a certificate and its key, both PEM encoded.
type Pair = pki.Pair

// Authority signs certificates.
type Authority struct {
	// PEM is the authority's own certificate, to be trusted.
	PEM []byte

	signer *pki.Authority
}

// New makes an authority with the common name.
func New(name string) (*Authority, error) {
	signer, own, err := pki.NewAuthority(name, time.Now(), lifetime)
	return &Authority{PEM: own.Cert, signer: signer}, err
}

// Server signs a serving certificate for loopback (127.0.0.1, ::1, localhost)
// and for the further names and addresses.
func (a *Authority) Server(hosts ...string) (Pair, error) {
	return a.signer.Issue(pki.Request{
		Subject: pkix.Name{CommonName: "ironflow lab server"}, Usage: x509.ExtKeyUsageServerAuth,
		Hosts: append([]string{"127.0.0.1", "::1", "localhost"}, hosts...), Now: time.Now(), Life: lifetime,
	})
}

// Client signs a client certificate. Kubernetes reads the user from its common
// name and the groups from its organizations.
func (a *Authority) Client(user string, groups ...string) (Pair, error) {
	return a.signer.Issue(pki.Request{
		Subject: pkix.Name{CommonName: user, Organization: groups}, Usage: x509.ExtKeyUsageClientAuth, Now: time.Now(), Life: lifetime,
	})
}
