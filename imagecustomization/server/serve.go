package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// stopTimeout is how long running downloads may go on after the end was asked for.
	stopTimeout = 5 * time.Second
	// copyBuffer is the size of the buffers where sendfile is not possible. A reader that
	// is slow keeps one, and TLS sends 16 KiB at a time whatever it is given.
	copyBuffer = 32 << 10
)

// Listener is a listener with the protocol that is spoken on it.
type Listener struct {
	net.Listener
	// TLS wants HTTPS; it needs the server's certificate options.
	TLS bool
}

// Serve answers on all listeners until ctx ends, then lets running requests
// finish for a few seconds. The listeners are closed when it returns.
func (s *Server) Serve(ctx context.Context, listeners []Listener) error {
	stopping := &stopping{open: map[*conn]struct{}{}}
	srv := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.options.HeaderTimeout,
		IdleTimeout:       s.options.IdleTimeout,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       withConn,
		ConnState:         stopping.connState,
		ErrorLog:          log.New(io.Discard, "", 0), // clients that go away are not worth a line
		Protocols:         new(http.Protocols),
	}
	srv.RegisterOnShutdown(stopping.begin)
	// It reads the body of OPTIONS *, for as long as the client likes.
	srv.DisableGeneralOptionsHandler = true
	// Writers of HTTP/2 cannot take bytes from a file directly.
	srv.Protocols.SetHTTP1(true)
	certificate := &certificate{certFile: s.options.CertFile, keyFile: s.options.KeyFile}
	tlsConfig := &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return certificate.get() },
	}
	var group sync.WaitGroup
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		var on net.Listener = gateListener{l.Listener, &s.gate}
		if l.TLS {
			if _, err := certificate.get(); err != nil {
				return errors.Join(fmt.Errorf("TLS of the image server: %w", err), closeAll(listeners))
			}
			on = tls.NewListener(on, tlsConfig)
		} else {
			on = tcpListener{on, s}
		}
		group.Go(func() { failed <- srv.Serve(on) })
	}
	var err error
	select {
	case <-ctx.Done():
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		if srv.Shutdown(stop) != nil {
			err = srv.Close()
		}
		stopping.wait(stop)
	case err = <-failed:
		err = errors.Join(err, srv.Close())
		at, cancel := context.WithCancel(ctx)
		cancel()
		stopping.wait(at)
	}
	group.Wait()
	return err
}

func closeAll(listeners []Listener) (err error) {
	for _, l := range listeners {
		err = errors.Join(err, l.Close())
	}
	return err
}

// tcpListener wraps accepted connections so that they use sendfile.
type tcpListener struct {
	net.Listener
	server *Server
}

// Accept implements net.Listener.
func (l tcpListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	if tcp, ok := c.(*admitted); ok {
		if own, err := newConn(l.server, tcp); err == nil {
			return own, nil
		}
	}
	return c, nil
}

// copies are the buffers of transfers that cannot use sendfile.
var copies = sync.Pool{New: func() any { b := make([]byte, copyBuffer); return &b }}

// copyOut copies the transfer through a pooled buffer.
func copyOut(w io.Writer, t *transfer) (int64, error) {
	buf := copies.Get().(*[]byte)
	defer copies.Put(buf)
	return io.CopyBuffer(writerOnly{w}, struct{ io.Reader }{t}, *buf)
}

// certificate is a TLS certificate that follows its files.
type certificate struct {
	certFile, keyFile string

	mu      sync.Mutex
	checked time.Time
	stamp   string
	current *tls.Certificate
}

// recheck is how often the files are looked at.
const recheck = 5 * time.Second

// get returns the certificate, loaded anew when a file changed. A pair that
// cannot be loaded, as in the middle of a renewal, leaves the old one in place.
func (c *certificate) get() (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.current != nil && time.Since(c.checked) < recheck {
		return c.current, nil
	}
	c.checked = time.Now()
	stamp, err := stampFiles(c.certFile, c.keyFile)
	if err == nil && stamp == c.stamp {
		return c.current, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.certFile, c.keyFile)
	}
	switch {
	case err == nil:
		c.current, c.stamp = &pair, stamp
	case c.current == nil:
		return nil, err
	}
	return c.current, nil
}

func stampFiles(files ...string) (string, error) {
	var stamp strings.Builder
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&stamp, "%d %d;", info.Size(), info.ModTime().UnixNano())
	}
	return stamp.String(), nil
}
