package parts

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/pki"
)

// Listen opens a TCP listener; a taken port is a sentence that says what to do.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address or stop what uses it", addr, err)
	}
	return l, nil
}

// ServerTLS serves a certificate, and its renewal.
func ServerTLS(files pki.Files, s v1alpha1.TLS) (*tls.Config, error) {
	harden, err := configured.TLS(s)
	if err != nil {
		return nil, err
	}
	reloader, err := pki.NewReloader(files)
	if err != nil {
		return nil, err
	}
	config := reloader.TLSConfig()
	harden(config)
	return config, nil
}

// Door tells whether a server listens. A replica is ready when all of its servers do.
type Door struct{ opened atomic.Bool }

// Open says that it listens.
func (d *Door) Open() { d.opened.Store(true) }

// Check is a readiness check.
func (d *Door) Check(*http.Request) error {
	if !d.opened.Load() {
		return errors.New("it does not listen yet")
	}
	return nil
}

// Everywhere runs on every replica, leader or not.
type Everywhere func(context.Context) error

// Start implements manager.Runnable.
func (e Everywhere) Start(ctx context.Context) error { return e(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (e Everywhere) NeedLeaderElection() bool { return false }
