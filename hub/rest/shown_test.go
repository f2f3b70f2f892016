package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// shows compares those members of an answer that are wanted, as a client reads them.
func (c client) shows(answer, want string) {
	c.Helper()
	var have, wanted any
	c.Expect(jsonInto(answer, &have)).To(Succeed(), answer)
	c.Expect(jsonInto(want, &wanted)).To(Succeed(), want)
	c.Expect(part(have, wanted)).To(Equal(wanted), answer)
}

// part cuts what is wanted out of what is there.
func part(have, wanted any) any {
	h, isObject := have.(map[string]any)
	w, wantsObject := wanted.(map[string]any)
	if !isObject || !wantsObject {
		return have
	}
	out := map[string]any{}
	for name, value := range w {
		if is, ok := h[name]; ok {
			out[name] = part(is, value)
		}
	}
	return out
}

// said is a JSON text in a step reply's output.
func said(t *testing.T, step, output string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"step_type": step, "step_id": step + "-00000001", "output": output})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

const aHost = "11111111-2222-4333-8444-555555555555"

// agentOf makes an infra-env by hand and returns its path with its agents.
func (c client) agentOf(hub *testhub.Hub, more string) (env string, agent client) {
	c.Helper()
	env = c.read("POST", "/infra-envs", `{"name":"pool","pull_secret":"{\"auths\":{}}"`+more+`}`, 201)["id"].(string)
	token, err := hub.AgentToken(c.Context(), env)
	c.Expect(err).NotTo(HaveOccurred())
	return "/infra-envs/" + env, newClient(c.T, hub.Agent(token))
}

// TestMembersThatClientsReadWithoutAsking: existing clients look at them before they look whether they are there.
func TestMembersThatClientsReadWithoutAsking(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := newClient(t, hub.User())
	cluster := user.newCluster()
	env, agent := user.agentOf(hub, `,"cluster_id":"`+strings.TrimPrefix(cluster, "/clusters/")+`"`)
	unset := `{"stage_started_at":"0001-01-01T00:00:00.000Z","stage_updated_at":"0001-01-01T00:00:00.000Z"}`
	asked := func(name string) {
		t.Helper()
		want := `{"requested_hostname":"` + name + `","progress":` + unset + `,"progress_stages":[],"media_status":"connected"}`
		user.shows(user.do("GET", env+"/hosts/"+aHost, "", 200), want)
		for _, list := range []string{env + "/hosts", cluster + "/hosts", cluster + "/hosts?with-inventory=true", cluster + "/hosts?role=master"} {
			var hosts []json.RawMessage
			user.Expect(jsonInto(user.do("GET", list, "", 200), &hosts)).To(Succeed())
			user.Expect(hosts).To(HaveLen(1), list)
			user.shows(string(hosts[0]), want)
		}
		var whole wire.Cluster
		user.Expect(jsonInto(user.do("GET", cluster, "", 200), &whole)).To(Succeed())
		user.Expect(whole.Hosts).To(HaveLen(1))
		user.Expect(whole.Hosts[0].RequestedHostname).To(Equal(name))
		user.Expect(whole.Hosts[0].Progress).NotTo(BeNil())
	}
	agent.shows(agent.do("POST", env+"/hosts", `{"host_id":"`+aHost+`"}`, 201), `{"requested_hostname":"`+aHost+`","progress":`+unset+`}`)
	asked(aHost)
	agent.do("POST", env+"/hosts/"+aHost+"/instructions", said(t, "inventory", `{"hostname":"node-a"}`), 204)
	asked("node-a")
	user.do("PATCH", env+"/hosts/"+aHost, `{"host_name":"wanted"}`, 201)
	asked("wanted")
	for _, query := range []string{"", "?exclude-hosts=true"} {
		user.shows(user.do("GET", cluster+query, "", 200), `{"platform":{"type":"none"}}`)
	}
}

// TestProgressAfterAReset: there is an object, and it says nothing.
func TestProgressAfterAReset(t *testing.T) {
	f := newFixture(t)
	user, host := newClient(t, f.User()), "/infra-envs/"+f.env+"/hosts/"+f.host.HostID
	user.shows(user.do("GET", host, "", 200), `{"progress":{"current_stage":"Installing"}}`)
	user.do("POST", "/clusters/"+f.cluster+"/actions/reset", "", 202)
	newClient(t, f.Agent(f.token)).do("POST", "/infra-envs/"+f.env+"/hosts", `{"host_id":"`+f.host.HostID+`"}`, 201)
	user.Expect(user.read("GET", host, "", 200)["progress"]).To(Equal(map[string]any{
		"stage_started_at": "0001-01-01T00:00:00.000Z", "stage_updated_at": "0001-01-01T00:00:00.000Z",
	}))
}

func TestDefaultsAreShown(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := newClient(t, hub.User())
	create := func(more string) string {
		return `{"name":"edge","openshift_version":"4.20.1","pull_secret":"{\"auths\":{}}"` + more + `}`
	}
	always := `"schedulable_masters":false,"hyperthreading":"all","cpu_architecture":"x86_64","disk_encryption":{"enable_on":"none","mode":"tpmv2"},
		"feature_usage":"{}","host_networks":[],"hosts":[],"vip_dhcp_allocation":false,"load_balancer":{"type":"cluster-managed"},"imported":false,
		"machine_networks":[],"operator_bundles":[],"deleted_at":null`
	const alone = `"{\"High Availability Mode None\":{\"id\":\"HIGH_AVAILABILITY_MODE_NONE\",\"name\":\"High Availability Mode None\"}}"`
	for name, tc := range map[string]struct{ path, body, want string }{
		"a cluster with a release": {
			"/clusters", create(""),
			`{"network_type":"OVNKubernetes","user_managed_networking":false,"platform":{"type":"baremetal"},"high_availability_mode":"Full",` + always + `}`,
		},
		"a cluster of one host": {
			"/clusters", create(`,"control_plane_count":1`),
			`{"user_managed_networking":true,"platform":{"type":"none"},"high_availability_mode":"None","api_vips":[],"ingress_vips":[],` + strings.Replace(always, `"{}"`, alone, 1) + `}`,
		},
		"what a user asks for": {
			"/clusters", create(`,"network_type":"Calico","hyperthreading":"none","cpu_architecture":"arm64","schedulable_masters":true,
				"disk_encryption":{"enable_on":"masters"},"load_balancer":{"type":"user-managed"}`),
			`{"network_type":"Calico","hyperthreading":"none","cpu_architecture":"arm64","schedulable_masters":true,
				"disk_encryption":{"enable_on":"masters","mode":"tpmv2"},"load_balancer":{"type":"user-managed"}}`,
		},
		"a cluster without a release": {"/clusters", `{"name":"edge","pull_secret":"{\"auths\":{}}"}`, `{"network_type":"None","monitored_operators":[],` + always + `}`},
		"an infra-env":                {"/infra-envs", `{"name":"pool","pull_secret":"{\"auths\":{}}"}`, `{"cpu_architecture":"x86_64","proxy":{"http_proxy":"","https_proxy":"","no_proxy":""}}`},
		"an infra-env with a proxy": {
			"/infra-envs", `{"name":"pool","pull_secret":"{\"auths\":{}}","proxy":{"http_proxy":"http://proxy.example:3128"}}`,
			`{"proxy":{"http_proxy":"http://proxy.example:3128","https_proxy":"","no_proxy":""}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			user := newClient(t, hub.User())
			raw := user.do("POST", tc.path, tc.body, 201)
			user.shows(raw, tc.want)
			var made struct{ ID string }
			user.Expect(jsonInto(raw, &made)).To(Succeed())
			user.shows(user.do("GET", tc.path+"/"+made.ID, "", 200), tc.want)
		})
	}
	imported := user.do("POST", "/clusters/import", `{"name":"old","api_vip_dnsname":"api.old.example","openshift_cluster_id":"`+uuid.NewString()+`"}`, 201)
	user.shows(imported, `{"imported":true,"high_availability_mode":"Full","hosts":[],"monitored_operators":[]}`)
	user.shows(
		user.do("GET", "/clusters/default-config", "", 200),
		`{"forbidden_hostnames":["localhost","localhost.localdomain","localhost4","localhost4.localdomain4","localhost6","localhost6.localdomain6"],"inactive_deletion_hours":480}`,
	)

	operators := `[{"cluster_id":"ID","name":"console","operator_type":"builtin","timeout_seconds":4200,"bundles":[],"source_bundles":[],"status_updated_at":"0001-01-01T00:00:00.000Z"},
		{"cluster_id":"ID","name":"cvo","operator_type":"builtin","timeout_seconds":4200,"bundles":[],"source_bundles":[],"status_updated_at":"0001-01-01T00:00:00.000Z"}]`
	user = newClient(t, testhub.Start(t, testhub.Options{NoAuth: true}).User()) // as users and as agents
	cluster := user.newCluster()
	operators = strings.ReplaceAll(operators, "ID", strings.TrimPrefix(cluster, "/clusters/"))
	user.shows(user.do("GET", cluster, "", 200), `{"monitored_operators":`+operators+`}`)
	user.Expect(user.do("GET", cluster+"/monitored-operators", "", 200)).To(MatchJSON(operators))
}

// TestHostNetworksOfACluster: consoles choose machine networks from them.
func TestHostNetworksOfACluster(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	s := threeHosts(t)
	s.hosts[1].inventory.Interfaces[0].Ipv6Addresses = []string{"2001:db8::7/64", "fe80::1/64", "no address"}
	p := s.play(t, hub)
	c, _ := p.readCluster(t)
	g := NewWithT(t)
	g.Expect(c.HostNetworks).To(HaveLen(2))
	g.Expect(c.HostNetworks[0].CIDR).To(Equal("192.0.2.0/24"))
	g.Expect(c.HostNetworks[0].HostIDs).To(ConsistOf(p.hosts[0].HostID, p.hosts[1].HostID, p.hosts[2].HostID))
	g.Expect(c.HostNetworks[1]).To(Equal(wire.HostNetwork{CIDR: "2001:db8::/64", HostIDs: []string{p.hosts[1].HostID}}))
}

// TestInstructionsAreLists: agents walk through them.
func TestInstructionsAreLists(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := newClient(t, hub.User())
	env, agent := user.agentOf(hub, "")
	agent.do("POST", env+"/hosts", `{"host_id":"`+aHost+`"}`, 201)
	cluster := user.newCluster()
	agent.do("POST", env+"/hosts/"+aHost+"/instructions", said(t, "inventory", `{"hostname":"node-a"}`), 204)
	g := NewWithT(t)
	raw, err := json.Marshal(testhub.Inventory(5))
	g.Expect(err).NotTo(HaveOccurred())
	agent.do("POST", env+"/hosts/"+aHost+"/instructions", said(t, "inventory", string(raw)), 204)
	user.do("POST", env+"/hosts/"+aHost+"/actions/bind", `{"cluster_id":"`+strings.TrimPrefix(cluster, "/clusters/")+`"}`, 200)
	agent.shows(agent.do("GET", env+"/hosts/"+aHost+"/instructions", "", 200), `{"instructions":[],"post_step_action":"exit"}`)
}

// TestTheSmallestThatSufficeAreMasters: larger hosts are worth more to the workloads.
func TestTheSmallestThatSufficeAreMasters(t *testing.T) {
	g := NewWithT(t)
	s := threeHosts(t)
	for n, cores := range []int64{32, 4, 8, 2, 16} { // two cores are a worker's
		if n == len(s.hosts) {
			s.hosts = append(s.hosts, newMachine(t, n))
		}
		s.hosts[n].inventory.CPU.Count = cores
	}
	for n, h := range s.hosts {
		h.connectivity = s.report(n)
	}
	p := s.play(t, testhub.Start(t, testhub.Options{}))
	var suggested []wire.HostRole
	for n := range p.hosts {
		h, _ := p.host(t, n)
		suggested = append(suggested, h.SuggestedRole)
	}
	g.Expect(suggested).To(Equal([]wire.HostRole{"worker", "master", "master", "worker", "master"}))
}
