package events

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// maxConnections is how many connections the receiver's listener has open, and
	// maxPerAddress how many of them from one address: BMCs may be behind a translation
	// of addresses.
	maxConnections = 4096
	maxPerAddress  = 1024
	// headerTime is how long a handshake and a header may take, idleTime how long a
	// connection may be of no use, stopTime how long deliveries go on after the end.
	headerTime = 10 * time.Second
	idleTime   = time.Minute
	stopTime   = 5 * time.Second
	maxHeader  = 16 << 10
)

// Serve answers BMCs over TLS until the context ends. Nothing is logged: paths are
// secret, and whoever tries its luck is not worth a line.
func (r *Receiver) Serve(ctx context.Context, listener net.Listener, config *tls.Config) error {
	server := &http.Server{
		Handler: r, ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(io.Discard, "", 0), Protocols: new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true) // many streams of HTTP/2 on one connection would pass its limits
	config = config.Clone()
	config.NextProtos = []string{"http/1.1"}
	failed := make(chan error, 1)
	go func() {
		failed <- server.Serve(tls.NewListener(&gate{Listener: listener, most: maxConnections, perAddress: maxPerAddress, by: map[netip.Addr]int{}}, config))
	}()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if server.Shutdown(stop) != nil {
		_ = server.Close() // what did not end in time is cut
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// gate is a listener that closes connections beyond its limits.
type gate struct {
	net.Listener

	most, perAddress int

	mu   sync.Mutex
	open int
	by   map[netip.Addr]int
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if from := addressOf(c); g.enter(from) {
			return &admitted{Conn: c, leave: sync.OnceFunc(func() { g.leave(from) })}, nil
		}
		_ = c.Close() // it is beyond the limits
	}
}

func (g *gate) enter(from netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open >= g.most || g.by[from] >= g.perAddress {
		return false
	}
	g.open++
	g.by[from]++
	return true
}

func (g *gate) leave(from netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	if g.by[from]--; g.by[from] == 0 {
		delete(g.by, from)
	}
}

// addressOf is the address of the other end, without its port.
func addressOf(c net.Conn) netip.Addr {
	if remote, is := c.RemoteAddr().(*net.TCPAddr); is {
		return remote.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// admitted is a connection that leaves the gate when it is closed.
type admitted struct {
	net.Conn

	leave func()
}

// Close implements net.Conn.
func (a *admitted) Close() error {
	a.leave()
	return a.Conn.Close()
}
