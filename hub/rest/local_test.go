package rest_test

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// local is a hub with the tokens of an installation without a hub outside.
type local struct {
	*testhub.Hub
	tokens map[localtoken.Scheme]string
}

const (
	localEnv  = "11111111-1111-4111-8111-111111111111"
	localHost = "aaaaaaaa-0000-4000-8000-000000000001"
)

func newLocal(t *testing.T, more ...func(*rest.Options)) *local {
	t.Helper()
	g := NewWithT(t)
	key, err := auth.LoadLocalKey(filepath.Join(t.TempDir(), "installer.key"))
	g.Expect(err).NotTo(HaveOccurred())
	l := &local{tokens: map[localtoken.Scheme]string{}}
	for _, scheme := range []localtoken.Scheme{localtoken.User, localtoken.Agent, localtoken.Watcher} {
		l.tokens[scheme], err = key.Token(scheme)
		g.Expect(err).NotTo(HaveOccurred())
	}
	l.Hub = testhub.Start(t, testhub.Options{
		NodeZero: service.NodeZero{InfraEnvID: localEnv},
		API: func(o *rest.Options) {
			o.Auth.UserToken, o.Auth.Local = "", &rest.Local{Tokens: auth.LocalOf(key), InfraEnvID: localEnv}
			for _, change := range more {
				change(o)
			}
		},
	})
	return l
}

// with is a caller with the token of the scheme in the header.
func (l *local) with(scheme localtoken.Scheme, header string) *testhub.Caller {
	return l.Agent("").With(header, l.tokens[scheme])
}

func (l *local) user() *testhub.Caller    { return l.with(localtoken.User, "Authorization") }
func (l *local) agent() *testhub.Caller   { return l.with(localtoken.Agent, wire.HeaderAgentToken) }
func (l *local) watcher() *testhub.Caller { return l.with(localtoken.Watcher, "Watcher-Authorization") }

// TestLocalTokens: those who may call with the tokens of an agent-based installation.
func TestLocalTokens(t *testing.T) {
	g := NewWithT(t)
	l := newLocal(t)
	var env wire.InfraEnv
	code, raw := l.user().Do(t, "POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "edge", PullSecret: pullSecret}, &env)
	g.Expect(code).To(Equal(201), raw)
	g.Expect(env.ID).To(Equal(localEnv), "the image was made with this id")
	code, raw = l.user().Do(t, "POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "another", PullSecret: pullSecret}, nil)
	g.Expect(code).To(Equal(409), raw)
	g.Expect(raw).To(ContainSubstring("this hub installs one cluster and has its infra-env edge (" + localEnv + ")"))
	key := store.HostKey{InfraEnvID: localEnv, HostID: localHost}
	l.agent().Register(t, key)
	other, _ := l.InfraEnv(t, "of a controller")

	host := "/infra-envs/" + localEnv + "/hosts/" + localHost
	for name, tc := range map[string]struct {
		caller       *testhub.Caller
		method, path string
		code         int
		says         string
	}{
		"a user lists clusters":              {l.user(), "GET", "/clusters", 200, ""},
		"a user with the word":               {l.Agent("").With("Authorization", "Bearer "+l.tokens[localtoken.User]), "GET", "/clusters", 200, ""},
		"a watcher lists clusters":           {l.watcher(), "GET", "/clusters", 200, ""},
		"a watcher lists infra-envs":         {l.watcher(), "GET", "/infra-envs", 200, ""},
		"a watcher lists events":             {l.watcher(), "GET", "/events", 200, ""},
		"a watcher changes nothing":          {l.watcher(), "POST", "/clusters", 401, "needed in the header Authorization"},
		"a watcher removes no host":          {l.watcher(), "DELETE", host, 401, "needed in the header"},
		"a watcher's token is no user's":     {l.with(localtoken.Watcher, "Authorization"), "GET", "/clusters", 403, "of this installation, and not for the header Authorization"},
		"an agent's token is no user's":      {l.with(localtoken.Agent, "Authorization"), "POST", "/clusters", 403, "and not for the header"},
		"a user's token is no agent's":       {l.with(localtoken.User, wire.HeaderAgentToken), "GET", host + "/instructions", 403, "and not for the header"},
		"an agent polls":                     {l.agent(), "GET", host + "/instructions", 200, ""},
		"an agent lists no clusters":         {l.agent(), "GET", "/clusters", 401, "header Authorization or Watcher-Authorization"},
		"an agent of another infra-env":      {l.agent(), "GET", "/infra-envs/" + other + "/hosts", 404, "there is no infra-env"},
		"nobody":                             {l.Agent(""), "GET", host + "/instructions", 401, "needed in the header X-Secret-Key"},
		"a forged one":                       {l.Agent(l.tokens[localtoken.Agent] + "x"), "GET", host + "/instructions", 401, "not of this installation"},
		"a good one beside a wrong one":      {l.user().With("Watcher-Authorization", "x"), "GET", "/clusters", 200, ""},
		"the usual token of users is closed": {l.User(), "GET", "/clusters", 401, "not of this installation"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, raw := tc.caller.Do(t, tc.method, tc.path, nil, nil)
			g.Expect(code).To(Equal(tc.code), raw)
			g.Expect(raw).To(ContainSubstring(tc.says))
		})
	}
	usual, err := l.AgentToken(t.Context(), localEnv)
	g.Expect(err).NotTo(HaveOccurred())
	code, raw = l.Agent(usual).Do(t, "GET", host+"/instructions", nil, nil)
	g.Expect(code).To(Equal(401), "only those of the image: %s", raw)
}
