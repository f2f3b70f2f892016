package input_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestABindingThatManyAskFor: bind and unbind by several at once, a cluster that goes meanwhile (assisted-service#3964).
func TestABindingThatManyAskFor(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := hub.User()
	g := NewWithT(t)
	var e wire.InfraEnv
	code, raw := user.Do(t, http.MethodPost, "/infra-envs", env(nil), &e)
	g.Expect(code).To(Equal(201), raw)
	token, err := hub.AgentToken(t.Context(), e.ID)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	key := store.HostKey{InfraEnvID: e.ID, HostID: "00000000-0000-4000-8000-000000000001"}
	path := "/infra-envs/" + e.ID + "/hosts/" + key.HostID
	agent.Register(t, key)
	inventory := testhub.Inventory(1)
	text, _ := json.Marshal(inventory)
	agent.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1", Output: string(text)})
	var c wire.Cluster
	code, raw = user.Do(t, http.MethodPost, "/clusters", cluster(nil), &c)
	g.Expect(code).To(Equal(201), raw)
	var host wire.Host
	status := func() string {
		host = wire.Host{}
		code, raw := user.Do(t, http.MethodGet, path, nil, &host)
		g.Expect(code).To(Equal(200), raw)
		return host.Status
	}
	t.Log("first", status())
	many := func(method, path string, body any) map[int]int {
		codes := map[int]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				code, _ := user.Do(t, method, path, body, nil)
				mu.Lock()
				defer mu.Unlock()
				codes[code]++
			})
		}
		all.Wait()
		return codes
	}
	t.Log("bind", many(http.MethodPost, path+"/actions/bind", object{"cluster_id": c.ID}), status())
	agent.Register(t, key)
	t.Log("registered", status(), host.ClusterID != nil)
	t.Log("unbind", many(http.MethodPost, path+"/actions/unbind", nil), status())
	agent.Register(t, key)
	agent.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1", Output: string(text)})
	t.Log("registered", status(), host.ClusterID != nil)
	t.Log("bind", many(http.MethodPost, path+"/actions/bind", object{"cluster_id": c.ID}), status())
	t.Log("delete", many(http.MethodDelete, "/clusters/"+c.ID, nil), status(), host.ClusterID)
	agent.Register(t, key)
	t.Log("registered", status(), host.ClusterID)
	code, raw = user.Do(t, http.MethodPost, path+"/actions/bind", object{"cluster_id": c.ID}, nil)
	t.Log("bind to a cluster that is gone", code, raw)
	t.Log("delete host", many(http.MethodDelete, path, nil))
	agent.Register(t, key)
	t.Log("again", status())
	g.Expect(host.ClusterID).To(BeNil())
}
