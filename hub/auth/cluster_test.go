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
	token, err := k.ClusterToken(auth.ClusterClaims{ClusterID: one})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.ClusterToken(auth.ClusterClaims{ClusterID: one})).To(Equal(token))
	g.Expect(k.CheckCluster(token)).To(Equal(auth.ClusterClaims{ClusterID: one, Generation: 1}))
	g.Expect(k.OfCluster(token)).To(BeTrue())
	_, err = k.Check(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "it is no agent's")

	agent, err := k.Token(auth.Claims{InfraEnvID: one})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.OfCluster(agent)).To(BeFalse())
	other, err := k.ClusterToken(auth.ClusterClaims{ClusterID: two})
	g.Expect(err).NotTo(HaveOccurred())
	foreign, err := key(t, "b").ClusterToken(auth.ClusterClaims{ClusterID: one})
	g.Expect(err).NotTo(HaveOccurred())
	later, err := k.ClusterToken(auth.ClusterClaims{ClusterID: one, Generation: 7})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(k.CheckCluster(later)).To(Equal(auth.ClusterClaims{ClusterID: one, Generation: 7}))
	g.Expect(k.ClusterToken(auth.ClusterClaims{ClusterID: one, Generation: 1})).To(Equal(token), "those of programs that run do not name it")
	signature := func(token string) string { return token[strings.LastIndex(token, "."):] }
	for name, bad := range map[string]string{
		"empty": "", "an agent's": agent, "another hub's": foreign, "another cluster's signature": "ifc1." + one + signature(other),
		"no signature": "ifc1." + one, "empty signature": "ifc1." + one + ".", "in capitals": strings.Replace(token, one, strings.ToUpper(one), 1),
		"a later generation, of another's signature": strings.Replace(later, ".7.", ".8.", 1), "a later generation, of the first one's": "ifc1." + one + ".7" + signature(token),
		"a later one's signature without it": "ifc1." + one + signature(later), "the first generation, named": "ifc1." + one + ".1" + signature(token),
		"the generation in another spelling": strings.Replace(later, ".7.", ".07.", 1), "a generation that is no number": strings.Replace(later, ".7.", ".x.", 1),
		"of four parts": later + ".x", "no id": "ifc1.x" + signature(token), "very long": token + strings.Repeat("A", 4096), "braces": strings.Replace(token, one, "{"+one+"}", 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.CheckCluster(bad)
			NewWithT(t).Expect(err).To(MatchError(auth.ErrInvalid))
		})
	}
	_, err = auth.Key{}.CheckCluster(token)
	g.Expect(err).To(MatchError(auth.ErrInvalid), "no key set")
	_, err = auth.Key{}.ClusterToken(auth.ClusterClaims{ClusterID: one})
	g.Expect(err).To(HaveOccurred())
	_, err = k.ClusterToken(auth.ClusterClaims{ClusterID: "edge"})
	g.Expect(err).To(HaveOccurred())
}
