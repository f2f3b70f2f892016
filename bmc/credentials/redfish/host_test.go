package redfish_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
	"github.com/ironflow/ironflow/test/bmc/simulator/profile"
)

const (
	user  = "root"
	old   = "Old-pass-word-77"
	fresh = "Fresh-pass-word-88"
)

var login = rotation.Login{Username: user, Password: old}

// bed is a simulated BMC over TLS, and a host that speaks to it.
type bed struct {
	*simulator.Server

	t    *testing.T
	g    *gomega.WithT
	host *redfish.Host
	http *httptest.Server
	id   string
}

// start runs a BMC of a kind; front, if any, is asked before the simulator.
func start(t *testing.T, p profile.Profile, front func(next http.Handler) http.Handler) *bed {
	t.Helper()
	g := gomega.NewWithT(t)
	server, err := p.New(simulator.Options{Username: user, Password: old})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var handler http.Handler = server
	if front != nil {
		handler = front(server)
	}
	web := httptest.NewUnstartedServer(handler)
	// Its own StartTLS would serve a certificate of the test server's.
	web.Listener = tls.NewListener(web.Listener, server.TLSConfig())
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.Start()
	web.URL = "https://" + web.Listener.Addr().String()
	pool := client.NewPool(client.Options{Rate: 10000, Burst: 1000, Timeout: 10 * time.Second})
	t.Cleanup(func() {
		_ = pool.Close(context.WithoutCancel(t.Context()))
		web.Close()
		server.Close()
	})
	return &bed{
		Server: server, t: t, g: g, http: web, id: p.System.ID,
		host: &redfish.Host{Pool: pool, Key: "host", Target: client.Target{URL: web.URL, TLS: client.Trust{Insecure: true}}},
	}
}

func (b *bed) quirk(q simulator.Quirk, times int) {
	b.t.Helper()
	b.g.Expect(b.SetQuirk(b.id, q, times)).To(gomega.Succeed())
}

// TestEveryMaker changes a password at each kind of BMC, as its policy and its vendor
// allow: the account is found, the change holds, and it is told from the old one.
func TestEveryMaker(t *testing.T) {
	for _, p := range profile.All() {
		t.Run(p.Name, func(t *testing.T) {
			b := start(t, p, nil)
			report := &v1alpha1.BMCReport{
				Vendor: string(p.System.Vendor), ManagerModel: p.System.ManagerModel,
				Accounts: &v1alpha1.AccountPolicy{MinPasswordLength: p.Policy.MinLength, MaxPasswordLength: p.Policy.MaxLength},
			}
			recipe, err := password.Plan(password.Policy{}, password.LimitsOf(report))
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			made, err := password.Generate(rand.Reader, recipe, user)
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			path, route, err := b.host.Account(t.Context(), login)
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			answer, err := b.host.SetPassword(t.Context(), credentials.Change{Login: login, Account: path, Route: route, Password: made})
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(answer).To(gomega.Equal(rotation.Accepted))
			verdict, err := b.host.Login(t.Context(), rotation.Login{Username: user, Password: made})
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(verdict).To(gomega.Equal(rotation.Right))
			verdict, err = b.host.Login(t.Context(), login)
			b.g.Expect(err).To(gomega.HaveOccurred())
			b.g.Expect(verdict).To(gomega.Equal(rotation.Wrong))
			b.g.Expect(b.Logins()[accounts.Wrong]).To(gomega.Equal(1))
		})
	}
}

// TestWhatBecameOfAChange has what BMCs do with a new password, what is said of it, and
// which one holds.
func TestWhatBecameOfAChange(t *testing.T) {
	for name, c := range map[string]struct {
		quirks []simulator.Quirk
		before func(b *bed)
		with   client.Secret // in place of the right one
		want   rotation.Answer
		holds  string
	}{
		"taken":                         {want: rotation.Accepted, holds: fresh},
		"taken, and not changed":        {quirks: []simulator.Quirk{simulator.PasswordNotChanged}, want: rotation.Accepted, holds: old},
		"refused":                       {quirks: []simulator.Quirk{simulator.PasswordRefused}, want: rotation.Refused, holds: old},
		"cut before":                    {quirks: []simulator.Quirk{simulator.PasswordCutBefore}, want: rotation.NoAnswer, holds: old},
		"cut after":                     {quirks: []simulator.Quirk{simulator.PasswordCutAfter}, want: rotation.NoAnswer, holds: fresh},
		"a tag is demanded":             {quirks: []simulator.Quirk{simulator.AccountETagNeeded}, want: rotation.Accepted, holds: fresh},
		"no sessions":                   {quirks: []simulator.Quirk{simulator.NoSessions}, want: rotation.Accepted, holds: fresh},
		"sessions stay":                 {quirks: []simulator.Quirk{simulator.SessionsKept}, want: rotation.Accepted, holds: fresh},
		"a wrong password":              {with: "not-it-at-all-1", want: rotation.Unauthorized, holds: old},
		"locked out, and told":          {quirks: []simulator.Quirk{simulator.LockoutTold}, before: (*bed).lock, want: rotation.LockedOut, holds: old},
		"nobody there":                  {before: func(b *bed) { b.http.Close() }, want: rotation.NotSent, holds: old},
		"a certificate nobody knows of": {before: func(b *bed) { b.host.Target.TLS = client.Trust{Pin: strings.Repeat("00", 32)} }, want: rotation.NotSent, holds: old},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, profile.OpenBMC().With(c.quirks...), nil)
			if c.before != nil {
				c.before(b)
			}
			as := login
			if c.with != "" {
				as.Password = c.with
			}
			answer, err := b.host.SetPassword(t.Context(), credentials.Change{Login: as, Account: b.account(), Password: fresh})
			b.g.Expect(answer).To(gomega.Equal(c.want), "%v", err)
			b.g.Expect(err == nil).To(gomega.Equal(c.want == rotation.Accepted))
			if err != nil {
				b.g.Expect(err.Error()).NotTo(gomega.ContainSubstring(fresh))
				b.g.Expect(err.Error()).NotTo(gomega.ContainSubstring(string(as.Password)))
			}
			holds, _ := b.Password(user)
			b.g.Expect(holds).To(gomega.Equal(c.holds))
		})
	}
}

// account is the path of the user's account.
func (b *bed) account() string {
	return "/redfish/v1/AccountService/Accounts/" + b.accountID()
}

func (b *bed) accountID() string {
	for _, id := range []string{profile.OpenBMC().AccountID, "1"} {
		if id != "" {
			return id
		}
	}
	return ""
}

// lock has the account locked by somebody else's wrong passwords.
func (b *bed) lock() {
	b.SetPolicy(accounts.Policy{Threshold: 2, Lockout: time.Hour})
	for range 2 {
		c, err := client.New(client.Target{URL: b.http.URL, Username: user, Password: "wrong-word-1", TLS: client.Trust{Insecure: true}}, client.Options{Rate: 1000})
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
		_ = c.Verify(b.t.Context(), "wrong-word-2")
		_ = c.Close(b.t.Context())
	}
}

func TestWhatALoginProves(t *testing.T) {
	for name, c := range map[string]struct {
		quirks []simulator.Quirk
		before func(b *bed)
		with   client.Secret
		want   rotation.Verdict
	}{
		"right":                {with: old, want: rotation.Right},
		"wrong":                {with: fresh, want: rotation.Wrong},
		"right, no sessions":   {with: old, quirks: []simulator.Quirk{simulator.NoSessions}, want: rotation.Right},
		"wrong, no sessions":   {with: fresh, quirks: []simulator.Quirk{simulator.NoSessions}, want: rotation.Wrong},
		"right, all in use":    {with: old, quirks: []simulator.Quirk{simulator.SessionsFull}, want: rotation.Right},
		"locked out, and told": {with: old, quirks: []simulator.Quirk{simulator.LockoutTold}, before: (*bed).lock, want: rotation.Locked},
		"right, to be changed": {with: old, before: func(b *bed) { b.g.Expect(b.RequirePasswordChange(user)).To(gomega.Succeed()) }, want: rotation.Right},
		"nobody there":         {with: old, before: func(b *bed) { b.http.Close() }, want: rotation.Unsure},
		"not now":              {with: old, quirks: []simulator.Quirk{simulator.Unavailable}, want: rotation.Unsure},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, profile.OpenBMC().With(c.quirks...), nil)
			if c.before != nil {
				c.before(b)
			}
			before := b.Logins()
			verdict, err := b.host.Login(t.Context(), rotation.Login{Username: user, Password: c.with})
			b.g.Expect(verdict).To(gomega.Equal(c.want), "%v", err)
			b.g.Expect(b.Logins()[accounts.Wrong]-before[accounts.Wrong]).To(gomega.BeNumerically("<=", 1), "one attempt")
			b.g.Expect(b.Sessions()).To(gomega.BeEmpty(), "the session is ended")
		})
	}
}

func TestWhereTheAccountIs(t *testing.T) {
	named := profile.OpenBMC()
	named.AccountID = user
	for name, c := range map[string]struct {
		kind   profile.Profile
		known  string
		before func(b *bed)
		want   string
		says   string
	}{
		"in the list":          {kind: profile.OpenBMC(), want: "/redfish/v1/AccountService/Accounts/" + (&bed{}).accountID()},
		"in a slot":            {kind: profile.Dell(), want: "/redfish/v1/AccountService/Accounts/2"},
		"known":                {kind: profile.OpenBMC(), known: "/redfish/v1/AccountService/Accounts/x", want: "/redfish/v1/AccountService/Accounts/x"},
		"by its name, no list": {kind: named.With(simulator.NoAccountList), want: "/redfish/v1/AccountService/Accounts/" + user},
		"nowhere, no list":     {kind: profile.Supermicro().With(simulator.NoAccountList), says: "list the accounts"},
		"no service":           {kind: profile.OpenBMC().With(simulator.NoAccountService), says: "no AccountService"},
		"told, as it must be changed": {
			kind: profile.Supermicro(), before: func(b *bed) { b.g.Expect(b.RequirePasswordChange(user)).To(gomega.Succeed()) },
			want: "/redfish/v1/AccountService/Accounts/" + profile.Supermicro().AccountID,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, c.kind, nil)
			if c.before != nil {
				c.before(b)
			}
			b.host.Known = c.known
			path, route, err := b.host.Account(t.Context(), login)
			if c.says != "" {
				b.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
				return
			}
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(path).To(gomega.Equal(strings.TrimSuffix(c.want, "/")))
			b.g.Expect(route).To(gomega.Equal(rotation.ByAccount))
		})
	}
}

// TestAnIDRACThatDemandsAChange refuses all else, so that the change goes through the
// vendor's attributes, at the place where this one has them.
func TestAnIDRACThatDemandsAChange(t *testing.T) {
	for name, place := range map[string]string{
		"newer": "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes/iDRAC.Embedded.1",
		"older": "/redfish/v1/Managers/iDRAC.Embedded.1/Attributes",
	} {
		t.Run(name, func(t *testing.T) {
			var set func(password string)
			b := start(t, profile.Dell().With(simulator.FactoryPassword), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.Method == http.MethodPatch && r.URL.Path == place:
						var body struct{ Attributes map[string]string }
						if json.NewDecoder(r.Body).Decode(&body) == nil {
							set(body.Attributes["Users.2.Password"])
						}
					case r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "Attributes"):
						http.NotFound(w, r)
					case r.Method == http.MethodPatch:
						w.WriteHeader(http.StatusForbidden)
					default:
						next.ServeHTTP(w, r)
					}
				})
			})
			set = func(password string) { b.g.Expect(b.SetPassword(user, password)).To(gomega.Succeed()) }
			b.host.Attributes = true
			path, route, err := b.host.Account(t.Context(), login)
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(route).To(gomega.Equal(rotation.ByAttributes))
			answer, err := b.host.SetPassword(t.Context(), credentials.Change{Login: login, Account: path, Route: route, Password: fresh})
			b.g.Expect(answer).To(gomega.Equal(rotation.Accepted), "%v", err)
			holds, _ := b.Password(user)
			b.g.Expect(holds).To(gomega.Equal(fresh))
		})
	}
}

// TestWhoReadsMeanwhileLogsInNoMore: a read of another part of the program goes on while
// the password is changed, and the BMC ends its session. It must not log in again with
// the password before.
func TestWhoReadsMeanwhileLogsInNoMore(t *testing.T) {
	for name, quirk := range map[string]simulator.Quirk{"accepted": "", "no answer": simulator.PasswordCutAfter} {
		t.Run(name, func(t *testing.T) {
			b := start(t, profile.OpenBMC(), nil)
			if quirk != "" {
				b.quirk(quirk, 1)
			}
			target := b.host.Target
			target.Username, target.Password = user, old
			reader, err := b.host.Pool.Client(b.host.Key, target)
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(reader.Get(t.Context(), "/redfish/v1/Systems", &struct{}{})).To(gomega.Succeed())
			_, _ = b.host.SetPassword(t.Context(), credentials.Change{Login: login, Account: b.account(), Password: fresh})
			b.g.Expect(reader.Get(t.Context(), "/redfish/v1/Systems", &struct{}{})).NotTo(gomega.Succeed())
			b.g.Expect(b.Logins()[accounts.Wrong]).To(gomega.BeZero())
		})
	}
}
