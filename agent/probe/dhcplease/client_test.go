package dhcplease

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	. "github.com/onsi/gomega"
)

// answer is what a scripted server does with a message: nothing, or a reply of
// the type after a while.
type answer struct {
	kind  dhcpv4.MessageType
	after time.Duration
}

var (
	silence answer
	offer   = answer{kind: dhcpv4.MessageTypeOffer}
	ack     = answer{kind: dhcpv4.MessageTypeAck}
	nak     = answer{kind: dhcpv4.MessageTypeNak}
)

// script is a socket with a server behind it that answers the first message as
// the first answer says, and so on.
type script struct {
	begin   time.Time
	answers []answer
	sent    []string
	replies chan []byte
	closed  chan struct{}
}

func newScript(answers []answer) *script {
	return &script{begin: time.Now(), answers: answers, replies: make(chan []byte, 16)}
}

// listen is a client's; it opens one socket after another.
func (s *script) listen() (net.PacketConn, error) {
	s.closed = make(chan struct{})
	return socket{s, s.closed}, nil
}

type socket struct {
	*script
	closed chan struct{}
}

func (s socket) WriteTo(p []byte, _ net.Addr) (int, error) {
	m, err := dhcpv4.FromBytes(p)
	if err != nil {
		return 0, err
	}
	s.sent = append(s.sent, fmt.Sprintf("%s at %s", m.MessageType(), time.Since(s.begin)))
	if len(s.answers) == 0 {
		return len(p), nil
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	if next == silence {
		return len(p), nil
	}
	reply, err := dhcpv4.NewReplyFromRequest(m, dhcpv4.WithMessageType(next.kind), dhcpv4.WithYourIP(net.IPv4(192, 0, 2, 55)),
		dhcpv4.WithServerIP(net.IPv4(192, 0, 2, 1)), dhcpv4.WithOption(dhcpv4.OptServerIdentifier(net.IPv4(192, 0, 2, 1))), dhcpv4.WithLeaseTime(3600))
	if err != nil {
		return 0, err
	}
	time.AfterFunc(next.after, func() { s.replies <- reply.ToBytes() })
	return len(p), nil
}

func (s socket) ReadFrom(p []byte) (int, net.Addr, error) {
	select {
	case raw := <-s.replies:
		return copy(p, raw), &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 67}, nil
	case <-s.closed:
		return 0, nil, net.ErrClosed
	}
}

func (s socket) Close() error {
	close(s.closed)
	return nil
}

func (s socket) LocalAddr() net.Addr              { return &net.UDPAddr{} }
func (s socket) SetDeadline(time.Time) error      { return nil }
func (s socket) SetReadDeadline(time.Time) error  { return nil }
func (s socket) SetWriteDeadline(time.Time) error { return nil }

// TestWhatIsSentAndWhen: which messages a client sends, and how long it waits for a server.
func TestWhatIsSentAndWhen(t *testing.T) {
	late := answer{dhcpv4.MessageTypeOffer, 3 * time.Second}
	address := netip.MustParseAddr("192.0.2.55")
	for name, tc := range map[string]struct {
		given   Lease
		answers []answer
		sent    []string
		err     string
	}{
		"no lease":          {Lease{}, []answer{offer, ack}, []string{"DISCOVER at 0s", "REQUEST at 0s"}, ""},
		"an expired lease":  {Lease{Address: address, Expire: time.Unix(1, 0)}, []answer{offer, ack}, []string{"DISCOVER at 0s", "REQUEST at 0s"}, ""},
		"a lease":           {Lease{Address: address}, []answer{ack}, []string{"REQUEST at 0s"}, ""},
		"a refused lease":   {Lease{Address: address}, []answer{nak, offer, ack}, []string{"REQUEST at 0s", "DISCOVER at 0s", "REQUEST at 0s"}, ""},
		"a late offer":      {Lease{}, []answer{late, silence, ack}, []string{"DISCOVER at 0s", "DISCOVER at 2s", "REQUEST at 3s"}, ""},
		"an offer is taken": {Lease{}, []answer{offer, silence, ack}, []string{"DISCOVER at 0s", "REQUEST at 0s", "REQUEST at 2s"}, ""},
		"nobody knows the lease": {
			Lease{Address: address},
			[]answer{silence, silence, silence, offer, ack},
			[]string{"REQUEST at 0s", "REQUEST at 2s", "REQUEST at 6s", "DISCOVER at 14s", "REQUEST at 14s"},
			"",
		},
		"no server":       {Lease{}, nil, []string{"DISCOVER at 0s", "DISCOVER at 2s", "DISCOVER at 6s", "DISCOVER at 14s"}, "no DHCP server answered"},
		"an offer undone": {Lease{}, []answer{offer, nak, offer, nak}, []string{"DISCOVER at 0s", "REQUEST at 0s", "DISCOVER at 0s", "REQUEST at 0s"}, "the server refused the address"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				server := newScript(tc.answers)
				lease, err := client{link: "api", mac: net.HardwareAddr{2, 0, 0, 0, 0, 1}, log: slog.New(slog.DiscardHandler), listen: server.listen}.get(context.Background(), tc.given)
				g.Expect(server.sent).To(Equal(tc.sent))
				if tc.err != "" {
					g.Expect(err).To(MatchError(tc.err))
					return
				}
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(lease.Address).To(Equal(address))
			})
		})
	}
}
