package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestHostsOfAClusterAreSentWhileTheyAreRead: a cluster of 500 is not in memory as a whole for each who
// asks for it. A host that is removed while the answer is under way is not part of it any more.
func TestHostsOfAClusterAreSentWhileTheyAreRead(t *testing.T) {
	const hosts, long = 120, 250_000 // a page of hosts is more than what lies between hub and client
	g, hub := NewWithT(t), testhub.Start(t, testhub.Options{NoAuth: true})
	user := hub.User()
	var cluster wire.Cluster
	code, raw := user.Do(t, http.MethodPost, "/clusters", wire.ClusterCreateParams{Name: "large", OpenshiftVersion: "4.20", PullSecret: pullSecret}, &cluster)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	var env wire.InfraEnv
	code, raw = user.Do(t, http.MethodPost, "/infra-envs", wire.InfraEnvCreateParams{Name: "large", PullSecret: pullSecret, ClusterID: &cluster.ID}, &env)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	var ids []string
	for i := range hosts {
		key := store.HostKey{InfraEnvID: env.ID, HostID: fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)}
		ids = append(ids, key.HostID)
		inventory := testhub.Inventory(i)
		inventory.Disks[0].Smart = strings.Repeat("s", long)
		text, err := json.Marshal(inventory)
		g.Expect(err).NotTo(HaveOccurred())
		user.Register(t, key)
		user.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory", Output: string(text)})
	}

	answer, err := hub.Client().Get(hub.URL + rest.Base + "/v2/clusters/" + cluster.ID)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	begun := make([]byte, 1000)
	_, err = io.ReadFull(answer.Body, begun)
	g.Expect(err).NotTo(HaveOccurred())
	code, raw = user.Do(t, http.MethodDelete, "/infra-envs/"+env.ID+"/hosts/"+ids[hosts-1], nil, nil)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
	more, err := io.ReadAll(answer.Body)
	g.Expect(err).NotTo(HaveOccurred())
	var whole wire.Cluster
	g.Expect(json.Unmarshal(slices.Concat(begun, more), &whole)).To(Succeed())
	var sent []string
	for _, h := range whole.Hosts {
		sent = append(sent, h.ID)
	}
	g.Expect(sent).To(Equal(ids[:hosts-1]))
	g.Expect(whole.Name).To(Equal("large"))
	g.Expect(whole.HostNetworks).To(Equal([]wire.HostNetwork{{CIDR: "192.0.2.0/24", HostIDs: ids[:hosts-1]}}))
}
