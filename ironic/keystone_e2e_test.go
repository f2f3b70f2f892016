//go:build e2e

package ironic_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// tokenLife is how long the tokens of the tests' Keystone are good.
const tokenLife = 30 * time.Second

// tokenLog notes the newest token that a gateway sent to Ironic.
type tokenLog struct {
	mu     sync.Mutex
	newest string
}

func (l *tokenLog) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if token := r.Header.Get("X-Auth-Token"); token != "" {
			l.mu.Lock()
			l.newest = token
			l.mu.Unlock()
		}
		return next.RoundTrip(r)
	})
}

func (l *tokenLog) token() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.newest
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestKeystoneAndIronic has the real Ironic ask the real Keystone who its callers
// are: scopes, the catalog, and tokens that end by revocation, by a changed
// password and by their age.
func TestKeystoneAndIronic(t *testing.T) {
	e := NewWithT(t)
	l := labtest.New(t)
	keystone, err := l.StartKeystone(t.Context(), lab.KeystoneOptions{TokenLife: tokenLife})
	e.Expect(err).NotTo(HaveOccurred())
	server, err := l.StartIronic(t.Context(), lab.IronicOptions{Keystone: keystone})
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(keystone.User(t.Context(), "ironflow", "first password", "admin", "service")).To(Succeed())
	e.Expect(keystone.User(t.Context(), "reader", "reader's password", "reader", "")).To(Succeed())
	passwordFile := filepath.Join(t.TempDir(), "password")
	e.Expect(os.WriteFile(passwordFile, []byte("first password\n"), 0o600)).To(Succeed())
	// access is what all cases have in common.
	access := func(k ironic.Keystone) ironic.Config {
		k.URL, k.Region = keystone.URL, keystone.Region
		if k.Username == "" {
			k.Username, k.PasswordFile = "ironflow", passwordFile
		}
		return ironic.Config{CAFile: l.CAFile, Auth: ironic.Auth{Keystone: &k}}
	}
	connect := func(t *testing.T, c ironic.Config) *ironic.Gateway {
		g, err := ironic.New(t.Context(), c)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return g
	}

	t.Run("scopes", func(t *testing.T) {
		for name, c := range map[string]struct {
			keystone ironic.Keystone
			enrols   ironic.Kind // of the answer to an enrolment; zero for accepted
		}{
			"the whole system":                       {ironic.Keystone{System: true}, 0},
			"the project of services":                {ironic.Keystone{Project: lab.ServiceProject}, 0},
			"a user who may only read":               {ironic.Keystone{Username: "reader", Password: "reader's password", System: true}, ironic.Unavailable},
			"a wrong password":                       {ironic.Keystone{Username: "ironflow", Password: "guessed", System: true}, ironic.Unavailable},
			"a project that the user has no role in": {ironic.Keystone{Username: "reader", Password: "reader's password", Project: lab.ServiceProject}, ironic.Unavailable},
		} {
			t.Run(name, func(t *testing.T) {
				e := NewWithT(t)
				g := connect(t, access(c.keystone))
				_, err := g.Enrol(t.Context(), ironic.Enrolment{Name: "keystone~" + strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()), Driver: "redfish"})
				e.Expect(ironic.KindOf(err)).To(Equal(c.enrols), "%v", err)
				if err != nil {
					e.Expect(err.Error()).NotTo(Or(ContainSubstring("guessed"), ContainSubstring("reader's password")))
				}
			})
		}
	})

	log := &tokenLog{}
	config := access(ironic.Keystone{System: true})
	config.Wrap = log.wrap
	g := connect(t, config)
	works := func() {
		t.Helper()
		_, err := g.Get(t.Context(), "nobody")
		e.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)
	}
	works()
	first := log.token()
	e.Expect(first).NotTo(BeEmpty(), "found through the catalog")
	works()
	e.Expect(log.token()).To(Equal(first), "one token for many requests")

	e.Expect(keystone.Revoke(t.Context(), first)).To(Succeed())
	works()
	second := log.token()
	e.Expect(second).NotTo(Equal(first), "a revoked token is replaced within the call")

	e.Expect(keystone.SetPassword(t.Context(), "ironflow", "second password")).To(Succeed())
	_, err = g.Get(t.Context(), "nobody")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable), "%v", err)
	e.Expect(os.WriteFile(passwordFile, []byte("second password, with more\n"), 0o600)).To(Succeed())
	e.Expect(keystone.SetPassword(t.Context(), "ironflow", "second password, with more")).To(Succeed())
	// Keystone keeps revocations by the second: a token of the second in which
	// the password changed is refused as well.
	e.Eventually(func() ironic.Kind {
		_, err := g.Get(t.Context(), "nobody")
		return ironic.KindOf(err)
	}, 10*time.Second, 100*time.Millisecond).Should(Equal(ironic.Gone))
	third := log.token()
	e.Expect(third).NotTo(Equal(second), "the password file was read again")

	e.Eventually(func() string {
		works()
		return log.token()
	}, 2*tokenLife, time.Second).ShouldNot(Equal(third), "an aged token is replaced within the call")

	t.Run("the endpoint can be named instead of looked up", func(t *testing.T) {
		c := access(ironic.Keystone{System: true})
		c.URL = server.URL
		_, err := connect(t, c).Get(t.Context(), "nobody")
		NewWithT(t).Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)
	})
}
