package server

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// gate counts the open connections, in all and by remote address, so that nobody
// takes all there is with connections that ask for nothing.
type gate struct {
	total, perAddress int
	log               logr.Logger
	refused           map[string]*counter

	mu   sync.Mutex
	open int
	by   map[netip.Addr]int
	told time.Time
}

// tellRefused is the least time between two lines of the log about refusals.
const tellRefused = time.Minute

// enter lets a connection in, or says why not.
func (g *gate) enter(from netip.Addr) (reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.open >= g.total:
		reason = refuseTotal
	case g.perAddress > 0 && g.by[from] >= g.perAddress:
		reason = refuseAddress
	default:
		g.open++
		g.by[from]++
		return ""
	}
	g.refused[reason].add(1)
	if now := time.Now(); now.Sub(g.told) >= tellRefused {
		g.told = now
		g.log.Info("closed a connection to the image server, there are too many", "reason", reason, "address", from.String(), "perAddress", g.perAddress, "total", g.total)
	}
	return reason
}

// leave is the end of a connection that was let in.
func (g *gate) leave(from netip.Addr) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
	if g.by[from]--; g.by[from] == 0 {
		delete(g.by, from)
	}
}

// gateListener accepts the connections that the gate lets in, and closes the others.
type gateListener struct {
	net.Listener
	gate *gate
}

// Accept implements net.Listener.
func (l gateListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			return c, nil // a listener of a test
		}
		from := addressOf(tcp)
		if l.gate.enter(from) == "" {
			return &admitted{TCPConn: tcp, gate: l.gate, from: from}, nil
		}
		_ = tcp.Close()
	}
}

// addressOf is the address of the other end, without its port.
func addressOf(c *net.TCPConn) netip.Addr {
	if remote, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		return remote.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// admitted is a connection that leaves the gate when it is closed.
type admitted struct {
	*net.TCPConn
	gate *gate
	from netip.Addr
	once sync.Once
}

// Close implements net.Conn.
func (a *admitted) Close() error {
	a.once.Do(func() { a.gate.leave(a.from) })
	return a.TCPConn.Close()
}
