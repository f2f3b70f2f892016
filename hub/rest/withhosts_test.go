package rest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestHostsOfAClusterAreSentWhileTheyAreRead: a cluster of 500 is not in memory as a whole for each who
// asks for it, or for all clusters with their hosts, as consoles do. A host that is removed while the answer is under
// way is not part of it any more. Who stops reading keeps nobody from changing anything.
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

	for _, path := range []string{"/clusters/" + cluster.ID, "/clusters?with_hosts=true"} {
		answer, err := hub.Client().Get(hub.URL + rest.Base + "/v2" + path)
		g.Expect(err).NotTo(HaveOccurred())
		begun := make([]byte, 1000)
		_, err = io.ReadFull(answer.Body, begun)
		g.Expect(err).NotTo(HaveOccurred())
		code, raw = user.Do(t, http.MethodDelete, "/infra-envs/"+env.ID+"/hosts/"+ids[len(ids)-1], nil, nil)
		g.Expect(code).To(Equal(http.StatusNoContent), raw)
		ids = ids[:len(ids)-1]
		more, err := io.ReadAll(answer.Body)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Body.Close()).To(Succeed())
		raw = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(string(begun)+string(more)), "["), "]")
		var whole wire.Cluster
		g.Expect(json.Unmarshal([]byte(raw), &whole)).To(Succeed())
		var sent []string
		for _, h := range whole.Hosts {
			sent = append(sent, h.ID)
		}
		g.Expect(sent).To(Equal(ids), path)
		g.Expect(whole.Name).To(Equal("large"))
		g.Expect(whole.HostNetworks).To(Equal([]wire.HostNetwork{{CIDR: "192.0.2.0/24", HostIDs: ids}}))
	}
}

// TestAClusterWithoutHostsHasListsOfThem: programs walk through them without asking whether they are there.
func TestAClusterWithoutHostsHasListsOfThem(t *testing.T) {
	g, hub := NewWithT(t), testhub.Start(t, testhub.Options{NoAuth: true})
	user := newClient(t, hub.User())
	var cluster wire.Cluster
	g.Expect(json.Unmarshal([]byte(user.do("POST", "/clusters", `{"name":"edge","openshift_version":"4.20","pull_secret":"{\"auths\":{}}"}`, 201)), &cluster)).To(Succeed())
	one := "/clusters/" + cluster.ID
	for _, answer := range []string{
		user.do("GET", one, "", 200), user.do("PATCH", one, `{"tags":"lab"}`, 201), user.do("GET", "/clusters?with_hosts=true", "", 200),
	} {
		g.Expect(answer).To(And(ContainSubstring(`"hosts":[]`), ContainSubstring(`"host_networks":[]`)))
		g.Expect(strings.Count(answer, `"hosts":`)).To(Equal(1))
	}
	head, err := hub.Client().Head(hub.URL + rest.Base + "/v2" + one)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(head.Body.Close()).To(Succeed())
	g.Expect(head.StatusCode).To(Equal(http.StatusOK))
	g.Expect(head.Header.Get("Content-Type")).To(Equal("application/json"))
}
