package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/hub/auth"
)

// schemes are what the bearer of a local token may be.
var schemes = []localtoken.Scheme{localtoken.User, localtoken.Agent, localtoken.Watcher}

var moment = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// signed is a token as RFC 7515 describes it, made here by other means than the hub's.
func signed(t testing.TB, key *ecdsa.PrivateKey, header, claims string) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims))
	digest := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	raw := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	return text + "." + base64.RawURLEncoding.EncodeToString(raw)
}

func handedIn(t testing.TB, public crypto.PublicKey) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestLocalTokensOpenTheirSchemeOnly(t *testing.T) {
	g := NewWithT(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	const es256 = `{"alg":"ES256","typ":"JWT"}`
	text := handedIn(t, &key.PublicKey)
	for name, form := range map[string]string{"PEM": text, "base64": base64.StdEncoding.EncodeToString([]byte(text)) + "\n"} {
		local, err := auth.ParseLocal(form)
		g.Expect(err).NotTo(HaveOccurred(), name)
		for _, has := range schemes {
			token := signed(t, key, es256, fmt.Sprintf(`{"auth_scheme":%q}`, has))
			for _, wants := range schemes {
				err := local.Check(token, wants, moment)
				if has == wants {
					g.Expect(err).NotTo(HaveOccurred(), string(has))
					continue
				}
				g.Expect(err).To(MatchError(auth.ErrScheme), "%s for %s", has, wants)
			}
		}
	}
	local, err := auth.ParseLocal(text)
	g.Expect(err).NotTo(HaveOccurred())
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	const user = `{"auth_scheme":"userAuth"}`
	good := signed(t, key, es256, user)
	parts := strings.Split(good, ".")
	for name, tc := range map[string]struct {
		token string
		want  error
	}{
		"good":                   {good, nil},
		"good until later":       {signed(t, key, es256, fmt.Sprintf(`{"auth_scheme":"userAuth","exp":%d}`, moment.Unix()+1)), nil},
		"ended":                  {signed(t, key, es256, fmt.Sprintf(`{"auth_scheme":"userAuth","exp":%d}`, moment.Unix())), auth.ErrEnded},
		"not yet":                {signed(t, key, es256, fmt.Sprintf(`{"auth_scheme":"userAuth","nbf":%d}`, moment.Unix()+1)), auth.ErrInvalid},
		"missing":                {"", auth.ErrMissing},
		"another key's":          {signed(t, other, es256, user), auth.ErrInvalid},
		"without an algorithm":   {signed(t, key, `{"alg":"none"}`, user), auth.ErrInvalid},
		"another algorithm":      {signed(t, key, `{"alg":"HS256"}`, user), auth.ErrInvalid},
		"critical extensions":    {signed(t, key, `{"alg":"ES256","crit":["b64"]}`, user), auth.ErrInvalid},
		"no signature":           {parts[0] + "." + parts[1] + ".", auth.ErrInvalid},
		"cut":                    {good[:len(good)-4], auth.ErrInvalid},
		"other claims":           {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"auth_scheme":"agentAuth"}`)) + "." + parts[2], auth.ErrInvalid},
		"no scheme":              {signed(t, key, es256, `{}`), auth.ErrInvalid},
		"a scheme of no text":    {signed(t, key, es256, `{"auth_scheme":["userAuth"]}`), auth.ErrInvalid},
		"padded":                 {good + "=", auth.ErrInvalid},
		"a zero signature":       {parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)), auth.ErrInvalid},
		"very long":              {good + strings.Repeat("A", 1<<16), auth.ErrInvalid},
		"four parts":             {good + ".e30", auth.ErrInvalid},
		"claims that are a list": {signed(t, key, es256, `[]`), auth.ErrInvalid},
	} {
		err := local.Check(tc.token, localtoken.User, moment)
		if tc.want == nil {
			g.Expect(err).NotTo(HaveOccurred(), name)
			continue
		}
		g.Expect(err).To(MatchError(tc.want), name)
	}
	g.Expect(auth.Local{}.Check(good, localtoken.User, moment)).To(MatchError(auth.ErrInvalid), "no key, no access")
}

// TestTheSignatureOfTheStandard is that of RFC 7515, A.3: the token is signed well, and
// says nothing of a scheme.
func TestTheSignatureOfTheStandard(t *testing.T) {
	g := NewWithT(t)
	point := []byte{4}
	for _, half := range []string{"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"} {
		raw, err := base64.RawURLEncoding.DecodeString(half)
		g.Expect(err).NotTo(HaveOccurred())
		point = append(point, raw...)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	g.Expect(err).NotTo(HaveOccurred())
	local, err := auth.ParseLocal(handedIn(t, public))
	g.Expect(err).NotTo(HaveOccurred())
	const token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ." +
		"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
	g.Expect(local.Signed(token)).To(BeTrue())
	g.Expect(local.Signed(token[:len(token)-1] + "A")).To(BeFalse())
	g.Expect(local.Check(token, localtoken.User, moment)).To(MatchError(auth.ErrInvalid))
}

func TestKeysThatCheckNoLocalTokens(t *testing.T) {
	g := NewWithT(t)
	big384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	g.Expect(err).NotTo(HaveOccurred())
	for want, text := range map[string]string{
		"neither PEM nor PEM in base64": "x",
		"curve P-256":                   handedIn(t, &big384.PublicKey),
		"which ES256 needs":             handedIn(t, &rsaKey.PublicKey),
		"PEM block CERTIFICATE":         string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})),
	} {
		_, err := auth.ParseLocal(text)
		g.Expect(err).To(MatchError(ContainSubstring(want)))
	}
}

func TestTheKeyOfLocalTokensIsMadeOnce(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "data", "installer.key")
	first, err := auth.LoadLocalKey(path)
	g.Expect(err).NotTo(HaveOccurred())
	second, err := auth.LoadLocalKey(path)
	g.Expect(err).NotTo(HaveOccurred())
	for _, scheme := range schemes {
		token, err := first.Token(scheme)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(second.Token(scheme)).To(Equal(token), "images do not change because a token was asked for twice")
		g.Expect(auth.LocalOf(second).Check(token, scheme, moment)).To(Succeed())
	}
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	g.Expect(fmt.Sprintf("%v %+v %#v", first, first, first)).To(Equal("[key of local tokens] [key of local tokens] [key of local tokens]"))
	g.Expect(os.WriteFile(path, []byte("short"), 0o600)).To(Succeed())
	_, err = auth.LoadLocalKey(path)
	g.Expect(err).To(MatchError(ContainSubstring("restore it, or remove it")))
}

func FuzzCheckLocal(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	local, err := auth.ParseLocal(handedIn(f, &key.PublicKey))
	if err != nil {
		f.Fatal(err)
	}
	good := signed(f, key, `{"alg":"ES256"}`, `{"auth_scheme":"userAuth"}`)
	f.Add(good)
	f.Add("e30.e30.e30")
	f.Fuzz(func(t *testing.T, token string) {
		if local.Check(token, localtoken.User, moment) == nil && token != good {
			t.Fatalf("accepted a forged token %q", token)
		}
	})
}
