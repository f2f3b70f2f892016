package netprobe

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mdlayher/packet"
	. "github.com/onsi/gomega"
)

// segment is a socket on a pretended network: answers says what comes back for
// the n-th request for an address, and when.
type segment struct {
	answers func(target netip.Addr, n int) []late
	fail    func(n int) error

	mu      sync.Mutex
	count   map[netip.Addr]int
	sent    []time.Time
	inbox   chan []byte
	closing chan struct{}
}

// late is a packet that arrives after a while.
type late struct {
	after  time.Duration
	packet []byte
}

// isAt is an ARP reply.
func isAt(mac MAC, address netip.Addr) []byte {
	reply := newARPRequest(mac, address, own4)
	reply[arpOperation+1] = arpReply
	return reply
}

func newSegment(answers func(target netip.Addr, n int) []late) *segment {
	return &segment{answers: answers, count: map[netip.Addr]int{}, inbox: make(chan []byte, 4096), closing: make(chan struct{})}
}

func (s *segment) WriteTo(request []byte, to net.Addr) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(len(s.sent)); err != nil {
			return 0, err
		}
	}
	if to.(*packet.Addr).HardwareAddr.String() != "ff:ff:ff:ff:ff:ff" {
		return 0, errors.New("an ARP request goes to all")
	}
	target := netip.AddrFrom4([4]byte(request[arpTargetIP:]))
	s.count[target]++
	s.sent = append(s.sent, time.Now())
	for _, a := range s.answers(target, s.count[target]) {
		time.AfterFunc(a.after, func() { s.inbox <- a.packet })
	}
	return len(request), nil
}

func (s *segment) ReadFrom(buffer []byte) (int, net.Addr, error) {
	select {
	case p := <-s.inbox:
		return copy(buffer, p), &packet.Addr{HardwareAddr: otherMAC[:]}, nil
	case <-s.closing:
		return 0, nil, net.ErrClosed
	}
}

func (s *segment) Close() error { close(s.closing); return nil }

func (s *segment) arp() *Neighbors {
	return newNeighbors(s, func(source, target netip.Addr) ([]byte, MAC) { return newARPRequest(ownMAC, source, target), broadcast },
		func(p []byte, _ MAC) (answer, bool) { return parseARP(p) })
}

func TestOwners(t *testing.T) {
	third := MAC{0x52, 0x54, 0, 0, 0, 0x0c}
	for name, tc := range map[string]struct {
		answers func(netip.Addr, int) []late
		want    []MAC
		took    time.Duration
	}{
		"nobody": {func(netip.Addr, int) []late { return nil }, nil, 3900 * time.Millisecond},
		"one":    {func(a netip.Addr, _ int) []late { return []late{{time.Millisecond, isAt(otherMAC, a)}} }, []MAC{otherMAC}, 1100 * time.Millisecond},
		"two, one of them in a hurry": {func(a netip.Addr, _ int) []late {
			return []late{{time.Millisecond, isAt(third, a)}, {80 * time.Millisecond, isAt(otherMAC, a)}}
		}, []MAC{third, otherMAC}, 1100 * time.Millisecond},
		"one that hears only the last request": {func(a netip.Addr, n int) []late {
			if n < 10 {
				return nil
			}
			return []late{{time.Second, isAt(otherMAC, a)}}
		}, []MAC{otherMAC}, 2100 * time.Millisecond},
		"answers for other addresses": {func(a netip.Addr, _ int) []late { return []late{{0, isAt(otherMAC, a.Next())}, {0, []byte("noise")}} }, nil, 3900 * time.Millisecond},
		"its own question is no answer": {func(a netip.Addr, _ int) []late {
			return []late{{0, newARPRequest(otherMAC, a, own4)}}
		}, nil, 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := newSegment(tc.answers).arp()
				defer n.Close()
				start := time.Now()
				owners, err := n.Owners(t.Context(), own4, other4, Spread(1, time.Minute))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(owners).To(Equal(tc.want))
				g.Expect(time.Since(start)).To(Equal(tc.took))
				g.Expect(n.asked).To(BeEmpty(), "nothing is kept")
			})
		})
	}
}

// A VIP is in use although its owner is too slow to answer, or does not want to.
func TestWhoAsksIsThere(t *testing.T) {
	for name, tc := range map[string]struct {
		answers func(netip.Addr, int) []late
		want    bool
	}{
		"nobody":  {func(netip.Addr, int) []late { return nil }, false},
		"answers": {func(a netip.Addr, _ int) []late { return []late{{time.Millisecond, isAt(otherMAC, a)}} }, true},
		"asks":    {func(a netip.Addr, _ int) []late { return []late{{time.Millisecond, newARPRequest(otherMAC, a, own4)}} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				n := newSegment(tc.answers).arp()
				defer n.Close()
				used, err := n.InUse(t.Context(), own4, other4, Spread(1, time.Minute))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(used).To(Equal(tc.want))
			})
		})
	}
}

func TestOwnersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := newSegment(func(a netip.Addr, n int) []late {
			var flood []late
			for i := range 100 {
				flood = append(flood, late{0, isAt(MAC{2, 0, 0, 0, byte(n), byte(i)}, a)})
			}
			return flood
		}).arp()
		defer n.Close()
		owners, err := n.Owners(t.Context(), own4, other4, Spread(1, time.Minute))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(owners).To(HaveLen(16))
	})
}

// everyOf lists the addresses of a network.
func everyOf(cidr string) []netip.Addr {
	p := netip.MustParsePrefix(cidr)
	var all []netip.Addr
	for a := p.Addr(); p.Contains(a); a = a.Next() {
		all = append(all, a)
	}
	return all
}

func TestSweepFindsSlowAndLossyNeighbours(t *testing.T) {
	quick, slow, lossy, asking := netip.MustParseAddr("10.0.0.7"), netip.MustParseAddr("10.0.1.8"), netip.MustParseAddr("10.0.2.9"), netip.MustParseAddr("10.0.3.255")
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newSegment(func(a netip.Addr, n int) []late {
			switch {
			case a == quick:
				return []late{{time.Millisecond, isAt(otherMAC, a)}}
			case a == slow && n == 1:
				return []late{{1800 * time.Millisecond, isAt(otherMAC, a)}}
			case a == lossy && n == 6:
				return []late{{300 * time.Millisecond, isAt(otherMAC, a)}}
			case a == asking && n == 3:
				return []late{{0, newARPRequest(otherMAC, a, own4)}}
			}
			return nil
		})
		n := s.arp()
		defer n.Close()
		start := time.Now()
		taken, err := n.Sweep(t.Context(), own4, everyOf("10.0.0.0/22"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(taken).To(Equal(map[netip.Addr]bool{quick: true, slow: true, lossy: true, asking: true}))
		g.Expect(time.Since(start)).To(BeNumerically("<=", 3*time.Second))
		g.Expect(s.count[quick]).To(Equal(1), "who has answered is not asked again")
		g.Expect(s.count[netip.MustParseAddr("10.0.0.1")]).To(Equal(6))
		for i := MaxAtOnce; i < len(s.sent); i++ {
			g.Expect(s.sent[i].Sub(s.sent[i-MaxAtOnce])).To(BeNumerically(">=", 10*time.Millisecond), "packets leave evenly")
		}
	})
}

func TestSweepOfAnsweringNeighboursEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		n := newSegment(func(a netip.Addr, _ int) []late { return []late{{time.Millisecond, isAt(otherMAC, a)}} }).arp()
		defer n.Close()
		start := time.Now()
		taken, err := n.Sweep(t.Context(), own4, everyOf("10.0.0.0/24"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(taken).To(HaveLen(256))
		g.Expect(time.Since(start)).To(BeNumerically("<", time.Second))
	})
}

func TestWhatCannotBeAskedIsNotFree(t *testing.T) {
	silent := func(netip.Addr, int) []late { return nil }
	for name, tc := range map[string]struct {
		fail func(n int) error
		ctx  func(context.Context) context.Context
		want string
	}{
		"network is down": {func(int) error { return errors.New("network is down") }, nil, "network is down"},
		"network goes down in the middle of the first round": {func(n int) error {
			if n > 100 {
				return errors.New("no buffer space")
			}
			return nil
		}, nil, "no buffer space"},
		"the step's time is over": {nil, func(ctx context.Context) context.Context {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			t.Cleanup(cancel)
			return ctx
		}, "deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newSegment(silent)
				s.fail = tc.fail
				n := s.arp()
				defer n.Close()
				ctx := t.Context()
				if tc.ctx != nil {
					ctx = tc.ctx(ctx)
				}
				_, err := n.Sweep(ctx, own4, everyOf("10.0.0.0/24"))
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			})
		})
	}
}

func TestSpread(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Spread(6, 25*time.Second)).To(Equal(Pace{Requests: 10, Interval: 100 * time.Millisecond, Wait: 3 * time.Second}), "three hosts: as ping does, only quicker")
	for _, probes := range []int{0, 1, 64, 500, 6_000, 20_000} {
		pace := Spread(probes, 25*time.Second)
		rounds := (probes + MaxAtOnce - 1) / MaxAtOnce
		g.Expect(time.Duration(rounds)*pace.length()).To(BeNumerically("<=", 26*time.Second), "%d probes", probes)
		g.Expect(pace.Requests).To(Equal(10))
		g.Expect(pace.Wait).To(BeNumerically(">", 4*pace.Interval))
	}
	g.Expect(Spread(1_000_000, 25*time.Second).length()).To(BeNumerically(">=", 50*time.Millisecond), "not faster than switches like")
}

func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var mu sync.Mutex
		running, most, ran := 0, 0, map[int]bool{}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		started := Each(ctx, 1000, func(i int) {
			mu.Lock()
			running++
			most, ran[i] = max(most, running), true
			mu.Unlock()
			time.Sleep(time.Second) //nolint:forbidigo // in the bubble's time
			mu.Lock()
			running--
			mu.Unlock()
		})
		g.Expect(most).To(Equal(64))
		g.Expect(started).To(Equal(3*64), "the end of the time ends it")
		g.Expect(ran).To(HaveLen(started))
		g.Expect(running).To(BeZero(), "it waits for what it started")
	})
}
