package rest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/pages"
)

// signer is somebody outside of the hub who has a key pair, and makes tokens as RFC 7515
// describes them.
type signer struct{ key *ecdsa.PrivateKey }

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return signer{key}
}

// pair is the key pair as it is handed to the hub.
func (s signer) pair(t *testing.T) *auth.Pair {
	t.Helper()
	g := NewWithT(t)
	raw, err := x509.MarshalECPrivateKey(s.key)
	g.Expect(err).NotTo(HaveOccurred())
	pair, err := auth.ParsePair(string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})), s.public(t))
	g.Expect(err).NotTo(HaveOccurred())
	return &pair
}

// public is the public key's PEM.
func (s signer) public(t *testing.T) string {
	t.Helper()
	raw, err := x509.MarshalPKIXPublicKey(&s.key.PublicKey)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw}))
}

type claims map[string]any

// unsigned are the first two parts of a token.
func unsigned(t *testing.T, alg string, c claims) string {
	t.Helper()
	raw, err := json.Marshal(c)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	encode := base64.RawURLEncoding.EncodeToString
	return encode(fmt.Appendf(nil, `{"alg":%q,"typ":"JWT"}`, alg)) + "." + encode(raw)
}

// token is one with the claims.
func (s signer) token(t *testing.T, c claims) string {
	t.Helper()
	text := unsigned(t, "ES256", c)
	digest := sha256.Sum256([]byte(text))
	x, y, err := ecdsa.Sign(rand.Reader, s.key, digest[:])
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return text + "." + base64.RawURLEncoding.EncodeToString(append(x.FillBytes(make([]byte, 32)), y.FillBytes(make([]byte, 32))...))
}

// forged are tokens that say the same as good ones, and are not.
func (s signer) forged(t *testing.T, good claims) map[string]string {
	t.Helper()
	with := func(name string, value any) claims {
		c := claims{name: value}
		maps.Copy(c, good)
		return c
	}
	symmetric := unsigned(t, "HS256", good)
	mac := hmac.New(sha256.New, []byte(s.public(t)))
	mac.Write([]byte(symmetric))
	other := s.token(t, claims{"infra_env_id": uuid.NewString()})
	return map[string]string{
		"of another key":                    newSigner(t).token(t, good),
		"without a signature":               unsigned(t, "none", good) + ".",
		"by the public key as a secret":     symmetric + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"whose time is over":                s.token(t, with("exp", time.Now().Add(-time.Minute).Unix())),
		"whose time has not come":           s.token(t, with("nbf", time.Now().Add(time.Hour).Unix())),
		"with the signature of another one": unsigned(t, "ES256", good) + other[strings.LastIndex(other, "."):],
		"of users of an installation":       s.token(t, claims{"auth_scheme": "userAuth"}),
		"of agents of an installation":      s.token(t, claims{"auth_scheme": "agentAuth"}),
		"of nothing":                        s.token(t, claims{}),
	}
}

// TestWhoMayDoWhatByTokensMadeElsewhere asks for every operation with tokens that another
// program has signed with the hub's key pair, in the header and in the URL.
func TestWhoMayDoWhatByTokensMadeElsewhere(t *testing.T) {
	g := NewWithT(t)
	s := newSigner(t)
	f := newFixture(t, func(o *testhub.Options) { o.Pair = s.pair(t) })
	otherEnv, otherToken := f.InfraEnv(t, "another")
	foreign := f.another(t, otherEnv, otherToken, 8)
	env, cluster := claims{"infra_env_id": f.env}, claims{"cluster_id": f.cluster}
	program, err := f.Key.ClusterToken(auth.ClusterClaims{ClusterID: f.cluster})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = f.RevokeClusterToken(t.Context(), foreign.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	own := f.Agent(f.token).Exchange(t, store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()})
	inURL := func(token string) *testhub.Caller { return f.Agent("").WithQuery(auth.URLKey, token) }
	nobody := []bearer{
		{"a program's token in a URL", inURL(program), f, foreign},
		{"a token of a cluster whose tokens are revoked", f.Agent(s.token(t, claims{"cluster_id": foreign.cluster})), foreign, f},
		{"a token in a URL of a cluster whose tokens are revoked", inURL(s.token(t, claims{"cluster_id": foreign.cluster})), foreign, f},
		{"a host's own token in a URL", inURL(own.Token()), f, foreign},
		{"a token as a user's", f.Agent("").With("Authorization", "Bearer "+s.token(t, env)), f, foreign},
		{"a token as a watcher's", f.Agent("").With("Watcher-Authorization", s.token(t, env)), f, foreign},
		{"a token that names two", f.Agent(s.token(t, claims{"infra_env_id": f.env, "cluster_id": f.cluster})), f, foreign},
	}
	for _, good := range []claims{env, cluster} {
		for name, token := range s.forged(t, good) {
			nobody = append(nobody, bearer{"a token " + name, f.Agent(token), f, foreign}, bearer{"a token in a URL " + name, inURL(token), f, foreign})
		}
	}
	bearers := []bearer{
		{"`X-Secret-Key`, `infra_env_id`", f.Agent(s.token(t, env)), f, foreign},
		{"`X-Secret-Key`, `cluster_id`", f.Agent(s.token(t, cluster)), f, foreign},
		{"`api_key`, `infra_env_id`", inURL(s.token(t, env)), f, foreign},
		{"`api_key`, `cluster_id`", inURL(s.token(t, cluster)), f, foreign},
	}
	operations, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	rows := ask(t, operations, nobody, bearers)
	for _, op := range operations {
		for n, access := range rows[op.ID] {
			g.Expect(access).NotTo(Equal(always), "%s by %s", op.ID, bearers[n].name)
		}
	}
	pages.Generated{Root: "../..", Page: "hub.md", Package: "./hub/rest", Update: *update}.Hold(t, "access-pair", accessTable(operations, bearers, rows))
}

// TestTokensMadeElsewhereAreRevoked: they have no generation, and are good until there is a second one.
func TestTokensMadeElsewhereAreRevoked(t *testing.T) {
	g := NewWithT(t)
	s := newSigner(t)
	f := newFixture(t, func(o *testhub.Options) { o.Pair = s.pair(t) })
	elsewhere := s.token(t, claims{"infra_env_id": f.env})
	another := store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	f.Agent(elsewhere).Register(t, another)
	f.Agent(elsewhere).Poll(t, another)
	own := f.Agent(elsewhere).Exchange(t, store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()})
	code, raw := f.User().Do(t, "POST", "/infra-envs/"+f.env+"/regenerate-signing-key?agents=true", nil, nil)
	g.Expect(code).To(Equal(204), raw)
	polls := "/infra-envs/" + f.env + "/hosts/" + another.HostID + "/instructions"
	for name, token := range map[string]string{"made elsewhere": elsewhere, "the hub's": f.token, "the host's own": own.Token()} {
		code, raw = f.Agent(token).Do(t, "GET", polls, nil, nil)
		g.Expect(code).To(Equal(401), "%s: %s", name, raw)
	}
	fresh, err := f.AgentToken(t.Context(), f.env)
	g.Expect(err).NotTo(HaveOccurred())
	f.Agent(fresh).Poll(t, another)
	f.Agent(s.token(t, claims{"infra_env_id": f.env, "generation": 2})).Poll(t, another)
}

// TestImagesOpenToTokensOfAPair, beside those that the hub puts into addresses.
func TestImagesOpenToTokensOfAPair(t *testing.T) {
	g := NewWithT(t)
	s := newSigner(t)
	hub := testhub.Start(t, testhub.Options{Pair: s.pair(t)})
	env, token := hub.InfraEnv(t, "edge")
	own := hub.Agent(token).Exchange(t, store.HostKey{InfraEnvID: env, HostID: uuid.NewString()})
	address, err := hub.ImageToken(t.Context(), env)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(address)).To(BeNumerically("<", 64), "it is in addresses that BMCs take")
	for name, good := range map[string]string{"of an address": address, "of the image": token, "made elsewhere": s.token(t, claims{"infra_env_id": env})} {
		g.Expect(hub.CheckImageToken(t.Context(), good)).To(Equal(env), name)
	}
	for name, wrong := range map[string]string{
		"a host's own": own.Token(), "of a cluster": s.token(t, claims{"cluster_id": env}), "of another key": newSigner(t).token(t, claims{"infra_env_id": env}),
		"of an infra-env that is not there": s.token(t, claims{"infra_env_id": uuid.NewString()}),
	} {
		_, err := hub.CheckImageToken(t.Context(), wrong)
		g.Expect(err).To(MatchError(auth.ErrInvalid), name)
	}
}

// TestATokenWhoseTimeIsOverIsTold, so that whoever reads the agent's log knows what to do.
func TestATokenWhoseTimeIsOverIsTold(t *testing.T) {
	g := NewWithT(t)
	s := newSigner(t)
	hub := testhub.Start(t, testhub.Options{Pair: s.pair(t)})
	env, _ := hub.InfraEnv(t, "edge")
	token := s.token(t, claims{"infra_env_id": env, "exp": time.Now().Add(-time.Second).Unix()})
	code, raw := hub.Agent(token).Do(t, "POST", "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: uuid.NewString()}, nil)
	g.Expect(code).To(Equal(401), raw)
	g.Expect(raw).To(ContainSubstring("the time of the agent's token is over; boot the host from a current image"))
}
