package credentials_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// simulated is the simulated Redfish service, spoken to by the real client, in place
// of the world's own BMC.
type simulated struct {
	w      *world
	server *simulator.Server
	dial   func(ctx context.Context, network, addr string) (net.Conn, error)
	pool   *client.Pool
	host   *redfish.Host
	// fault is the last one.
	fault fault
}

// lateness is how long a BMC takes for what it does late.
const lateness = 30 * time.Second

const simulatedSystem = "1"

// simulate gives a world a simulated BMC whose accounts are locked after three wrong
// tries for a minute, and that takes none of its last five passwords again.
func simulate(w *world) {
	server := simulator.New(simulator.Options{
		Username: w.user, Password: w.password, AccountID: "2", Delays: simulator.Delays{Task: lateness},
		Policy: accounts.Policy{MinLength: 8, MaxLength: 20, Classes: 3, Reuse: 5, Threshold: 3, Lockout: time.Minute},
	})
	w.g.Expect(server.AddSystem(simulator.System{ID: simulatedSystem, NICs: []simulator.NIC{{MAC: "52:54:00:00:00:01"}}})).To(gomega.Succeed())
	pipes := newPipes()
	httpServer := &http.Server{Handler: server, ReadHeaderTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { _ = httpServer.Serve(pipes) })
	w.sim = &simulated{w: w, server: server, dial: pipes.dial}
	w.t.Cleanup(func() {
		_ = w.sim.pool.Close(context.Background())
		_ = httpServer.Close()
		serving.Wait()
		server.Close()
	})
	w.look()
}

// restart is what a new program has: no session, and nothing remembered.
func (s *simulated) restart() {
	if s.pool != nil {
		_ = s.pool.Close(context.Background())
	}
	s.pool = client.NewPool(client.Options{Rate: 1000, Burst: 1000, Dial: s.dial, Now: time.Now})
	s.host = &redfish.Host{Pool: s.pool, Key: "host-1", Target: client.Target{URL: "http://bmc.test"}}
}

// look reads what the BMC has by now.
func (w *world) look() {
	if w.sim == nil {
		return
	}
	w.now = time.Now()
	w.password, _ = w.sim.server.Password(w.user)
	logins := w.sim.server.Logins()
	w.wrong, w.logins = logins[accounts.Wrong], logins[accounts.Right]+logins[accounts.Wrong]+logins[accounts.Locked]
	if logins[accounts.Locked] > 0 && !w.outside {
		w.t.Errorf("the account was locked: %v", w.done)
	}
}

// quirks are the simulator's for the world's faults.
var quirks = map[fault]simulator.Quirk{
	refused: simulator.PasswordRefused, refusedLate: simulator.PasswordRefused, unchanged: simulator.PasswordNotChanged, cutBefore: simulator.PasswordCutBefore,
	cutAfter: simulator.PasswordCutAfter, late: simulator.PasswordNotChanged, sessionsFull: simulator.SessionsFull,
}

// quirky does something while a quirk is on.
func (s *simulated) quirky(kind string, do func() error) error {
	return s.w.effect(kind, func(f fault) error {
		s.fault = f
		quirk := quirks[f]
		if kind != "set" && f != sessionsFull && f != fine {
			quirk = simulator.ConnectionCut
		}
		if quirk != "" {
			s.w.g.Expect(s.server.SetQuirk(simulatedSystem, quirk, 1)).To(gomega.Succeed())
			defer func() { _ = s.server.SetQuirk(simulatedSystem, quirk, 0) }()
		}
		return do()
	})
}

func (s *simulated) Account(ctx context.Context, login rotation.Login) (path string, route rotation.Route, err error) {
	err = s.quirky("account", func() error {
		var err error
		path, route, err = s.host.Account(ctx, login)
		return err
	})
	return path, route, err
}

func (s *simulated) SetPassword(ctx context.Context, change credentials.Change) (answer rotation.Answer, err error) {
	err = s.quirky("set", func() error {
		var err error
		answer, err = s.host.SetPassword(ctx, change)
		if answer != rotation.NotSent && answer != rotation.Unauthorized && answer != rotation.LockedOut {
			s.w.received[string(change.Password)]++
			if s.fault == late { // no known BMC does so by itself
				user := s.w.user
				time.AfterFunc(lateness, func() { _ = s.server.SetPassword(user, string(change.Password)) })
			}
		}
		return err
	})
	return answer, err
}

func (s *simulated) Login(ctx context.Context, login rotation.Login) (verdict rotation.Verdict, err error) {
	err = s.quirky("login", func() error {
		var err error
		verdict, err = s.host.Login(ctx, login)
		return err
	})
	return verdict, err
}

// pipes is a listener without a network, so that time can be the test's own.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// TestAChangeAtTheSimulator is the way without trouble, over Redfish.
func TestAChangeAtTheSimulator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		simulate(w)
		old := w.password
		wait := w.run()
		w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
		w.g.Expect(w.password).NotTo(gomega.Equal(old))
		w.g.Expect([]string{string(w.secret.Password), w.told, w.proven}).To(gomega.HaveEach(w.password))
		w.g.Expect(w.wrong).To(gomega.BeZero())
		w.tellsNothing()
		_ = w.sim.pool.Close(t.Context())
		w.g.Expect(w.sim.server.Sessions()).To(gomega.BeEmpty(), "no session is left behind")
	})
}

// TestKilledAtEachStepAtTheSimulator is TestKilledAtEachStepWhileThingsGoWrong over
// Redfish: 50 times each.
func TestKilledAtEachStepAtTheSimulator(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	outcomes := map[reason.Reason]int{}
	worst := 0
	for at := 1; at <= effectsOfAChange(t)+3; at++ {
		for round := range rounds {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, uint64(at*1000+round))
				simulate(w)
				w.killAt, w.killAfter = at, round%2 == 0
				w.faults, w.chance = round%5, 0.4
				wait := w.run()
				why := fmt.Sprintf("killed at %d, round %d, %s: %s: %v", at, round, wait.Condition.Reason, wait.Condition.Message, w.done)
				w.g.Expect(w.phase()).To(gomega.Equal(rotation.Rested), why)
				w.g.Expect(string(w.secret.Password)).To(gomega.Equal(w.password), why)
				w.g.Expect(w.told).To(gomega.Equal(w.password), why)
				w.tellsNothing()
				outcomes[wait.Condition.Reason]++
				worst = max(worst, w.wrong)
			})
		}
	}
	t.Logf("outcomes: %v; most wrong logins in a round: %d", outcomes, worst)
}
