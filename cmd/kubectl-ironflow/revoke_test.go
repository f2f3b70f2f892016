package main

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/auth"
)

// TestRevokedTokens: the object has a word that it has not had before, and of a cluster the person is told how to make
// the token that follows.
func TestRevokedTokens(t *testing.T) {
	g := NewWithT(t)
	word := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Format(time.RFC3339Nano)
	env := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "edge"}}
	cd, aci := prod(), prodInstall("installed", "Ready", "", "")
	cd.UID = types.UID("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
	cl := kube(t, env, cd, aci)
	says, err := revokeInfraEnv(t.Context(), cl, client.ObjectKeyFromObject(env), word)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(says).To(ContainSubstring("InfraEnv edge"))
	g.Expect(cl.Get(t.Context(), client.ObjectKeyFromObject(env), env)).To(Succeed())
	g.Expect(env.Annotations).To(HaveKeyWithValue(names.Revoke, word))

	says, err = revokeCluster(t.Context(), cl, client.ObjectKeyFromObject(cd), word)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(says).To(HaveSuffix("ironflow hub cluster-token " + hubid.Cluster(cd) + " --generation 1772366400000000"))
	g.Expect(auth.Next(1, word)).To(BeEquivalentTo(1772366400000000), "it is the hub's")
	g.Expect(cl.Get(t.Context(), client.ObjectKeyFromObject(aci), aci)).To(Succeed())
	g.Expect(aci.Annotations).To(HaveKeyWithValue(names.RevokeCluster, word))

	_, err = revokeCluster(t.Context(), kube(t, prod()), client.ObjectKeyFromObject(cd), word)
	g.Expect(err).To(MatchError(ContainSubstring("the hub has no record of it")))
	_, err = revokeCluster(t.Context(), cl, types.NamespacedName{Namespace: "site", Name: "none"}, word)
	g.Expect(err).To(MatchError(ContainSubstring("no cluster none")))
	g.Expect(strings.Count(says, "\n")).To(BeZero())
}
