package ironic

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// maxConnections bounds the parallel connections to one Ironic, whose API works
// on few requests at a time anyway.
const maxConnections = 32

// basicAuth adds HTTP basic credentials to each request, as they are on disk now.
type basicAuth struct {
	next     http.RoundTripper
	basic    Basic
	redactor *redactor
}

// RoundTrip implements http.RoundTripper.
func (b *basicAuth) RoundTrip(r *http.Request) (*http.Response, error) {
	user, err := b.redactor.file(b.basic.UsernameFile, Secret(b.basic.Username))
	if err != nil {
		return nil, err
	}
	password, err := b.redactor.file(b.basic.PasswordFile, b.basic.Password)
	if err != nil {
		return nil, err
	}
	if user == "" || password == "" {
		return nil, errors.New("the user or password for HTTP basic authentication is empty")
	}
	r = r.Clone(r.Context())
	r.SetBasicAuth(string(user), string(password))
	return b.next.RoundTrip(r)
}

// sameHostRedirect follows redirects only within the server that was
// configured, so that credentials never travel elsewhere.
func sameHostRedirect(next *http.Request, via []*http.Request) error {
	if len(via) >= 5 {
		return errors.New("redirected five times")
	}
	if first := via[0].URL; next.URL.Host != first.Host || next.URL.Scheme != first.Scheme {
		return fmt.Errorf("redirected to another server, %s: correct the endpoint's URL", next.URL.Host)
	}
	return nil
}

// tlsTransport is an HTTP transport whose CA and client certificate are those
// that the files hold at the moment.
type tlsTransport struct {
	config Config

	mu      sync.Mutex
	checked time.Time
	stamps  [3]stamp
	current *http.Transport
}

// stamp identifies the content of a file without reading it.
type stamp struct {
	modified time.Time
	size     int64
	missing  bool
}

// recheck is how often the files' times are looked at, at most.
const recheck = time.Second

func newTLSTransport(c Config) *tlsTransport { return &tlsTransport{config: c} }

// RoundTrip implements http.RoundTripper.
func (t *tlsTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	now, err := t.transport()
	if err != nil {
		return nil, err
	}
	return now.RoundTrip(r)
}

// transport returns the transport for the files as they are now. A file that
// cannot be read, as in the middle of an update, keeps the last good one.
func (t *tlsTransport) transport() (*http.Transport, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil && time.Since(t.checked) < recheck {
		return t.current, nil
	}
	t.checked = time.Now()
	stamps := [3]stamp{stampOf(t.config.CAFile), stampOf(t.config.CertFile), stampOf(t.config.KeyFile)}
	if t.current != nil && stamps == t.stamps {
		return t.current, nil
	}
	next, err := t.build()
	if err != nil {
		if t.current != nil {
			return t.current, nil
		}
		return nil, err
	}
	if t.current != nil {
		// Requests under way finish on their connections; new ones use the new files.
		t.current.CloseIdleConnections()
	}
	t.current, t.stamps = next, stamps
	return next, nil
}

func (t *tlsTransport) build() (*http.Transport, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.config.Insecure} //nolint:gosec // asked for by configuration
	if t.config.CAFile != "" {
		pem, err := os.ReadFile(t.config.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CA file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA file %s holds no PEM certificate", t.config.CAFile)
		}
	}
	if t.config.SkipServerName && !t.config.Insecure {
		c.InsecureSkipVerify = true // the chain is verified below
		c.VerifyConnection = chainVerifier(c.RootCAs)
	}
	if t.config.CertFile != "" {
		pair, err := tls.LoadX509KeyPair(t.config.CertFile, t.config.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:       c,
		TLSHandshakeTimeout:   10 * time.Second,
		MaxConnsPerHost:       maxConnections,
		MaxIdleConnsPerHost:   maxConnections,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: t.config.Timeout,
	}, nil
}

func stampOf(path string) stamp {
	if path == "" {
		return stamp{missing: true}
	}
	info, err := os.Stat(path)
	if err != nil {
		return stamp{missing: true}
	}
	return stamp{modified: info.ModTime(), size: info.Size()}
}

// chainVerifier checks a server's certificate chain without its names.
func chainVerifier(roots *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the server presented no certificate")
		}
		o := x509.VerifyOptions{Roots: roots, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}
