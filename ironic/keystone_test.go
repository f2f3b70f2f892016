package ironic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// identityService answers like Keystone's version 3 for one user, with a catalog
// that names the bare metal service; each token can be revoked.
type identityService struct {
	*httptest.Server
	ironic   string
	password atomic.Value
	token    atomic.Int64
	asked    atomic.Int64
	scope    atomic.Value // JSON of the last requested scope
}

func newIdentityService(t *testing.T) *identityService {
	k := &identityService{}
	k.password.Store("first")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v3/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"version": {"id": "v3.14", "status": "stable", "links": [{"rel": "self", "href": "%s/v3/"}]}}`, k.URL)
	})
	mux.HandleFunc("POST /v3/auth/tokens", k.issue)
	k.Server = httptest.NewServer(mux)
	t.Cleanup(k.Close)
	return k
}

func (k *identityService) issue(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct{ Name, Password string }
				}
			}
			Scope json.RawMessage
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&body) // a wrong body is a wrong password
	k.asked.Add(1)
	k.scope.Store(string(body.Auth.Scope))
	if user := body.Auth.Identity.Password.User; user.Name != "ironflow" || user.Password != k.password.Load() {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error": {"code": 401, "message": "The request you have made requires authentication.", "title": "Unauthorized"}}`)
		return
	}
	w.Header().Set("X-Subject-Token", fmt.Sprint("token-", k.token.Add(1)))
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"token": {"expires_at": "2999-01-01T00:00:00.000000Z", "catalog": [{"type": "baremetal", "name": "ironic", "endpoints": [
		{"interface": "public", "region": "one", "region_id": "one", "url": "%[1]s"},
		{"interface": "public", "region": "two", "region_id": "two", "url": "http://nowhere.test"}]}]}}`, k.ironic)
}

// guarded is an Ironic that takes the newest token only.
func (k *identityService) guarded(s *simulator.Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Auth-Token") != fmt.Sprint("token-", k.token.Load()) && r.URL.Path != "/v1/" {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error": {"code": 401, "message": "The request you have made requires authentication.", "title": "Unauthorized"}}`)
			return
		}
		s.ServeHTTP(w, r)
	})
}

func TestKeystone(t *testing.T) {
	e := NewWithT(t)
	s := simulator.New(simulator.Options{})
	t.Cleanup(s.Close)
	k := newIdentityService(t)
	server := httptest.NewServer(k.guarded(s))
	t.Cleanup(server.Close)
	k.ironic = server.URL
	file := filepath.Join(t.TempDir(), "password")
	e.Expect(os.WriteFile(file, []byte("first\n"), 0o600)).To(Succeed())
	g, err := ironic.New(t.Context(), ironic.Config{Auth: ironic.Auth{Keystone: &ironic.Keystone{
		URL: k.URL + "/v3", Username: "ironflow", PasswordFile: file, Project: "service", Region: "one",
	}}})
	e.Expect(err).NotTo(HaveOccurred())
	e.Expect(g.Ready(t.Context())).To(Succeed(), "found through the catalog")
	e.Expect(k.scope.Load()).To(MatchJSON(`{"project": {"name": "service", "domain": {"name": "Default"}}}`))
	_, err = g.Get(t.Context(), "x")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone))
	e.Expect(k.asked.Load()).To(BeEquivalentTo(1), "a token is used until it is refused")

	k.token.Add(1) // revoked
	_, err = g.Get(t.Context(), "x")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)

	k.password.Store("second")
	k.token.Add(1)
	_, err = g.Get(t.Context(), "x")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable))
	e.Expect(err).To(MatchError(ContainSubstring("refused our credentials")))
	e.Expect(os.WriteFile(file, []byte("second!"), 0o600)).To(Succeed())
	k.password.Store("second!")
	_, err = g.Get(t.Context(), "x")
	e.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "the changed password file was read: %v", err)
}

func TestKeystoneScopesAndFailures(t *testing.T) {
	k := newIdentityService(t)
	k.ironic = "http://127.0.0.1:1"
	cases := map[string]struct {
		keystone ironic.Keystone
		text     string
		scope    string
	}{
		"system scope":        {ironic.Keystone{URL: k.URL + "/v3/", Username: "ironflow", Password: "first", System: true, Region: "one"}, "connection refused", `{"system": {"all": true}}`},
		"wrong password":      {ironic.Keystone{URL: k.URL + "/v3", Username: "ironflow", Password: "wrong one", Region: "one"}, "refused our credentials", ""},
		"unknown region":      {ironic.Keystone{URL: k.URL + "/v3", Username: "ironflow", Password: "first", Region: "three"}, "catalog", ""},
		"no identity service": {ironic.Keystone{URL: "http://127.0.0.1:1/v3", Username: "ironflow", Password: "first"}, "connection refused", ""},
		"no password file":    {ironic.Keystone{URL: k.URL + "/v3", Username: "ironflow", PasswordFile: "/nonexistent"}, "credentials file", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := NewWithT(t)
			g, err := ironic.New(t.Context(), ironic.Config{Auth: ironic.Auth{Keystone: &c.keystone}})
			e.Expect(err).NotTo(HaveOccurred())
			err = g.Ready(t.Context())
			e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable))
			e.Expect(err).To(MatchError(ContainSubstring(c.text)))
			e.Expect(err.Error()).NotTo(ContainSubstring("wrong one"))
			if c.scope != "" {
				e.Expect(k.scope.Load()).To(MatchJSON(c.scope))
			}
		})
	}
}
