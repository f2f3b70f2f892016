package simulator

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
	"github.com/ironflow/ironflow/test/simserver"
)

// Server is one simulated Redfish service. Its methods may be called at any time,
// also by the machines behind it.
type Server struct {
	opts  Options
	uuid  string
	life  context.Context
	end   context.CancelFunc
	later sync.WaitGroup // deliveries of events

	counts simserver.Counts // of requests

	mu         sync.Mutex
	systems    map[string]*system
	order      []string // system ids as they were added
	registries map[string]*Registry
	sessions   map[string]*session // by token
	accounts   *accounts.Service
	keys       *certificate.Keys // nil until they are asked for
	nextKeys   *certificate.Keys // after the next restart
	seen       map[string]bool   // the connections, for a quirk
	logins     map[accounts.Verdict]int
	tasks      tasks
	subs       subscriptions
	timers     *simserver.Timers
	serial     int // of sessions, tasks, subscriptions, events and volumes
}

// New makes a server without systems. Close ends it.
func New(o Options) *Server {
	o.complete()
	s := &Server{
		opts: o, uuid: newUUID(), systems: map[string]*system{}, registries: map[string]*Registry{},
		sessions: map[string]*session{}, tasks: tasks{byID: map[string]*task{}},
		subs:     subscriptions{byID: map[string]*subscription{}, streams: map[string]*subscription{}},
		accounts: o.accountService(), logins: map[accounts.Verdict]int{},
	}
	s.timers = simserver.NewTimers(&s.mu)
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Close ends what is under way: tasks, delays, deliveries. The server still
// answers, but nothing changes by itself any more.
func (s *Server) Close() {
	s.mu.Lock()
	s.timers.Stop()
	s.mu.Unlock()
	s.end()
	s.later.Wait()
}

// AddSystem puts a system under the service root. Adding one with the ID of
// another replaces that.
func (s *Server) AddSystem(d System) error {
	sys, err := newSystem(d, s.opts.Delays)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	registry := sys.bios.registry
	if other, ok := s.registries[registry.ID]; ok && other != registry && !registry.equal(other) {
		return fmt.Errorf("system %s: another system has a different BIOS registry with the ID %s: give this one its own ID", sys.state.ID, registry.ID)
	}
	s.registries[registry.ID] = registry
	if old, ok := s.systems[d.ID]; ok {
		old.epoch++
	} else {
		s.order = append(s.order, d.ID)
	}
	s.systems[d.ID] = sys
	return nil
}

// RemoveSystem takes a system away. Its tasks end, its subscriptions stay.
func (s *Server) RemoveSystem(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sys, ok := s.systems[id]; ok {
		sys.epoch++
		delete(s.systems, id)
		s.order = slices.DeleteFunc(s.order, func(other string) bool { return other == id })
	}
}

// State is what the machine behind a system was told last, or what it did
// itself since.
func (s *Server) State(id string) (State, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, ok := s.systems[id]
	if !ok {
		return State{}, false
	}
	return sys.state.clone(), true
}

// SetPower shows a system on or off at once, after the machine did that by
// itself. The machine is not told; events and the log are written.
func (s *Server) SetPower(id string, power PowerState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	if power != On && power != Off {
		return fmt.Errorf("system %s: a machine is On or Off, not %q", id, power)
	}
	sys.state.Power = power
	s.powered(sys, 0)
	return nil
}

// SetQuirk switches a quirk of a system on for a number of times, or [Always], or
// off with 0.
func (s *Server) SetQuirk(id string, quirk Quirk, times int) error {
	if _, ok := known[quirk]; !ok {
		return fmt.Errorf("there is no quirk %q: see simulator.Quirks", quirk)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	sys.quirks[quirk] = times
	delete(sys.scopes, quirk)
	return nil
}

// SetQuirkAt switches a quirk on as [Server.SetQuirk] does, for requests whose path
// begins so. It narrows the quirks that are about any request: [Slow],
// [Unavailable], [ConnectionCut], and those of broken answers and of types.
func (s *Server) SetQuirkAt(id string, quirk Quirk, times int, path string) error {
	if err := s.SetQuirk(id, quirk, times); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	if sys.scopes == nil {
		sys.scopes = map[Quirk]string{}
	}
	sys.scopes[quirk] = path
	return nil
}

// SetDelays changes how long the things of a system take from now on.
func (s *Server) SetDelays(id string, delays Delays) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	sys.delays = delays
	return nil
}

// Password is what the BMC takes for a user now, for tests.
func (s *Server) Password(user string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.accounts.Find(user)
	return a.Password, ok
}

// SetPassword changes a password as somebody at the console does: no policy is
// asked, and the sessions of the account stay.
func (s *Server) SetPassword(user, password string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accounts.Force(user, password)
}

// RequirePasswordChange lets a user do nothing until the password is changed.
func (s *Server) RequirePasswordChange(user string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.accounts.Find(user)
	if !ok {
		return accounts.ErrMissing
	}
	yes := true
	return s.accounts.Change(a.ID, accounts.Change{ChangeRequired: &yes}, time.Now())
}

// SetPolicy changes what passwords must be, and when accounts are locked out.
func (s *Server) SetPolicy(policy accounts.Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts.Policy = policy
}

// Transport answers requests without a network; see [simserver.Transport].
func (s *Server) Transport() http.RoundTripper { return simserver.Transport(s) }

// Counts returns how many requests came in, by verb and path pattern, such as
// "GET /redfish/v1/Systems/{system}".
func (s *Server) Counts() map[string]int { return s.counts.All() }

// Total returns how many requests came in whose pattern has the prefix, such as
// "GET " or "" for all.
func (s *Server) Total(prefix string) int { return s.counts.Total(prefix) }

// system looks a system up; the lock is held.
func (s *Server) system(id string) (*system, error) {
	if sys, ok := s.systems[id]; ok {
		return sys, nil
	}
	return nil, fmt.Errorf("there is no system %q", id)
}

// behind finds the system of a collection's member: Systems, Managers or Chassis;
// the lock is held.
func (s *Server) behind(home, id string) *system {
	if sys := s.systems[id]; sys != nil && sys.idIn(home) == id {
		return sys
	}
	for _, sys := range s.systems {
		if sys.idIn(home) == id {
			return sys
		}
	}
	return nil
}

// idsIn are the members of such a collection, as they were added; the lock is held.
func (s *Server) idsIn(home string) []string {
	ids := make([]string, 0, len(s.order))
	for _, id := range s.order {
		ids = append(ids, s.systems[id].idIn(home))
	}
	return ids
}

// only is the single system of the service, nil if there is none or more; the
// lock is held.
func (s *Server) only() *system {
	if len(s.order) != 1 {
		return nil
	}
	return s.systems[s.order[0]]
}

// next is a number that was not used before; the lock is held.
func (s *Server) next() int {
	s.serial++
	return s.serial
}

// after runs a function with the lock held; the lock is held. Without a delay
// it runs at once.
func (s *Server) after(d time.Duration, f func()) {
	switch {
	case d > 0:
		s.timers.After(d, f)
	case !s.timers.Stopped():
		f()
	}
}
