// Package hosthttp makes the HTTP clients of the host programs: proxies from the
// environment, the host's certificate bundle, and a deadline for each part of an
// exchange, so that no silent server holds an agent up. What a client says to
// whom is its caller's business.
package hosthttp

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Deadlines of the parts of an exchange. The whole is bounded by the request's context.
const (
	dialTimeout   = 10 * time.Second
	tlsTimeout    = 10 * time.Second
	headerTimeout = 30 * time.Second
	idleTimeout   = 3 * time.Minute
)

// bundles are where distributions keep the certificates that a host trusts.
var bundles = []string{
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/ssl/ca-bundle.pem",
}

// Transport returns a transport of its own, with its own connections. roots nil
// means the system's certificates.
func Transport(roots *x509.CertPool, insecure bool) *http.Transport {
	return &http.Transport{
		Proxy:                 proxy,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, InsecureSkipVerify: insecure}, //nolint:gosec // --insecure is the user's word
		TLSHandshakeTimeout:   tlsTimeout,
		ResponseHeaderTimeout: headerTimeout,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   2,
		IdleConnTimeout:       idleTimeout,
	}
}

// proxy is that of the environment, but for this machine itself: a host that runs its own hub learns its address
// only once it has booted, so no list of exceptions has it.
func proxy(r *http.Request) (*url.URL, error) {
	found, err := http.ProxyFromEnvironment(r)
	if found == nil || err != nil || !own(r.URL.Hostname()) {
		return found, err
	}
	return nil, nil // no proxy is an answer
}

// own tells whether it is an address of this machine.
func own(host string) bool {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == address.WithZone("").Unmap()
	})
}

// Roots returns what the host below dir trusts, and besides it the PEM files,
// each of which must hold a certificate. Empty names are skipped; without any
// file on "/" the result is nil, which stands for the system's certificates.
func Roots(dir hostfile.Dir, files ...string) (*x509.CertPool, error) {
	var roots *x509.CertPool
	if dir.Path("/") != "/" {
		roots = bundleOf(dir)
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		pem, err := os.ReadFile(dir.Path(file))
		if err != nil {
			return nil, fmt.Errorf("CA file: %w", err)
		}
		if roots == nil {
			roots = system()
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA file %s holds no PEM certificate", file)
		}
	}
	return roots, nil
}

func system() *x509.CertPool {
	if roots, err := x509.SystemCertPool(); err == nil {
		return roots
	}
	return x509.NewCertPool()
}

// bundleOf is the first certificate bundle of a host in a folder; nil without one.
func bundleOf(dir hostfile.Dir) *x509.CertPool {
	for _, file := range bundles {
		pem, err := os.ReadFile(dir.Path(file))
		if err != nil {
			continue
		}
		if roots := x509.NewCertPool(); roots.AppendCertsFromPEM(pem) {
			return roots
		}
	}
	return nil
}
