package nodezero

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

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
}

func begin(t *testing.T, dir hostfile.Dir, have ...Address) *scene {
	s := &scene{network: &network{have: have, changes: make(chan struct{}, 8), routes: make(chan struct{}, 8)}, dir: dir, started: time.Now(), ended: make(chan error, 1)}
	log := slog.New(slog.DiscardHandler)
	p := Program{Dir: dir, Network: s.network, Console: &messages.Console{Dir: dir, Commands: noTerminal{}, Log: log}, Log: log}
	go func() { s.ended <- p.Run(t.Context()) }()
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
		after, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(Equal(30 * time.Second))
		g.Expect(s.says(g)).To(Equal("This host is not the rendezvous host: that one has 192.0.2.1, this host has 192.0.2.9 on eth0.\n"))
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeFalse(), "what an earlier image made of it is gone")
	})
}

func TestANetworkThatNeverRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		s := begin(t, dir, at("192.0.2.9", "eth0"))
		rested := make(chan struct{})
		go func() {
			for {
				select {
				case <-rested:
					return
				case <-time.After(10 * time.Second):
					s.changes <- struct{}{}
				}
			}
		}()
		after, err := s.end()
		close(rested)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(after).To(BeNumerically("~", 5*time.Minute, time.Second))
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
