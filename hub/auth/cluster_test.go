package auth_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

func TestTokensOfClusters(t *testing.T) {
	g := NewWithT(t)
	const one, two = "aaaaaaaa-0000-4000-8000-000000000001", "aaaaaaaa-0000-4000-8000-000000000002"
	k := key(t, "a")
	token, err := k.ClusterToken(one)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.ClusterToken(one)).To(Equal(token))
	g.Expect(k.CheckCluster(token)).To(Equal(one))
	g.Expect(k.OfCluster(token)).To(BeTrue())
	_, err = k.Check(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "it is no agent's")

	agent, err := k.Token(auth.Claims{InfraEnvID: one})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.OfCluster(agent)).To(BeFalse())
	other, err := k.ClusterToken(two)
	g.Expect(err).NotTo(HaveOccurred())
	foreign, err := key(t, "b").ClusterToken(one)
	g.Expect(err).NotTo(HaveOccurred())
	signature := func(token string) string { return token[strings.LastIndex(token, "."):] }
	for name, bad := range map[string]string{
		"empty": "", "an agent's": agent, "another hub's": foreign, "another cluster's signature": "ifc1." + one + signature(other),
		"no signature": "ifc1." + one, "empty signature": "ifc1." + one + ".", "in capitals": strings.Replace(token, one, strings.ToUpper(one), 1),
		"no id": "ifc1.x" + signature(token), "very long": token + strings.Repeat("A", 4096), "braces": strings.Replace(token, one, "{"+one+"}", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.CheckCluster(bad)
			NewWithT(t).Expect(err).To(MatchError(auth.ErrInvalid))
		})
	}
	_, err = auth.Key{}.CheckCluster(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "no key set")
	_, err = auth.Key{}.ClusterToken(one)
	g.Expect(err).To(HaveOccurred())
	_, err = k.ClusterToken("edge")
	g.Expect(err).To(HaveOccurred())
}
