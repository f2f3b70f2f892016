package pki

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// recheck is how often the files of a served certificate are looked at.
const recheck = 10 * time.Second

// Reloader serves a certificate and reads it again when its files change. A
// renewal that cannot be read leaves the last good certificate in place.
type Reloader struct {
	files Files

	mu      sync.Mutex
	cert    *tls.Certificate
	changed time.Time
	checked time.Time
}

// NewReloader loads the certificate once, so that a bad one is an error at start.
func NewReloader(files Files) (*Reloader, error) {
	r := &Reloader{files: files}
	if err := r.load(time.Now()); err != nil {
		return nil, err
	}
	return r, nil
}

// TLSConfig returns a server configuration that serves the current certificate.
func (r *Reloader) TLSConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: r.get}
}

func (r *Reloader) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.checked) >= recheck {
		r.checked = now
		if info, err := os.Stat(r.files.Cert); err == nil && !info.ModTime().Equal(r.changed) {
			// The two files are replaced one after the other: a mismatch in between is tried again.
			_ = r.load(now)
		}
	}
	return r.cert, nil
}

func (r *Reloader) load(now time.Time) error {
	info, err := os.Stat(r.files.Cert)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	cert, err := tls.LoadX509KeyPair(r.files.Cert, r.files.Key)
	if err != nil {
		return fmt.Errorf("certificate %s with key %s: %w", r.files.Cert, r.files.Key, err)
	}
	r.cert, r.changed, r.checked = &cert, info.ModTime(), now
	return nil
}
