package netprobe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Echo is what [Ping] sends.
type Echo struct {
	// Target is the address that is asked, IPv4 or IPv6.
	Target netip.Addr
	// NIC is the interface that requests leave by; empty follows the routes.
	NIC string
	// Payload is the size in bytes behind the ICMP header; 0 is 56, as ping has it.
	Payload int
	// DontFragment forbids fragments on the way and here.
	DontFragment bool
	Pace         Pace
}

// EchoResult is what came back.
type EchoResult struct {
	// Sent and Received count requests and their answers.
	Sent, Received int
	// RTT is the mean round-trip time of those that were answered.
	RTT time.Duration
}

// Loss is the share of unanswered requests in percent.
func (r EchoResult) Loss() float64 {
	if r.Sent == 0 {
		return 100
	}
	return float64(r.Sent-r.Received) * 100 / float64(r.Sent)
}

// defaultPayload is the size that every ping program uses.
const defaultPayload = 56

// Ping sends echo requests and counts answers. It ends with the last answer, or
// when the pace's time is over, or with the context. A host that does not answer
// is no error: the error says why not one request could be sent.
func Ping(ctx context.Context, e Echo) (EchoResult, error) {
	if e.Target.IsMulticast() || e.Target.IsUnspecified() || !e.Target.IsValid() {
		return EchoResult{}, fmt.Errorf("%s is not the address of a host", e.Target)
	}
	conn, err := e.dial(ctx)
	if err != nil {
		return EchoResult{}, err
	}
	defer func() { _ = conn.Close() }() // nothing is lost by it
	p := &pinger{conn: conn, echoCodec: newCodec(e), sentAt: make([]time.Time, e.Pace.Requests)}
	if err := conn.SetDeadline(time.Now().Add(e.Pace.length())); err != nil {
		return EchoResult{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // fails only for a closed one
	defer stop()
	var sender sync.WaitGroup
	sending, done := context.WithCancel(ctx)
	sender.Go(func() { p.send(sending, e.Pace) })
	p.receive()
	done()
	sender.Wait()
	return p.result()
}

// dial opens a raw socket that hears the target only.
func (e Echo) dial(ctx context.Context) (*net.IPConn, error) {
	network := "ip4:icmp"
	if e.Target.Is6() {
		network = "ip6:ipv6-icmp"
	}
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = e.options(int(fd)) })
		return errors.Join(err, failed)
	}}
	conn, err := dialer.DialContext(ctx, network, e.Target.String())
	if err != nil {
		return nil, err
	}
	return conn.(*net.IPConn), nil
}

// options binds the socket and decides about fragments. The path MTU that the
// kernel remembers does not count: the path is to be measured.
func (e Echo) options(fd int) error {
	if e.NIC != "" {
		if err := unix.BindToDevice(fd, e.NIC); err != nil {
			return fmt.Errorf("bind to %s: %w", e.NIC, err)
		}
	}
	if e.Target.Is4() {
		mode := unix.IP_PMTUDISC_DONT
		if e.DontFragment {
			mode = unix.IP_PMTUDISC_PROBE
		}
		return os.NewSyscallError("setsockopt IP_MTU_DISCOVER", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, mode))
	}
	if !e.DontFragment {
		return nil
	}
	return errors.Join(
		os.NewSyscallError("setsockopt IPV6_MTU_DISCOVER", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)),
		os.NewSyscallError("setsockopt IPV6_DONTFRAG", unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_DONTFRAG, 1)))
}

// pinger is one run of Ping.
type pinger struct {
	echoCodec
	conn *net.IPConn

	mu       sync.Mutex
	sentAt   []time.Time // by sequence number; zero where sending failed
	sent     int
	unsent   int // of those, the ones that could not be sent
	received int
	total    time.Duration
	failed   error
}

// send sends all requests.
func (p *pinger) send(ctx context.Context, pace Pace) {
	for i := range pace.Requests {
		if i > 0 && !sleep(ctx, pace.Interval) {
			return
		}
		p.mu.Lock()
		p.sentAt[i] = time.Now()
		p.mu.Unlock()
		_, err := p.conn.Write(p.request(uint16(i)))
		p.mu.Lock()
		if err != nil {
			p.sentAt[i], p.failed = time.Time{}, err
			p.unsent++
		}
		p.sent++
		p.mu.Unlock()
	}
}

// receive counts answers until all are there or the deadline comes.
func (p *pinger) receive() {
	buffer := make([]byte, len(p.request(0))+headroom)
	// Each request can fail once on its way; more errors are a broken socket.
	for failures := 0; failures <= 2*len(p.sentAt) && !p.complete(); {
		n, _, err := p.conn.ReadFrom(buffer)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			// The kernel tells here what routers said about a request.
			failures++
			continue
		}
		if sequence, ok := p.parse(buffer[:n]); ok {
			p.note(int(sequence))
		}
	}
}

func (p *pinger) complete() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.received == len(p.sentAt)
}

// note counts each answer once.
func (p *pinger) note(sequence int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if sequence >= len(p.sentAt) || p.sentAt[sequence].IsZero() {
		return
	}
	p.received++
	p.total += time.Since(p.sentAt[sequence])
	p.sentAt[sequence] = time.Time{}
}

func (p *pinger) result() (EchoResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := EchoResult{Sent: p.sent, Received: p.received}
	if r.Received > 0 {
		r.RTT = p.total / time.Duration(r.Received)
	}
	if p.unsent == p.sent {
		return r, p.failed
	}
	return r, nil
}
