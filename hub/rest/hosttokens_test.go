package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

func (f *fixture) ignition() string {
	return "/infra-env/" + f.env + "/hosts/" + f.host.HostID + "/downloads/ignition"
}

// TestAHostSpeaksForItselfOnly: another machine of the infra-env, with the token that all of
// them have, says that it is the one that is being installed.
func TestAHostSpeaksForItselfOnly(t *testing.T) {
	for name, exchanged := range map[string]bool{"an agent of any kind": false, "an agent that takes a token of its own": true} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := installing(t, func(f *fixture) *testhub.Caller {
				if exchanged {
					return f.Agent(f.token).Exchange(t, f.host)
				}
				f.Agent(f.token).Register(t, f.host)
				return f.Agent(f.token)
			})
			code, raw := f.Agent(f.token).Do(t, "POST", "/infra-envs/"+f.env+"/hosts", wire.HostCreateParams{HostID: f.host.HostID, DiscoveryAgentVersion: "agent:other"}, nil)
			g.Expect(code).To(Equal(503), raw)
			g.Expect(raw).To(ContainSubstring("does not prove to be that machine"))
			view, _, err := f.View(t.Context(), f.host)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(view.Status).To(Equal(wire.HostStatusInstallingInProgress))
			g.Expect(f.Timeline(t)).To(ContainSubstring("does not prove to be that machine"))
			code, raw = f.Agent(f.token).Do(t, "GET", f.ignition(), nil, nil)
			if exchanged {
				g.Expect(code).To(Equal(404), "its Ignition is for the host alone: %s", raw)
			}
		})
	}
}

// TestTheTokenOfAnInfraEnvOnlyRegisters: once a host has a token of its own, the one that
// all hosts of the infra-env have opens nothing of it.
func TestTheTokenOfAnInfraEnvOnlyRegisters(t *testing.T) {
	g := NewWithT(t)
	f := installing(t, func(f *fixture) *testhub.Caller { return f.Agent(f.token).Exchange(t, f.host) })
	host := "/infra-envs/" + f.env + "/hosts/" + f.host.HostID
	another := store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	for what, other := range map[string]*testhub.Caller{
		"the infra-env's": f.Agent(f.token), "another host's": f.Agent(f.token).Exchange(t, another),
	} {
		for _, call := range [][2]string{
			{"GET", host + "/instructions"},
			{"POST", host + "/instructions"},
			{"PUT", host + "/progress"},
			{"PUT", host + "/logs-progress"},
			{"GET", f.ignition()},
			{"GET", "/clusters/" + f.cluster},
			{"GET", "/clusters/" + f.cluster + "/hosts"},
			{"GET", "/clusters/" + f.cluster + "/downloads/files?file_name=bootstrap.ign"},
			{"GET", "/clusters/" + f.cluster + "/downloads/credentials?file_name=kubeconfig"},
			{"POST", "/clusters/" + f.cluster + "/logs?logs_type=host&infra_env_id=" + f.env + "&host_id=" + f.host.HostID},
		} {
			code, raw := other.Do(t, call[0], call[1], map[string]string{}, nil)
			g.Expect(code).To(Equal(404), "%s %s by %s: %s", call[0], call[1], what, raw)
		}
		event := map[string]any{"name": "x", "severity": "critical", "category": "user", "host_id": f.host.HostID, "message": "this is not true", "event_time": "2026-01-01T00:00:00.000Z"}
		code, raw := other.Do(t, "POST", "/events", event, nil)
		g.Expect(code).To(Equal(404), raw)
		code, raw = other.Do(t, "GET", "/infra-envs/"+f.env+"/hosts", nil, nil)
		g.Expect(code).To(Equal(200))
		g.Expect(raw).NotTo(ContainSubstring(f.host.HostID), "hosts are told of to themselves")
	}
	own := f.agent
	for _, path := range []string{host + "/instructions", f.ignition(), "/clusters/" + f.cluster, "/clusters/" + f.cluster + "/hosts"} {
		code, raw := own.Do(t, "GET", path, nil, nil)
		g.Expect(code).To(Equal(200), "%s: %s", path, raw)
	}
	var listed []wire.Host
	code, raw := own.Do(t, "GET", "/infra-envs/"+f.env+"/hosts", nil, &listed)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(listed).To(ConsistOf(HaveField("ID", f.host.HostID)), "of all hosts that installs here, only itself")
}

// TestAHostThatRestartsProvesToBeIt: the token of its own is what proves it, and it stays.
func TestAHostThatRestartsProvesToBeIt(t *testing.T) {
	g := NewWithT(t)
	f := installing(t, func(f *fixture) *testhub.Caller { return f.Agent(f.token).Exchange(t, f.host) })
	f.agent.Exchange(t, f.host)
	view, _, err := f.View(t.Context(), f.host)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(view.Status).To(Equal(wire.HostStatusError), "the host did restart in the middle of it")
	code, raw := f.agent.Do(t, "POST", "/infra-envs/"+f.env+"/hosts", wire.HostCreateParams{HostID: uuid.NewString(), DiscoveryAgentVersion: "agent:1"}, nil)
	g.Expect(code).To(Equal(401), "it registers no other host: %s", raw)
}

// TestTheImageOfAMachineIsOneHosts: it is bound to the first host that registers from it.
func TestTheImageOfAMachineIsOneHosts(t *testing.T) {
	g := NewWithT(t)
	f := &fixture{Hub: testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})}
	f.env, f.token = f.InfraEnv(t, "pool")
	f.host = store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	token := func(mac string) *testhub.Caller {
		text, err := f.MachineToken(t.Context(), f.env, mac)
		g.Expect(err).NotTo(HaveOccurred())
		return f.Agent(text)
	}
	mac := testhub.Inventory(7).Interfaces[0].MACAddress
	own, other := token(mac), token("02:00:00:00:00:ff")
	register := func(by *testhub.Caller, host string) (int, string) {
		return by.Do(t, "POST", "/infra-envs/"+f.env+"/hosts", wire.HostCreateParams{HostID: host, DiscoveryAgentVersion: "agent:1"}, nil)
	}
	own.Register(t, f.host)
	code, raw := register(own, uuid.NewString())
	g.Expect(code).To(Equal(503), raw)
	g.Expect(raw).To(ContainSubstring("the image of machine " + mac + " belongs to host " + f.host.HostID))
	code, raw = register(f.Agent(f.token), f.host.HostID)
	g.Expect(code).To(Equal(503), raw)
	g.Expect(raw).To(ContainSubstring("boot it from that image"))
	own.UntilInstall(t, f.host, testhub.Inventory(7))
	code, raw = register(other, f.host.HostID)
	g.Expect(code).To(Equal(503), raw)
	g.Expect(f.Timeline(t)).To(And(ContainSubstring("two machines have the same id"), ContainSubstring("02:00:00:00:00:ff")))
	for _, path := range []string{"/infra-envs/" + f.env + "/hosts/" + f.host.HostID + "/instructions", f.ignition()} {
		code, raw = other.Do(t, "GET", path, nil, nil)
		g.Expect(code).To(Equal(404), raw)
		code, raw = own.Do(t, "GET", path, nil, nil)
		g.Expect(code).To(Equal(200), raw)
	}
	code, raw = f.User().Do(t, "DELETE", "/infra-envs/"+f.env+"/hosts/"+f.host.HostID, nil, nil)
	g.Expect(code).To(Equal(204), raw)
	code, raw = register(own, uuid.NewString())
	g.Expect(code).To(Equal(201), "whoever removes the host gives its image away: %s", raw)
}

// TestHostsOfTwoInfraEnvsInOneCluster: the program inside a cluster has the cluster's token
// and reports the stages of all hosts. The bootstrap host's own, which installers of the
// existing kind hand on to theirs, is good for the hosts of its infra-env; that of another
// host is not.
func TestHostsOfTwoInfraEnvsInOneCluster(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p, agents := twoRacks(t, hub)
	inside, err := clusterCaller(hub, p.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	report := func(by *testhub.Caller, n int, stage wire.HostStage) int {
		code, _ := by.Do(t, "PUT", "/infra-envs/"+p.hosts[n].InfraEnvID+"/hosts/"+p.hosts[n].HostID+"/progress", wire.HostProgress{CurrentStage: stage}, nil)
		return code
	}
	first := -1
	for n := range p.hosts {
		if h, _ := p.host(t, n); h.Bootstrap {
			first = n
		}
		g.Expect(report(inside, n, wire.HostStageConfiguring)).To(Equal(200), "host %d", n)
	}
	for by := range p.hosts {
		for n := range p.hosts {
			want := 404
			if by == n || by == first && p.hosts[n].InfraEnvID == p.hosts[by].InfraEnvID {
				want = 200
			}
			g.Expect(report(agents[by], n, wire.HostStageJoined)).To(Equal(want), "host %d by host %d; %d is the bootstrap host", n, by, first)
		}
		code, _ := agents[by].Do(t, "GET", "/clusters/"+p.cluster+"/monitored-operators", nil, nil)
		want := 403
		if by == first {
			want = 200
		}
		g.Expect(code).To(Equal(want))
	}
}

// twoRacks is a cluster that is installed to hosts of two infra-envs, up to their reboot,
// with their agents.
func twoRacks(t *testing.T, hub *testhub.Hub) (*played, []*testhub.Caller) {
	t.Helper()
	g := NewWithT(t)
	s := threeHosts(t).checked().withoutRelease()
	p := &played{user: hub.User()}
	var cluster wire.Cluster
	code, raw := p.user.Do(t, "POST", "/clusters", s.cluster, &cluster)
	g.Expect(code).To(Equal(201), raw)
	p.cluster = cluster.ID
	var agents []*testhub.Caller
	var env wire.InfraEnv
	for n, h := range s.hosts {
		if n != 1 { // the second is in the rack of the first
			code, raw := p.user.Do(t, "POST", "/infra-envs", wire.InfraEnvCreateParams{Name: fmt.Sprintf("rack-%d", n), PullSecret: pullSecret, ClusterID: &cluster.ID}, &env)
			g.Expect(code).To(Equal(201), raw)
		}
		token, err := hub.AgentToken(t.Context(), env.ID)
		g.Expect(err).NotTo(HaveOccurred())
		h.key.InfraEnvID = env.ID
		p.hosts, agents = append(p.hosts, h.key), append(agents, hub.Agent(token).Exchange(t, h.key))
	}
	for n, h := range s.hosts {
		h.tell(t, agents[n])
	}
	p.start(t, hub)
	for n, key := range p.hosts {
		for _, stage := range []wire.HostStage{wire.HostStageInstalling, wire.HostStageRebooting} {
			agents[n].Progress(t, key, stage, "")
		}
	}
	return p, agents
}

// clusterCaller is the program inside the cluster.
func clusterCaller(hub *testhub.Hub, cluster string) (*testhub.Caller, error) {
	generation, err := hub.TokenGeneration(context.Background(), cluster)
	if err != nil {
		return nil, err
	}
	token, err := hub.Key.ClusterToken(auth.ClusterClaims{ClusterID: cluster, Generation: generation})
	return hub.Agent(token), err
}

// TestOneID: two machines with one id replace each other's inventory: both are named, and
// neither is installed.
func TestOneID(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "edge")
	agent := hub.Agent(token)
	key := store.HostKey{InfraEnvID: env, HostID: "00000000-0000-4000-8000-000000000001"}
	agent.Register(t, key)
	for range 3 {
		for n := range 2 {
			text, err := json.Marshal(testhub.Inventory(n + 1))
			g.Expect(err).NotTo(HaveOccurred())
			agent.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1", Output: string(text)})
		}
	}
	expectTwins(t, hub, key, ContainSubstring("02:00:00:00:00:01"), ContainSubstring("02:00:00:00:00:02"))
}

// TestTwoAgentsWithOneID: agents with tokens of their own cannot both speak for the host; the
// one that is turned out goes on asking, which gives them away.
func TestTwoAgentsWithOneID(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "edge")
	key := store.HostKey{InfraEnvID: env, HostID: "00000000-0000-4000-8000-000000000001"}
	one := hub.Agent(token).Exchange(t, key)
	two := hub.Agent(token).Exchange(t, key)
	text, err := json.Marshal(testhub.Inventory(2))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	two.Reply(t, key, wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1", Output: string(text)})
	code, raw := one.Do(t, http.MethodGet, "/infra-envs/"+env+"/hosts/"+key.HostID+"/instructions", nil, nil)
	NewWithT(t).Expect(code).To(Equal(404), raw)
	expectTwins(t, hub, key, ContainSubstring("another machine"))
}

// expectTwins: it is said once, and the host is not installed for it.
func expectTwins(t *testing.T, hub *testhub.Hub, key store.HostKey, said ...any) {
	t.Helper()
	g := NewWithT(t)
	events, _, err := hub.Events(t.Context(), store.EventFilter{})
	g.Expect(err).NotTo(HaveOccurred())
	var found []string
	for _, e := range events {
		if e.Name == "host_id_not_unique" {
			found = append(found, e.Message)
		}
	}
	g.Expect(found).To(HaveLen(1), hub.Timeline(t))
	for _, matcher := range said {
		g.Expect(found).To(ContainElement(matcher))
	}
	var host wire.Host
	code, raw := hub.User().Do(t, "GET", "/infra-envs/"+key.InfraEnvID+"/hosts/"+key.HostID, nil, &host)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(host.Status).To(Equal(wire.HostStatusInsufficient))
	g.Expect(host.ValidationsInfo).To(ContainSubstring("Two machines have the same id"))
}

// TestAHostWhoseIDIsInCapitals is the host of the same id: its agent, and whoever asks for it, finds it again. Other forms of it are
// no hosts of their own.
func TestAHostWhoseIDIsInCapitals(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	env, token := hub.InfraEnv(t, "edge")
	agent := hub.Agent(token)
	key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	agent.Register(t, store.HostKey{InfraEnvID: env, HostID: strings.ToUpper(key.HostID)})
	agent.Poll(t, key)
	agent.Register(t, key)
	for _, form := range []string{"{" + key.HostID + "}", "urn:uuid:" + key.HostID, strings.ReplaceAll(key.HostID, "-", "")} {
		code, raw := agent.Do(t, http.MethodPost, "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: form, DiscoveryAgentVersion: "agent:1"}, nil)
		g.Expect(code).To(Equal(http.StatusBadRequest), raw)
	}
	var hosts wire.HostList
	code, raw := hub.User().Do(t, http.MethodGet, "/infra-envs/"+env+"/hosts", nil, &hosts)
	g.Expect(code).To(Equal(http.StatusOK), raw)
	g.Expect(hosts).To(ConsistOf(HaveField("ID", key.HostID)))
}
