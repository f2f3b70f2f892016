package auth_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

const (
	envOne     = "cccccccc-0000-4000-8000-000000000001"
	clusterOne = "aaaaaaaa-0000-4000-8000-000000000001"
	es256      = `{"alg":"ES256","typ":"JWT"}`
)

func ecKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// privatePEM is the key in the two forms that tools write.
func privatePEM(t testing.TB, key crypto.PrivateKey) (sec1, pkcs8 string) {
	t.Helper()
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8 = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	if ec, is := key.(*ecdsa.PrivateKey); is {
		if raw, err = x509.MarshalECPrivateKey(ec); err != nil {
			t.Fatal(err)
		}
		sec1 = string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}))
	}
	return sec1, pkcs8
}

// paired is a hub's key that leaves tokens to the pair.
func paired(t testing.TB, private *ecdsa.PrivateKey, public string) auth.Key {
	t.Helper()
	text, _ := privatePEM(t, private)
	pair, err := auth.ParsePair(text, public)
	if err != nil {
		t.Fatal(err)
	}
	return key(t, "a").With(pair)
}

// TestAPairsTokensAreOfTheProtocol: whoever has the public key reads them.
func TestAPairsTokensAreOfTheProtocol(t *testing.T) {
	private := ecKey(t, elliptic.P256())
	k := paired(t, private, "")
	for name, tc := range map[string]struct {
		make func() (string, error)
		want string
	}{
		"of an infra-env": {
			func() (string, error) { return k.Token(auth.Claims{InfraEnvID: envOne, Generation: 3}) },
			`{"infra_env_id":"` + envOne + `","generation":3}`,
		},
		"of a host": {func() (string, error) {
			return k.Token(auth.Claims{InfraEnvID: envOne, Generation: 3, HostID: hostOne, Serial: 7})
		}, `{"infra_env_id":"` + envOne + `","generation":3,"host_id":"` + hostOne + `","serial":7}`},
		"of a cluster": {func() (string, error) { return k.ClusterToken(auth.ClusterClaims{ClusterID: clusterOne}) }, `{"cluster_id":"` + clusterOne + `","program":true}`},
		"of a cluster, after a revocation": {
			func() (string, error) {
				return k.ClusterToken(auth.ClusterClaims{ClusterID: clusterOne, Generation: 2})
			},
			`{"cluster_id":"` + clusterOne + `","program":true,"generation":2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			token, err := tc.make()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tc.make()).To(Equal(token), "images must not change because a token was asked for twice")
			parts := strings.Split(token, ".")
			g.Expect(parts).To(HaveLen(3))
			header, err := base64.RawURLEncoding.DecodeString(parts[0])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(header).To(MatchJSON(es256))
			said, err := base64.RawURLEncoding.DecodeString(parts[1])
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(said).To(MatchJSON(tc.want))
			public, err := auth.ParseLocal(handedIn(t, &private.PublicKey))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(public.Signed(token)).To(BeTrue())
		})
	}
}

// TestTokensOfAPair: what each opens, and that all else opens nothing.
func TestTokensOfAPair(t *testing.T) {
	private, other := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P256())
	public := handedIn(t, &private.PublicKey)
	k := paired(t, private, public)
	by := func(claims string) string { return signed(t, private, es256, claims) }
	const env, cluster = `{"infra_env_id":"` + envOne + `"}`, `{"cluster_id":"` + clusterOne + `"}`
	symmetric := func() string {
		text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(env))
		mac := hmac.New(sha256.New, []byte(public))
		mac.Write([]byte(text))
		return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	own := func(k auth.Key) string {
		token, err := k.Token(auth.Claims{InfraEnvID: envOne, Generation: 3})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return token
	}
	program, err := k.ClusterToken(auth.ClusterClaims{ClusterID: clusterOne})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	good := strings.Split(by(env), ".")
	first := auth.Claims{InfraEnvID: envOne, Generation: 1}
	for name, tc := range map[string]struct {
		token        string
		agent        auth.Claims
		cluster, url string
		generation   int64
		ended        bool
	}{
		"of an infra-env, made elsewhere":  {token: by(env), agent: first},
		"with claims of others":            {token: by(`{"infra_env_id":"` + envOne + `","iss":"x","kid":"y","sub":"z"}`), agent: first},
		"of a generation":                  {token: by(`{"infra_env_id":"` + envOne + `","generation":2}`), agent: auth.Claims{InfraEnvID: envOne, Generation: 2}},
		"good until later":                 {token: by(fmt.Sprintf(`{"infra_env_id":%q,"exp":%d}`, envOne, time.Now().Add(time.Hour).Unix())), agent: first},
		"of an infra-env, the hub's":       {token: own(k), agent: auth.Claims{InfraEnvID: envOne, Generation: 3}},
		"of a cluster, made elsewhere":     {token: by(cluster), cluster: clusterOne, url: clusterOne},
		"of a program inside":              {token: program, cluster: clusterOne},
		"of both":                          {token: by(`{"infra_env_id":"` + envOne + `","cluster_id":"` + clusterOne + `"}`)},
		"of neither":                       {token: by(`{}`)},
		"of nothing":                       {token: by(`null`)},
		"of a list":                        {token: by(`["` + envOne + `"]`)},
		"whose id is no text":              {token: by(`{"infra_env_id":["` + envOne + `"]}`)},
		"whose generation is no number":    {token: by(`{"infra_env_id":"` + envOne + `","generation":"1"}`)},
		"of an installation":               {token: by(`{"auth_scheme":"agentAuth"}`)},
		"whose time is over":               {token: by(fmt.Sprintf(`{"infra_env_id":%q,"exp":%d}`, envOne, time.Now().Add(-time.Second).Unix())), ended: true},
		"of a cluster, of a generation":    {token: by(`{"cluster_id":"` + clusterOne + `","generation":4}`), cluster: clusterOne, url: clusterOne, generation: 4},
		"of a cluster, whose time is over": {token: by(fmt.Sprintf(`{"cluster_id":%q,"exp":%d}`, clusterOne, time.Now().Add(-time.Second).Unix())), ended: true},
		"whose time is no number":          {token: by(`{"infra_env_id":"` + envOne + `","exp":"2100-01-01"}`)},
		"whose time has not come":          {token: by(fmt.Sprintf(`{"infra_env_id":%q,"nbf":%d}`, envOne, time.Now().Add(time.Hour).Unix()))},
		"of another key":                   {token: signed(t, other, es256, env)},
		"of the hub's own key":             {token: own(key(t, "a"))},
		"without an algorithm":             {token: signed(t, private, `{"alg":"none"}`, env)},
		"without a signature":              {token: base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + good[1] + "."},
		"by the public key as a secret":    {token: symmetric()},
		"of another algorithm":             {token: signed(t, private, `{"alg":"ES384"}`, env)},
		"of an algorithm in small letters": {token: signed(t, private, `{"alg":"es256"}`, env)},
		"that brings its key":              {token: signed(t, other, `{"alg":"ES256","jwk":{"kty":"EC"},"x5c":["x"]}`, env)},
		"with critical extensions":         {token: signed(t, private, `{"alg":"ES256","crit":["exp"]}`, env)},
		"with other claims":                {token: good[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(cluster)) + "." + good[2]},
		"that is cut":                      {token: by(env)[:100]},
		"that is padded":                   {token: by(env) + "="},
		"of four parts":                    {token: by(env) + ".e30"},
		"that is very long":                {token: by(`{"infra_env_id":"` + envOne + `","x":"` + strings.Repeat("A", 1<<14) + `"}`)},
		"with a word before":               {token: "Bearer " + by(env)},
		"with a signature of nothing":      {token: good[0] + "." + good[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64))},
		"with a signature in another form": {token: good[0] + "." + good[1] + "." + base64.RawURLEncoding.EncodeToString(asn1Of(t, private, good[0]+"."+good[1]))},
		"that is missing":                  {token: ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			agent, err := k.Check(tc.token)
			expectToken(g, tc.agent.InfraEnvID != "", tc.ended, err)
			g.Expect(agent).To(Equal(tc.agent))
			cluster, err := k.CheckCluster(tc.token)
			expectToken(g, tc.cluster != "", tc.ended, err)
			g.Expect(cluster.ClusterID).To(Equal(tc.cluster))
			if tc.cluster != "" {
				g.Expect(cluster.Generation).To(Equal(max(tc.generation, 1)))
			}
			opened, err := k.CheckClusterURL(tc.token)
			expectToken(g, tc.url != "", tc.ended, err)
			g.Expect(opened.ClusterID).To(Equal(tc.url))
			if tc.cluster != "" {
				g.Expect(k.OfCluster(tc.token)).To(BeTrue())
			}
			if tc.agent.InfraEnvID != "" {
				g.Expect(k.OfCluster(tc.token)).To(BeFalse())
			}
			_, err = key(t, "a").CheckClusterURL(tc.token)
			g.Expect(err).To(MatchError(auth.ErrInvalid), "a hub without a pair has no such tokens")
		})
	}
}

func expectToken(g Gomega, good, ended bool, err error) {
	switch {
	case good:
		g.Expect(err).NotTo(HaveOccurred())
	case ended:
		g.Expect(err).To(And(MatchError(auth.ErrEnded), MatchError(auth.ErrInvalid)))
	default:
		g.Expect(err).To(Or(MatchError(auth.ErrInvalid), MatchError(auth.ErrMissing)))
		g.Expect(err).NotTo(MatchError(auth.ErrEnded))
	}
}

// asn1Of is a signature as certificates have it, which tokens do not.
func asn1Of(t testing.TB, key *ecdsa.PrivateKey, text string) []byte {
	t.Helper()
	digest := sha256.Sum256([]byte(text))
	raw, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestTokensInAddressesStayTheHubs: they are short, and none of the pair's takes their place.
func TestTokensInAddressesStayTheHubs(t *testing.T) {
	g := NewWithT(t)
	plain, k := key(t, "a"), paired(t, ecKey(t, elliptic.P256()), "")
	c := auth.Claims{InfraEnvID: envOne, Generation: 3}
	image, err := k.ImageToken(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plain.ImageToken(c)).To(Equal(image))
	g.Expect(len(image)).To(BeNumerically("<", 64), "BMCs take addresses of 255 characters")
	g.Expect(k.CheckImage(image)).To(Equal(c))
	until := time.Now().Add(time.Minute)
	query, err := k.SignURL("/x", url.Values{"a": {"b"}}, until)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plain.CheckURL("/x", query, time.Now())).To(Succeed())
}

// TestAFormerKeyIsGoodForAWhile: tokens are made with the private key, and good by any of the public ones.
func TestAFormerKeyIsGoodForAWhile(t *testing.T) {
	g := NewWithT(t)
	former, present := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P256())
	before := paired(t, former, "")
	token, err := before.Token(auth.Claims{InfraEnvID: envOne, Generation: 1})
	g.Expect(err).NotTo(HaveOccurred())
	both := paired(t, present, handedIn(t, &present.PublicKey)+handedIn(t, &former.PublicKey))
	g.Expect(both.Check(token)).To(Equal(auth.Claims{InfraEnvID: envOne, Generation: 1}))
	fresh, err := both.Token(auth.Claims{InfraEnvID: envOne, Generation: 1})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = before.Check(fresh)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "it is the new key's")
	alone := paired(t, present, handedIn(t, &present.PublicKey))
	g.Expect(alone.Check(fresh)).To(Equal(auth.Claims{InfraEnvID: envOne, Generation: 1}))
	_, err = alone.Check(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "the former key is gone")
}

func TestFormsOfAPair(t *testing.T) {
	private, other := ecKey(t, elliptic.P256()), ecKey(t, elliptic.P256())
	sec1, pkcs8 := privatePEM(t, private)
	public := handedIn(t, &private.PublicKey)
	big384, _ := privatePEM(t, ecKey(t, elliptic.P384()))
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	_, rsaPEM := privatePEM(t, rsaKey)
	parameters := string(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 8, 42, 134, 72, 206, 61, 3, 1, 7}}))
	base := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, tc := range map[string]struct{ private, public, want string }{
		"SEC 1":                      {sec1, public, ""},
		"PKCS #8":                    {pkcs8, public, ""},
		"as openssl ecparam writes":  {parameters + sec1, public, ""},
		"in base64":                  {base(sec1) + "\n", base(public), ""},
		"no public key":              {sec1, "", ""},
		"several public keys":        {sec1, handedIn(t, &other.PublicKey) + public, ""},
		"no private key":             {"", public, "the private key: it has no PEM block EC PRIVATE KEY"},
		"a public key in its place":  {public, public, "the private key: it has no PEM block"},
		"no PEM":                     {"hunter2hunter2", "", "the private key: it has no PEM block"},
		"a key that is cut":          {sec1[:100] + "\n-----END EC PRIVATE KEY-----\n", "", "the private key: it"},
		"another curve":              {big384, "", "the private key: it is no key of the curve P-256"},
		"another kind":               {rsaPEM, "", "the private key: it is no key of the curve P-256"},
		"another one's public key":   {sec1, handedIn(t, &other.PublicKey), "the public key is not that of the private key"},
		"a public key of no PEM":     {sec1, "hunter2hunter2", "the public key: it is neither PEM nor PEM in base64"},
		"a private key for a public": {sec1, sec1, "the public key: PEM block EC PRIVATE KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pair, err := auth.ParsePair(tc.private, tc.public)
			g.Expect(fmt.Sprintf("%v %+v %#v", pair, pair, pair)).To(Equal("[key pair] [key pair] [key pair]"))
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				token := signed(t, private, es256, `{"infra_env_id":"`+envOne+`"}`)
				g.Expect(key(t, "a").With(pair).Check(token)).To(Equal(auth.Claims{InfraEnvID: envOne, Generation: 1}))
				return
			}
			g.Expect(err).To(MatchError(HavePrefix(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
			if lines := strings.Split(tc.private, "\n"); len(lines) > 2 {
				g.Expect(err.Error()).NotTo(ContainSubstring(lines[1]))
			}
		})
	}
}

// BenchmarkCheck is what each call of an agent costs.
func BenchmarkCheck(b *testing.B) {
	for name, k := range map[string]auth.Key{"token": key(b, "a"), "local": paired(b, ecKey(b, elliptic.P256()), "")} {
		b.Run(name, func(b *testing.B) {
			token, err := k.Token(auth.Claims{InfraEnvID: envOne, Generation: 1, HostID: hostOne, Serial: 1})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := k.Check(token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzCheckPair: whatever is sent, nothing opens that the key has not signed, and nothing as
// what it is not.
func FuzzCheckPair(f *testing.F) {
	private := ecKey(f, elliptic.P256())
	k := paired(f, private, "")
	env, cluster := signed(f, private, es256, `{"infra_env_id":"`+envOne+`"}`), signed(f, private, es256, `{"cluster_id":"`+clusterOne+`"}`)
	none, err := json.Marshal(map[string]string{"alg": "none"})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{env, cluster, "", "..", "e30.e30.", base64.RawURLEncoding.EncodeToString(none) + "." + strings.Split(env, ".")[1] + ".", string(bytes.Repeat([]byte("."), 40))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := k.Check(token); err == nil && token != env {
			t.Fatalf("accepted a forged token of an infra-env %q", token)
		}
		for _, check := range []func(string) (auth.ClusterClaims, error){k.CheckCluster, k.CheckClusterURL} {
			if _, err := check(token); err == nil && token != cluster {
				t.Fatalf("accepted a forged token of a cluster %q", token)
			}
		}
		k.OfCluster(token)
	})
}
