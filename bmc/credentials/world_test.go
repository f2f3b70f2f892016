package credentials_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// errKilled is what a program sees that is no more.
var errKilled = errors.New("killed")

// fault is a way in which something goes wrong once.
type fault string

const (
	fine         fault = ""
	refused      fault = "refused by policy, naming the value"
	refusedLate  fault = "refused, and changed all the same"
	unchanged    fault = "accepted and not changed"
	cutBefore    fault = "connection cut before"
	cutAfter     fault = "connection cut after"
	late         fault = "no answer, changed half a minute later"
	sessionsFull fault = "no session left"
	conflict     fault = "conflict"
	lostAnswer   fault = "written, and the answer lost"
	ironicDown   fault = "Ironic does not answer"
)

// faultsOf are those that an effect may meet.
var faultsOf = map[string][]fault{
	"set":     {refused, refusedLate, unchanged, cutBefore, cutAfter, late, sessionsFull},
	"login":   {sessionsFull, cutBefore, cutAfter},
	"account": {sessionsFull},
	"record":  {conflict, lostAnswer},
	"promote": {conflict, lostAnswer},
	"tell":    {ironicDown},
	"prove":   {ironicDown},
}

// world is a BMC, a cluster and an Ironic in memory, and a program in it that can be
// killed before and after each thing that it does.
type world struct {
	t      *testing.T
	g      *gomega.WithT
	now    time.Time
	random *mathrand.Rand

	// The BMC.
	user, password string
	threshold      int
	lockFor        time.Duration
	failures       int
	lastFailure    time.Time
	worst          int // most failures that it has counted
	logins, wrong  int
	received       map[string]int // passwords that reached it, and how often
	pending        string         // what it will do later
	pendingAt      time.Time
	ever           []string // all passwords that there were

	// The cluster.
	secret        rotation.Login
	secretVersion int
	record        map[string][]byte
	recordVersion int
	told, proven  string // Ironic's
	immutable     bool   // the host's Secret

	// The program.
	killAt, effects int
	killAfter       bool
	dead            bool
	faults          int // how many effects may still go wrong
	chance          float64
	outside         bool // somebody has changed something: no promise is left
	done            []string
	log             bytes.Buffer
	said            []string
	intrude         func() // somebody else acts, asked after each effect
	sim             *simulated
	sporadic        float64 // how often right credentials are refused
	only            fault   // of all faults this one alone
	lateBy          time.Duration
	skip            int // how many effects cannot go wrong before
	observed        rotation.Observed
	gate            *credentials.Gate
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, g: gomega.NewWithT(t), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), random: mathrand.New(mathrand.NewPCG(seed, 7)),
		lateBy: 30 * time.Second, user: "root", password: `old"pass word\<1`, threshold: 3, lockFor: time.Minute, received: map[string]int{}, gate: &credentials.Gate{Most: 4},
	}
	w.secret, w.secretVersion = rotation.Login{Username: w.user, Password: client.Secret(w.password)}, 1
	w.told = w.password
	w.ever = []string{w.password}
	w.observed = rotation.Observed{
		Host: "metal3/host-1", AtRest: true, Request: "1",
		Limits: password.Limits{Min: 8, Max: 20, Wrong: 2, Window: time.Minute + 5*time.Second, Refusals: 1, Settle: 5 * time.Second, Known: true},
	}
	return w
}

// effect is something that the program does: it may be its last, and it may go wrong.
func (w *world) effect(kind string, do func(f fault) error) error {
	if w.dead {
		return errKilled
	}
	w.tick()
	w.effects++
	w.done = append(w.done, kind)
	if w.effects == w.killAt && !w.killAfter {
		w.dead = true
		return errKilled
	}
	f := fine
	w.skip--
	if list := faultsOf[kind]; w.faults > 0 && w.skip < 0 && len(list) > 0 && w.random.Float64() < w.chance {
		w.faults--
		f = list[w.random.IntN(len(list))]
		if w.only != "" {
			f = fine
			if slices.Contains(list, w.only) {
				f = w.only
			}
		}
		w.done = append(w.done, "("+string(f)+")")
	}
	err := do(f)
	w.look()
	if w.intrude != nil {
		w.intrude()
	}
	w.check(kind)
	if w.effects == w.killAt {
		w.dead = true
		return errKilled
	}
	return err
}

// tick lets pass what one thing takes, and does what the BMC does late.
func (w *world) tick() { w.pass(300 * time.Millisecond) }

func (w *world) pass(d time.Duration) {
	if w.sim != nil {
		<-time.After(d) // the time of synctest
		w.look()
		return
	}
	w.now = w.now.Add(d)
	if w.pending != "" && !w.now.Before(w.pendingAt) {
		w.password, w.pending = w.pending, ""
		w.check("late change")
	}
}

// check holds the promises that hold at every moment.
func (w *world) check(when string) {
	w.t.Helper()
	w.g.Expect(w.worst).To(gomega.BeNumerically("<", w.threshold), "no lock-out; %s of %v", when, w.done)
	for value, times := range w.received {
		w.g.Expect(times).To(gomega.Equal(1), "no value is sent twice; %s of %v; %s", when, w.done, value)
	}
	if !w.outside {
		w.g.Expect(w.stored()).To(gomega.ContainElement(w.password), "the BMC's password is stored; %s of %v", when, w.done)
	}
}

// stored are all passwords that the cluster has.
func (w *world) stored() []string {
	list := []string{string(w.secret.Password)}
	for key, value := range w.record {
		if key != "state" {
			list = append(list, string(value))
		}
	}
	return list
}

// program starts one.
func (w *world) program() *credentials.Rotator {
	w.dead = false
	r := &credentials.Rotator{
		Store: (*store)(w), BMC: (*bmc)(w), Node: (*node)(w), Gate: w.gate, Address: "https://192.0.2.1", Random: rand.Reader,
		Now: func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
	if w.sim != nil {
		w.sim.restart()
		r.BMC, r.Now = w.sim, time.Now
	}
	return r
}

// run lets programs work until nothing is to be done without somebody, and returns
// what it ends with. A killed program is followed by another one.
func (w *world) run() rotation.Wait {
	w.t.Helper()
	r := w.program()
	for range 400 {
		wait, err := r.Pass(w.t.Context(), w.observed)
		switch {
		case w.dead:
			w.killAt = 0
			w.gate = &credentials.Gate{Most: 4}
			r = w.program()
			w.pass(20 * time.Second)
		case err != nil:
			w.g.Expect(err.Error()).NotTo(gomega.ContainSubstring("please report"), "%v", w.done)
			w.said = append(w.said, err.Error())
			w.pass(time.Second)
		default:
			w.said = append(w.said, wait.Condition.Message)
			if wait.For == 0 || wait.For > 2*time.Hour {
				return wait
			}
			w.pass(wait.For)
		}
	}
	w.t.Fatalf("no end after %v", w.done)
	return rotation.Wait{}
}

// phase is that of the record.
func (w *world) phase() rotation.Phase {
	r, err := rotation.Decode(w.record)
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	return r.Phase
}

// tellsNothing holds everything that was said against all passwords.
func (w *world) tellsNothing() {
	w.t.Helper()
	said := strings.Join(w.said, "\n") + w.log.String() + string(w.record["state"])
	for _, secret := range w.ever {
		for _, form := range []string{secret, fmt.Sprintf("%q", secret), strings.Trim(fmt.Sprintf("%q", secret), `"`)} {
			if strings.Contains(said, form) {
				w.t.Fatalf("a password was told: %s", strings.ReplaceAll(said, form, "<<<THE PASSWORD>>>"))
			}
		}
	}
}

// store is the world as a cluster.
type store world

func (s *store) Secret(context.Context) (rotation.Secret, error) {
	if s.dead {
		return rotation.Secret{}, errKilled
	}
	return rotation.Secret{
		Name: "host-1-bmc", Found: s.secret.Username != "", Login: s.secret, Version: fmt.Sprint(s.secretVersion), Immutable: s.immutable,
		Written: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}, nil
}

func (s *store) Promote(_ context.Context, version string, login rotation.Login) error {
	return (*world)(s).effect("promote", func(f fault) error {
		if f == conflict || version != fmt.Sprint(s.secretVersion) {
			s.secretVersion++
			return credentials.ErrConflict
		}
		s.secret, s.secretVersion = login, s.secretVersion+1
		if f == lostAnswer {
			return fmt.Errorf("no answer to the write of %s", string(login.Password))
		}
		return nil
	})
}

func (s *store) Record(context.Context) (map[string][]byte, string, error) {
	if s.dead {
		return nil, "", errKilled
	}
	version := ""
	if s.record != nil {
		version = fmt.Sprint(s.recordVersion)
	}
	return s.record, version, nil
}

func (s *store) WriteRecord(_ context.Context, version string, data map[string][]byte) (string, error) {
	err := (*world)(s).effect("record", func(f fault) error {
		now := ""
		if s.record != nil {
			now = fmt.Sprint(s.recordVersion)
		}
		if f == conflict || version != now {
			s.recordVersion++
			return credentials.ErrConflict
		}
		s.record, s.recordVersion = data, s.recordVersion+1
		for key, value := range data {
			if key != "state" {
				s.ever = append(s.ever, string(value))
			}
		}
		if f == lostAnswer {
			return errors.New("no answer to the write")
		}
		return nil
	})
	return fmt.Sprint(s.recordVersion), err
}

// bmc is the world as a BMC.
type bmc world

func (b *bmc) Account(_ context.Context, login rotation.Login) (string, rotation.Route, error) {
	err := (*world)(b).effect("account", func(f fault) error {
		if f == sessionsFull {
			return errors.New("no session left")
		}
		switch b.authenticate(login) {
		case rotation.Wrong:
			return &client.Error{Kind: client.Credentials, Message: "wrong password " + string(login.Password)}
		case rotation.Locked:
			return &client.Error{Kind: client.LockedOut}
		default:
		}
		return nil
	})
	return "/redfish/v1/AccountService/Accounts/2", rotation.ByAccount, err
}

// authenticate is what the BMC does with a login.
func (b *bmc) authenticate(l rotation.Login) rotation.Verdict {
	b.logins++
	if b.now.Sub(b.lastFailure) >= b.lockFor {
		b.failures = 0
	}
	switch {
	case b.failures >= b.threshold:
		return rotation.Locked
	case string(l.Password) != b.password || l.Username != b.user:
		b.failures++
		b.wrong++
		b.lastFailure, b.worst = b.now, max(b.worst, b.failures)
		return rotation.Wrong
	}
	b.failures = 0
	if b.random.Float64() < b.sporadic {
		return rotation.Wrong
	}
	return rotation.Right
}

func (b *bmc) SetPassword(_ context.Context, c credentials.Change) (answer rotation.Answer, err error) {
	err = (*world)(b).effect("set", func(f fault) error {
		answer = rotation.NotSent
		if f == sessionsFull {
			return errors.New("no session left")
		}
		if f == cutBefore {
			answer = rotation.NoAnswer
			return errors.New("connection reset")
		}
		if b.authenticate(c.Login) != rotation.Right {
			answer = rotation.Unauthorized
			return errors.New("wrong user name or password " + string(c.Login.Password))
		}
		b.received[string(c.Password)]++
		b.ever = append(b.ever, string(c.Password))
		switch f {
		case refused, refusedLate:
			if f == refusedLate {
				b.password = string(c.Password)
			}
			answer = rotation.Refused
			return fmt.Errorf("the value %q for the property Password is of a different format than the property can accept", string(c.Password))
		case unchanged:
			answer = rotation.Accepted
			return nil
		case late:
			b.pending, b.pendingAt = string(c.Password), b.now.Add(b.lateBy)
			answer = rotation.NoAnswer
			return errors.New("timeout")
		case cutAfter:
			b.password = string(c.Password)
			answer = rotation.NoAnswer
			return errors.New("connection reset")
		default:
		}
		b.password = string(c.Password)
		answer = rotation.Accepted
		return nil
	})
	return answer, err
}

func (b *bmc) Login(_ context.Context, l rotation.Login) (verdict rotation.Verdict, err error) {
	err = (*world)(b).effect("login", func(f fault) error {
		switch f {
		case sessionsFull, cutBefore:
			verdict = rotation.Unsure
			return errors.New("not now")
		case cutAfter:
			b.authenticate(l)
			verdict = rotation.Unsure
			return errors.New("connection reset")
		default:
		}
		if verdict = b.authenticate(l); verdict != rotation.Right {
			return fmt.Errorf("login of %s with %s refused", l.Username, string(l.Password))
		}
		return nil
	})
	return verdict, err
}

// node is the world as Ironic.
type node world

func (n *node) Tell(_ context.Context, l rotation.Login) error {
	return (*world)(n).effect("tell", func(f fault) error {
		if f == ironicDown {
			return errors.New("503 from Ironic, which was told " + string(l.Password))
		}
		n.told = string(l.Password)
		return nil
	})
}

func (n *node) Prove(context.Context) (verdict rotation.Verdict, err error) {
	err = (*world)(n).effect("prove", func(f fault) error {
		if f == ironicDown {
			verdict = rotation.Unsure
			return errors.New("503 from Ironic")
		}
		if n.sim != nil {
			verdict = rotation.Wrong
			if n.told == n.password {
				verdict, n.proven = rotation.Right, n.told
			}
			return nil
		}
		if verdict = (*bmc)(n).authenticate(rotation.Login{Username: n.user, Password: client.Secret(n.told)}); verdict == rotation.Right {
			n.proven = n.told
		}
		return nil
	})
	return verdict, err
}
