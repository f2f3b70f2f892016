package auth_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

func TestImageTokensOpenImagesOnly(t *testing.T) {
	g := NewWithT(t)
	k := key(t, "a")
	claims := auth.Claims{InfraEnvID: "11111111-1111-4111-8111-111111111111", Generation: 3}
	token, err := k.ImageToken(claims)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(token)).To(BeNumerically("<=", 50), "it is part of an address that BMCs take")
	g.Expect(k.CheckImage(token)).To(Equal(claims))
	_, err = k.Check(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "an agent has another token")
	agent, err := k.Token(claims)
	g.Expect(err).NotTo(HaveOccurred())

	flipped := []byte(token)
	flipped[10] ^= 1
	for name, bad := range map[string]string{
		"nothing": "", "an agent's": agent, "cut": token[:len(token)-2], "longer": token + "AAAA", "flipped": string(flipped),
		"only the prefix": "ifi1.", "very long": "ifi1." + strings.Repeat("A", 4096), "not base64": "ifi1.%%%", "padded": token + "=",
	} {
		_, err := k.CheckImage(bad)
		g.Expect(err).To(MatchError(auth.ErrInvalid), name)
	}
	_, err = key(t, "b").CheckImage(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "another hub's token")
	_, err = auth.Key{}.ImageToken(claims)
	g.Expect(err).To(HaveOccurred())
	_, err = k.ImageToken(auth.Claims{InfraEnvID: "env"})
	g.Expect(err).To(HaveOccurred())
}

func FuzzCheckImage(f *testing.F) {
	k := key(f, "a")
	good, _ := k.ImageToken(auth.Claims{InfraEnvID: "11111111-1111-4111-8111-111111111111", Generation: 1})
	f.Add(good)
	f.Add("ifi1.AAAA")
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := k.CheckImage(token); err == nil && token != good {
			t.Fatalf("accepted a forged token %q", token)
		}
	})
}
