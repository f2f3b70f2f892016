package nodezero

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/api/hostfile"
)

// noTerminal is a host without one.
type noTerminal struct{}

func (noTerminal) Run(context.Context, command.Command) error { return errors.New("no terminal") }

// network is a kernel whose addresses the test changes.
type network struct {
	mu      sync.Mutex
	have    []Address
	changes chan struct{}
	routes  chan struct{}
}

func (n *network) Addresses() ([]Address, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.have, nil
}

func (n *network) Changes(context.Context) (<-chan struct{}, error) { return n.changes, nil }

func (n *network) Routes(context.Context) (<-chan struct{}, error) { return n.routes, nil }

func (n *network) set(have ...Address) { n.become(n.changes, have) }

func (n *network) become(changes chan<- struct{}, have []Address) {
	n.mu.Lock()
	n.have = have
	n.mu.Unlock()
	changes <- struct{}{}
}

// scene is a host whose node-zero runs.
type scene struct {
	*network
	dir     hostfile.Dir
	started time.Time
	ended   chan error
	// ready has how long the first decision took, units what systemd was asked for.
	ready chan time.Duration
	units atomic.Int32
}

func begin(t *testing.T, dir hostfile.Dir, have ...Address) *scene {
	return beginBefore(t, dir, nil, have...)
}

// beginBefore is the same on a host that may have been installed before.
func beginBefore(t *testing.T, dir hostfile.Dir, before func(context.Context) *installed.Record, have ...Address) *scene {
	s := &scene{network: &network{have: have, changes: make(chan struct{}, 8), routes: make(chan struct{}, 8)}, dir: dir, started: time.Now(), ended: make(chan error, 1)}
	s.ready = make(chan time.Duration, 2)
	log := slog.New(slog.DiscardHandler)
	p := Program{Dir: dir, Network: s.network, Console: &messages.Console{Dir: dir, Commands: noTerminal{}, Log: log}, Log: log}
	p.Installed = before
	p.Ready = func() { s.ready <- time.Since(s.started) }
	p.Start = func(context.Context) error {
		s.units.Add(1)
		return nil
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		s.ended <- p.Run(ctx)
	}()
	t.Cleanup(func() { // a host that is not the rendezvous host is watched until somebody stops it
		stop()
		<-ran
	})
	synctest.Wait()
	return s
}

// says is the text on the console.
func (s *scene) says(g *WithT) string {
	synctest.Wait()
	raw, err := os.ReadFile(s.dir.Path("/etc/motd.d/60_rendezvous-host"))
	g.Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

// end waits for the program and returns when it ended.
func (s *scene) end() (time.Duration, error) {
	err := <-s.ended
	return time.Since(s.started), err
}

func write(t *testing.T, dir hostfile.Dir, file, text string) {
	t.Helper()
	if err := places.Write(dir, file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTheRendezvousHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		s := begin(t, dir)
		g.Expect(s.says(g)).To(ContainSubstring("waits for /etc/assisted/rendezvous-host.env"))
		<-time.After(10 * time.Minute)
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=2001:db8::1\n")
		<-time.After(2 * time.Second)
		g.Expect(s.says(g)).To(ContainSubstring("has no address yet; the rendezvous host has 2001:db8::1"))
		<-time.After(time.Hour)
		s.set(at("192.0.2.9", "eth0"))
		g.Expect(s.says(g)).To(ContainSubstring("The rendezvous host has 2001:db8::1; this host has 192.0.2.9 on eth0, and waits for more"))
		<-time.After(29 * time.Second)
		s.set(at("192.0.2.9", "eth0"), at("192.0.2.10", "eth1"))
		<-time.After(29 * time.Second)
		s.set(at("192.0.2.9", "eth0"), at("2001:db8::1", "eth1"))
		_, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.says(g)).To(Equal("This host is the rendezvous host: it has 2001:db8::1 on eth1.\n"))
		values, err := places.ReadEnv(dir, places.NodeZero)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(values).To(Equal(map[string]string{"BOOTSTRAP_HOST_MAC": "52:54:00:00:00:01"}))
	})
}

func TestAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		write(t, dir, places.NodeZero, "BOOTSTRAP_HOST_MAC=old\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"))
		g.Expect(<-s.ready).To(Equal(30 * time.Second))
		g.Expect(s.says(g)).To(Equal("This host is not the rendezvous host: that one has 192.0.2.1, this host has 192.0.2.9 on eth0.\n"))
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeFalse(), "what an earlier image made of it is gone")
	})
}

// TestTheAddressComesLate: a host that was not the rendezvous host becomes it without a reboot.
func TestTheAddressComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"))
		g.Expect(<-s.ready).To(Equal(30 * time.Second))
		<-time.After(30 * time.Second)
		s.set(at("192.0.2.9", "eth0"), at("192.0.2.8", "eth1"))
		g.Expect(s.says(g)).To(ContainSubstring("is not the rendezvous host: that one has 192.0.2.1, this host has 192.0.2.8 on eth1, 192.0.2.9 on eth0."))
		g.Expect(s.units.Load()).To(BeZero())
		s.set(at("192.0.2.1", "eth1"))
		after, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(Equal(time.Minute))
		g.Expect(s.says(g)).To(Equal("This host is the rendezvous host: it has 192.0.2.1 on eth1.\n"))
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeTrue())
		g.Expect(s.units.Load()).To(Equal(int32(1)), "systemd has passed over the units of the hub")
		g.Expect(s.ready).To(BeEmpty(), "it has been told already")
	})
}

// TestTheAddressIsOnAVLANOfABond: it comes after that of the bond itself, with the address of the bond's card, which
// is that of the VLAN as well, and by which the hub knows the host.
func TestTheAddressIsOnAVLANOfABond(t *testing.T) {
	for name, want := range map[string]string{"IPv4": "198.51.100.1", "IPv6": "2001:db8:100::1"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				dir := hostfile.Dir{Root: t.TempDir()}
				write(t, dir, places.RendezvousHost, "NODE_ZERO_IP="+want+"\n")
				bonded := func(addr, nic string) Address {
					a := at(addr, nic)
					a.MAC = "52:54:00:00:00:b0"
					return a
				}
				untagged, other, mine := bonded("192.0.2.9", "bond0"), bonded("198.51.200.1", "bond0.200"), bonded(want, "bond0.100")
				link, asked := bonded("fe80::b0", "bond0.100"), mine
				asked.Tentative = true
				s := begin(t, dir, at("203.0.113.9", "eno3"), untagged, link)
				<-time.After(20 * time.Second)
				s.set(at("203.0.113.9", "eno3"), untagged, link, other)
				<-time.After(20 * time.Second)
				g.Expect(s.says(g)).To(Equal("The rendezvous host has " + want + "; this host has 192.0.2.9 on bond0, 198.51.200.1 on bond0.200, 203.0.113.9 on eno3, and waits for more.\n"))
				s.set(at("203.0.113.9", "eno3"), untagged, link, other, asked)
				<-time.After(time.Minute)
				g.Expect(s.says(g)).To(ContainSubstring(want + " on bond0.100 (not usable yet)"))
				g.Expect(s.ready).To(BeEmpty())
				s.set(at("203.0.113.9", "eno3"), untagged, link, other, mine)
				_, err := s.end()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(s.says(g)).To(Equal("This host is the rendezvous host: it has " + want + " on bond0.100.\n"))
				values, err := places.ReadEnv(dir, places.NodeZero)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(values).To(Equal(map[string]string{"BOOTSTRAP_HOST_MAC": "52:54:00:00:00:b0"}))
			})
		})
	}
}

// TestThereIsOneHub: a host that has been answered by the hub of another one becomes no second
// hub when it gets the address of the rendezvous host, and says so.
func TestThereIsOneHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"))
		<-s.ready
		write(t, dir, places.AnotherHub, "http://192.0.2.1:8090\n")
		s.set(at("192.0.2.1", "eth0"))
		g.Expect(s.says(g)).To(Equal("This host has 192.0.2.1 of the rendezvous host on eth0, and so has another one in the network: take it from one of them.\n"))
		s.set(at("192.0.2.9", "eth0"))
		g.Expect(s.says(g)).To(ContainSubstring("is not the rendezvous host"))
		s.set(at("192.0.2.1", "eth0"))
		<-time.After(time.Hour)
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeFalse())
		g.Expect(s.units.Load()).To(BeZero())
		g.Expect(s.ended).To(BeEmpty())
	})
}

// TestTheKernelStillAsks: nothing is decided on a host that is about to have the address.
func TestTheKernelStillAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=2001:db8::1\n")
		asked := at("2001:db8::1", "eth1")
		asked.Tentative = true
		s := begin(t, dir, at("192.0.2.9", "eth0"), asked)
		<-time.After(31 * time.Second)
		g.Expect(s.says(g)).To(ContainSubstring("2001:db8::1 on eth1 (not usable yet), and waits for more"))
		<-time.After(time.Hour)
		g.Expect(s.ready).To(BeEmpty())
		s.set(at("192.0.2.9", "eth0"), at("2001:db8::1", "eth1"))
		after, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(Equal(time.Hour + 31*time.Second))
		g.Expect(s.ready).To(Receive(), "the first decision")
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeTrue())
		g.Expect(s.units.Load()).To(BeZero(), "the unit does it at the first decision")
	})
}

// changing has the kernel tell something every ten seconds, until the test ends.
func (s *scene) changing(t *testing.T, have func(n int) []Address) {
	rested := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			select {
			case <-rested:
				return
			case <-time.After(10 * time.Second):
				s.set(have(n)...)
			}
		}
	}()
	t.Cleanup(func() {
		close(rested)
		<-done
	})
}

func TestANetworkThatNeverRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"))
		s.changing(t, func(n int) []Address { return []Address{at("192.0.2.9", "eth0"), at("fe80::1", fmt.Sprint("veth", n))} })
		g.Expect(<-s.ready).To(Equal(5 * time.Minute))
	})
}

// TestWhatIsNoChange: routers renew the lifetimes of addresses every few seconds, and routes come
// and go. Agents do not wait for that.
func TestWhatIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"), at("2001:db8::9", "eth0"))
		s.changing(t, func(n int) []Address {
			four, six := at("192.0.2.9", "eth0"), at("2001:db8::9", "eth0")
			if four.Default = true; n%2 == 0 {
				return []Address{six, four}
			}
			return []Address{four, six}
		})
		g.Expect(<-s.ready).To(Equal(30 * time.Second))
	})
}

func TestSettingsThatNameNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=edge1\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"))
		_, err := s.end()
		g.Expect(err).To(MatchError(`NODE_ZERO_IP in /etc/assisted/rendezvous-host.env: "edge1" is not an address`))
		g.Expect(s.says(g)).To(ContainSubstring(`"edge1" is not an address`))
	})
}

func TestAHostThatJoinsARunningCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.AddNodes, "")
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.200\nAIUI_URL=http://ui\n")
		s := begin(t, dir)
		g.Expect(s.says(g)).To(ContainSubstring("has no address yet"))
		leads := at("2001:db8::9", "eth1")
		s.set(at("192.0.2.9", "eth0"), leads)
		g.Expect(s.says(g)).To(ContainSubstring("on the interface of its default route; this host has 192.0.2.9 on eth0, 2001:db8::9 on eth1, and waits for more"))
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeFalse(), "routes come after addresses")
		leads.Default = true
		s.become(s.routes, []Address{at("192.0.2.9", "eth0"), leads})
		after, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(BeZero())
		values, err := places.ReadEnv(dir, places.RendezvousHost)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(values).To(Equal(map[string]string{"NODE_ZERO_IP": "2001:db8::9", "SERVICE_BASE_URL": "http://[2001:db8::9]:8090/", "AIUI_URL": "http://ui"}))
		info, err := os.Stat(dir.Path(places.RendezvousHost))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), "tokens are in it")
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeTrue())
	})
}

// TestAHostWithoutADefaultRoute joins by the first of its addresses.
func TestAHostWithoutADefaultRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.AddNodes, "")
		s := begin(t, dir, at("192.0.2.9", "eth0"), at("192.0.2.8", "eth1"))
		after, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(Equal(30 * time.Second))
		values, err := places.ReadEnv(dir, places.RendezvousHost)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(values).To(HaveKeyWithValue("NODE_ZERO_IP", "192.0.2.8"))
	})
}

// Whoever has mistyped the MAC addresses of a network would look at cables in vain.
func TestAHostWithoutAnAddressSaysWhatIsWithItsNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		console := &messages.Console{Dir: dir, Commands: noTerminal{}, Log: slog.New(slog.DiscardHandler)}
		console.Show(t.Context(), messages.NetworkNotFound, "enp1s0 52:54:00:00:00:0b")
		s := begin(t, dir)
		g.Expect(s.says(g)).To(And(HavePrefix("This host has no address yet; the rendezvous host has 192.0.2.1. No network description of the image names a card of this host, "+
			"which has enp1s0 52:54:00:00:00:0b"), Not(ContainSubstring("cables"))))
		console.Clear(t.Context(), messages.SlotNetwork)
		s.set()
		g.Expect(s.says(g)).To(ContainSubstring("Look at cables"))
		s.set(Address{Addr: netip.MustParseAddr("192.0.2.1"), Interface: "eth0", MAC: "02:00:00:00:00:01"})
		_, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
	})
}
