package rest_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestAHostThatWasLateJoinsLater: one that failed while its cluster was installed, or is broken now, is not reset: nobody
// installs a cluster anew that runs. The answer says how it comes back, and that way goes.
func TestAHostThatWasLateJoinsLater(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	c := installed(t, hub, singleNode(t).cluster)
	user := newClient(t, hub.User())
	var hosts []wire.Host
	g.Expect(json.Unmarshal([]byte(user.do("GET", "/clusters/"+c.ID+"/hosts", "", 200)), &hosts)).To(Succeed())
	at := "/infra-envs/" + hosts[0].InfraEnvID + "/hosts/" + hosts[0].ID
	g.Expect(user.do("POST", at+"/actions/reset", "", 409)).To(And(ContainSubstring("remove the host"), ContainSubstring("live image"), Not(ContainSubstring("reset the cluster"))))

	user.do("DELETE", at, "", 204)
	token, err := hub.AgentToken(t.Context(), hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	hub.Agent(token).Register(t, store.HostKey{InfraEnvID: hosts[0].InfraEnvID, HostID: hosts[0].ID})
	user.shows(user.do("GET", at, "", 200), `{"kind":"AddToExistingClusterHost","cluster_id":"`+c.ID+`"}`)
}
