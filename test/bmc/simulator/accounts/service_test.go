package accounts_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func newService(t *testing.T, policy accounts.Policy) *accounts.Service {
	t.Helper()
	s, err := accounts.New(policy, []accounts.Account{{UserName: "root", Password: "first"}, {UserName: "guest", Password: "guest", Role: accounts.ReadOnly, Disabled: true}})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return s
}

func TestPasswordsOfThePolicy(t *testing.T) {
	policy := accounts.Policy{MinLength: 8, MaxLength: 12, Classes: 3, Forbidden: `"<`, Reuse: 2, MinAge: time.Minute}
	for _, c := range []struct{ name, password, text string }{
		{"short", "aB1", "fewer than 8"},
		{"long", "aB1aB1aB1aB1a", "more than 12"},
		{"too plain", "abcdefgh1", "needs 3 of"},
		{"a forbidden character", `aB1aB1"aB1`, "one of the characters"},
		{"good", "aB1aB1aB1", ""},
		{"good with another alphabet", "äÖ1äÖ1äÖ1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newService(t, policy)
			err := s.Change("1", accounts.Change{Password: &c.password}, start)
			if c.text == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(c.text)))
			g.Expect(err.Error()).NotTo(ContainSubstring(c.password))
			_, verdict := s.Login("root", "first", "", start)
			g.Expect(verdict).To(Equal(accounts.Right), "a refused change changes nothing")
		})
	}
}

func TestPasswordsAreNotUsedAgain(t *testing.T) {
	g := NewWithT(t)
	s := newService(t, accounts.Policy{Reuse: 2, MinAge: time.Minute})
	now := start
	change := func(password string) error {
		now = now.Add(time.Hour)
		return s.Change("1", accounts.Change{Password: &password}, now)
	}
	g.Expect(change("first")).To(MatchError(ContainSubstring("last 2")))
	g.Expect(change("second")).To(Succeed())
	g.Expect(change("first")).NotTo(Succeed())
	g.Expect(change("third")).To(Succeed())
	g.Expect(change("first")).To(Succeed(), "two others lie between")
	soon := "fourth"
	g.Expect(s.Change("1", accounts.Change{Password: &soon}, now.Add(time.Second))).To(MatchError(ContainSubstring("less than")))
}

func TestLockOut(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy accounts.Policy
		tries  []string // of passwords for root, a second apart
		after  time.Duration
		want   accounts.Verdict
	}{
		{"below the threshold", accounts.Policy{Threshold: 3, Lockout: time.Minute}, []string{"x", "x"}, 0, accounts.Right},
		{"at the threshold", accounts.Policy{Threshold: 3, Lockout: time.Minute}, []string{"x", "x", "x"}, 0, accounts.Locked},
		{"after it", accounts.Policy{Threshold: 3, Lockout: time.Minute}, []string{"x", "x", "x"}, time.Hour, accounts.Right},
		{"for ever", accounts.Policy{Threshold: 1}, []string{"x"}, time.Hour, accounts.Locked},
		{"a right one between starts anew", accounts.Policy{Threshold: 2, Lockout: time.Minute}, []string{"x", "first", "x"}, 0, accounts.Right},
		{"wrong ones are forgotten", accounts.Policy{Threshold: 2, Lockout: time.Minute, ResetAfter: time.Millisecond}, []string{"x", "x"}, 0, accounts.Right},
		{"never", accounts.Policy{}, []string{"x", "x", "x", "x", "x", "x"}, 0, accounts.Right},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			s := newService(t, c.policy)
			now := start
			for _, password := range c.tries {
				now = now.Add(time.Second)
				s.Login("root", password, "10.0.0.1", now)
			}
			_, verdict := s.Login("root", "first", "10.0.0.1", now.Add(c.after))
			g.Expect(verdict).To(Equal(c.want))
		})
	}
}

func TestLockOutByAddress(t *testing.T) {
	g := NewWithT(t)
	s := newService(t, accounts.Policy{Threshold: 2, Lockout: time.Minute, ByAddress: true})
	for _, user := range []string{"nobody", "root"} {
		s.Login(user, "x", "10.0.0.1", start)
	}
	_, verdict := s.Login("root", "first", "10.0.0.1", start)
	g.Expect(verdict).To(Equal(accounts.Locked))
	_, verdict = s.Login("root", "first", "10.0.0.2", start)
	g.Expect(verdict).To(Equal(accounts.Right))
}

func TestAccountsComeAndGo(t *testing.T) {
	g := NewWithT(t)
	s := newService(t, accounts.Policy{MinLength: 4, Threshold: 1})
	_, err := s.Add(accounts.Account{UserName: "new", Password: "abc"})
	g.Expect(err).To(MatchError(ContainSubstring("fewer than 4")))
	_, err = s.Add(accounts.Account{UserName: "root", Password: "abcd"})
	g.Expect(err).To(MatchError(accounts.ErrExists))
	a, err := s.Add(accounts.Account{UserName: "new", Password: "abcd", ChangeRequired: true})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.ID).To(Equal("3"))

	other := "guest"
	g.Expect(s.Change(a.ID, accounts.Change{UserName: &other}, start)).To(MatchError(accounts.ErrExists))
	password, yes := "dcba", true
	g.Expect(s.Change(a.ID, accounts.Change{Password: &password}, start)).To(Succeed())
	got, _ := s.Find("new")
	g.Expect(got.ChangeRequired).To(BeFalse(), "it was changed")
	_, verdict := s.Login("guest", "guest", "", start)
	g.Expect(verdict).To(Equal(accounts.Disabled))

	s.Login("new", "x", "", start)
	g.Expect(s.Locked(a.ID, start)).To(BeTrue())
	g.Expect(s.Change(a.ID, accounts.Change{Unlock: &yes}, start)).To(Succeed())
	g.Expect(s.Locked(a.ID, start)).To(BeFalse())
	g.Expect(s.Force("new", "x")).To(Succeed())
	_, verdict = s.Login("new", "x", "", start)
	g.Expect(verdict).To(Equal(accounts.Right), "the console asks no policy")

	g.Expect(s.Remove(a.ID)).To(Succeed())
	g.Expect(s.Remove(a.ID)).To(MatchError(accounts.ErrMissing))
	g.Expect(s.Change(a.ID, accounts.Change{}, start)).To(MatchError(accounts.ErrMissing))
	g.Expect(s.Force("new", "x")).To(MatchError(accounts.ErrMissing))
	g.Expect(s.List()).To(HaveLen(2))
}
