package netprobe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/mdlayher/packet"
)

// maxOwners bounds what is kept for one address: a real conflict has two or three.
const maxOwners = 16

// settle is how long further owners are waited for once one has answered and
// all requests are out.
const settle = 200 * time.Millisecond

// socket is a packet socket without link header.
type socket interface {
	ReadFrom([]byte) (int, net.Addr, error)
	WriteTo([]byte, net.Addr) (int, error)
	Close() error
}

// Neighbors asks on one interface who owns addresses of one family. Its methods
// may be called at the same time. Make it with [OpenARP] or [OpenNDP].
type Neighbors struct {
	socket socket
	// request makes the packet that asks for the target, and where it goes.
	request func(source, target netip.Addr) ([]byte, MAC)
	// parse reads an answer.
	parse func(packet []byte, from MAC) (answer, bool)

	reader sync.WaitGroup
	mu     sync.Mutex
	asked  map[netip.Addr][]*question
	// broken is why no answers can be read any more.
	broken error
}

// question is one address that is being asked for.
type question struct {
	// sent counts the requests; it belongs to the one who asks.
	sent   int
	owners []MAC
	heard  bool
	// answered is closed by the first answer.
	answered chan struct{}
}

// OpenARP asks for IPv4 addresses on the interface.
func OpenARP(nic *net.Interface) (*Neighbors, error) {
	mac, err := ethernet(nic)
	if err != nil {
		return nil, err
	}
	conn, err := listen(nic, protocolARP)
	if err != nil {
		return nil, err
	}
	return newNeighbors(conn, func(source, target netip.Addr) ([]byte, MAC) {
		return newARPRequest(mac, source, target), broadcast
	}, func(packet []byte, _ MAC) (answer, bool) { return parseARP(packet) }), nil
}

// OpenNDP asks for IPv6 addresses on the interface.
func OpenNDP(nic *net.Interface) (*Neighbors, error) {
	mac, err := ethernet(nic)
	if err != nil {
		return nil, err
	}
	conn, err := listen(nic, protocolIPv6)
	if err != nil {
		return nil, err
	}
	return newNeighbors(conn, func(source, target netip.Addr) ([]byte, MAC) {
		return newSolicitation(mac, source, target)
	}, parseAdvertisement), nil
}

func ethernet(nic *net.Interface) (MAC, error) {
	if len(nic.HardwareAddr) != len(MAC{}) {
		return MAC{}, fmt.Errorf("interface %s has no Ethernet address", nic.Name)
	}
	return MAC(nic.HardwareAddr), nil
}

func newNeighbors(s socket, request func(source, target netip.Addr) ([]byte, MAC), parse func([]byte, MAC) (answer, bool)) *Neighbors {
	n := &Neighbors{socket: s, request: request, parse: parse, asked: map[netip.Addr][]*question{}}
	n.reader.Go(n.read)
	return n
}

// Close ends it; what is still being asked finds no more answers.
func (n *Neighbors) Close() {
	_ = n.socket.Close() // it is gone either way
	n.reader.Wait()
}

// read hands answers to the questions, until the socket is closed or broken.
func (n *Neighbors) read() {
	buffer := make([]byte, maxAdvertisement)
	for {
		length, from, err := n.socket.ReadFrom(buffer)
		if err != nil {
			// An interface that went down for a moment reports it once and goes on.
			if errors.Is(err, errNetDown) {
				continue
			}
			n.mu.Lock()
			n.broken = err
			n.mu.Unlock()
			return
		}
		var sender MAC
		if a, ok := from.(*packet.Addr); ok && len(a.HardwareAddr) >= len(sender) {
			sender = MAC(a.HardwareAddr)
		}
		if a, ok := n.parse(buffer[:length], sender); ok {
			n.note(a)
		}
	}
}

func (n *Neighbors) note(a answer) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, q := range n.asked[a.address] {
		if !q.heard {
			q.heard = true
			close(q.answered)
		}
		if a.reply && len(q.owners) < maxOwners && !slices.Contains(q.owners, a.owner) {
			q.owners = append(q.owners, a.owner)
		}
	}
}

// ask registers a question; done removes it again.
func (n *Neighbors) ask(address netip.Addr) (q *question, done func()) {
	q = &question{answered: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked[address] = append(n.asked[address], q)
	return q, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		left := slices.DeleteFunc(n.asked[address], func(other *question) bool { return other == q })
		if len(left) == 0 {
			delete(n.asked, address)
			return
		}
		n.asked[address] = left
	}
}

// send sends one request.
func (n *Neighbors) send(q *question, source, target netip.Addr) error {
	request, to := n.request(source, target)
	_, err := n.socket.WriteTo(request, &packet.Addr{HardwareAddr: to[:]})
	if err == nil {
		q.sent++
	}
	return err
}

// Owners returns who answers for the target, in the order of their answers.
// All requests are sent even if one answers at once: an address that two own is
// what nobody wants to miss. The source is an own address. The error says why no
// request could be sent, or no answer be read.
func (n *Neighbors) Owners(ctx context.Context, source, target netip.Addr, pace Pace) ([]MAC, error) {
	owners, _, err := n.find(ctx, source, target, pace)
	return owners, err
}

// InUse is [Neighbors.Owners] for who only needs to know whether the target has
// one: it also does when its owner does not answer, but asks for something itself
// meanwhile.
func (n *Neighbors) InUse(ctx context.Context, source, target netip.Addr, pace Pace) (bool, error) {
	_, heard, err := n.find(ctx, source, target, pace)
	return heard, err
}

func (n *Neighbors) find(ctx context.Context, source, target netip.Addr, pace Pace) (owners []MAC, heard bool, err error) {
	q, done := n.ask(target)
	defer done()
	var failed error
	for i := range pace.Requests {
		if i > 0 && !sleep(ctx, pace.Interval) {
			break
		}
		if err := n.send(q, source, target); err != nil {
			failed = err
		}
	}
	if q.sent == 0 {
		return nil, false, failed
	}
	wait, cancel := context.WithTimeout(ctx, pace.Wait)
	defer cancel()
	select {
	case <-q.answered:
		sleep(wait, min(settle, pace.Interval*2))
	case <-wait.Done():
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(q.owners), q.heard, n.broken
}
