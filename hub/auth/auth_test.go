package auth_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

func key(t testing.TB, seed string) auth.Key {
	t.Helper()
	k, err := auth.NewKey([]byte(strings.Repeat(seed, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestTokensOpenOnlyWhatTheyName(t *testing.T) {
	g := NewWithT(t)
	k := key(t, "a")
	token, err := k.Token(auth.Claims{InfraEnvID: "env-1", Generation: 3})
	g.Expect(err).NotTo(HaveOccurred())
	again, _ := k.Token(auth.Claims{InfraEnvID: "env-1", Generation: 3})
	g.Expect(again).To(Equal(token), "images must not change because a token was asked for twice")

	claims, err := k.Check(token)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(claims).To(Equal(auth.Claims{InfraEnvID: "env-1", Generation: 3}))

	other, _ := k.Token(auth.Claims{InfraEnvID: "env-2", Generation: 3})
	body := func(token string) string { return token[:strings.LastIndex(token, ".")] }
	signature := func(token string) string { return token[strings.LastIndex(token, "."):] }
	for name, bad := range map[string]string{
		"empty":               "",
		"signature of other":  body(token) + signature(other),
		"no signature":        body(token),
		"empty signature":     body(token) + ".",
		"changed case":        strings.ToUpper(token),
		"not base64":          "ifa1.%%%." + signature(token),
		"other scheme":        "Bearer " + token,
		"very long":           token + strings.Repeat("A", 4096),
		"trailing bits":       token + "=",
		"newline in the body": strings.Replace(token, ".", ".\n", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.Check(bad)
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
	_, err = key(t, "b").Check(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "another hub's token")
	_, err = auth.Key{}.Check(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "no key set")
	_, err = auth.Key{}.Token(auth.Claims{InfraEnvID: "env-1"})
	g.Expect(err).To(HaveOccurred())
}

func TestKeyFileIsMadeOnceAndPrivate(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "token.key")
	first, err := auth.LoadKey(path)
	g.Expect(err).NotTo(HaveOccurred())
	second, err := auth.LoadKey(path)
	g.Expect(err).NotTo(HaveOccurred())
	token, _ := first.Token(auth.Claims{InfraEnvID: "env-1"})
	g.Expect(second.Check(token)).To(Equal(auth.Claims{InfraEnvID: "env-1"}))
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))

	g.Expect(os.WriteFile(path, []byte("short"), 0o600)).To(Succeed())
	_, err = auth.LoadKey(path)
	g.Expect(err).To(MatchError(ContainSubstring("want at least 32")))
	g.Expect(fmt.Sprintf("%v %+v %#v", first, first, first)).To(Equal("[token key] [token key] [token key]"))
}

// TestReplicasShareOneSecret has many make the file at once.
func TestReplicasShareOneSecret(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "data", "image.key")
	secrets := make([][]byte, 16)
	var replicas sync.WaitGroup
	for i := range secrets {
		replicas.Go(func() { secrets[i], _ = auth.LoadSecret(path) })
	}
	replicas.Wait()
	for _, secret := range secrets {
		g.Expect(secret).To(And(HaveLen(32), Equal(secrets[0])))
	}
	g.Expect(os.ReadDir(filepath.Dir(path))).To(HaveLen(1), "nothing else is left behind")
}

func FuzzCheck(f *testing.F) {
	k := key(f, "a")
	good, _ := k.Token(auth.Claims{InfraEnvID: "env-1"})
	f.Add(good)
	f.Add("ifa1.e30.e30")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := k.Check(token); err == nil && token != good {
			t.Fatalf("accepted a forged token %q", token)
		}
	})
}
