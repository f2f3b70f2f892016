package rest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestManifestsOfAForeignNetworkCount: a cluster with Cilium becomes ready once its manifests are there.
func TestManifestsOfAForeignNetworkCount(t *testing.T) {
	for name, kind := range map[string]string{
		"Cilium": wire.ClusterNetworkTypeCilium, "Calico": wire.ClusterNetworkTypeCalico, "Cisco ACI": wire.ClusterNetworkTypeCiscoACI,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := threeHosts(t)
			s.cluster.NetworkType = &kind
			p := s.play(t, testhub.Start(t, testhub.Options{}))
			const id = "custom-manifests-requirements-satisfied"
			_, checks := p.readCluster(t)
			g.Expect(checks[id].Status).To(Equal("failure"), "nobody has added one yet")
			manifest := map[string]string{"folder": "manifests", "file_name": "network.yaml", "content": encoded("kind: Installation\n")}
			code, raw := p.user.Do(t, "POST", "/clusters/"+p.cluster+"/manifests", manifest, nil)
			g.Expect(code).To(Equal(201), raw)
			c, checks := p.readCluster(t)
			g.Expect(checks[id]).To(HaveField("Status", "success"))
			g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), c.StatusInfo)
		})
	}
}

const enoughMasters = "sufficient-masters-count"

// TestTwoMastersAloneAreNoQuorum: they are refused before anything is written, not afterwards.
func TestTwoMastersAloneAreNoQuorum(t *testing.T) {
	g := NewWithT(t)
	s := threeHosts(t)
	s.cluster.ControlPlaneCount = new(int64(2))
	s.hosts = s.hosts[:2]
	for i := range s.hosts {
		s.hosts[i].connectivity = s.report(i)
	}
	p := s.checked().play(t, testhub.Start(t, testhub.Options{}))
	c, checks := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusInsufficient))
	g.Expect(checks[enoughMasters]).To(HaveField("Message", ContainSubstring("have no quorum")))
	code, raw := p.user.Do(t, "POST", "/clusters/"+p.cluster+"/actions/install", nil, nil)
	g.Expect(code).To(Equal(409), raw)
}

// TestTwoMastersWithAnArbiter are a cluster, also one that a user of the REST API makes.
func TestTwoMastersWithAnArbiter(t *testing.T) {
	g := NewWithT(t)
	s := threeHosts(t).checked()
	s.cluster.ControlPlaneCount = new(int64(2))
	s.hosts[2].update = &wire.HostUpdateParams{HostRole: new("arbiter")}
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p := s.play(t, hub)
	c, checks := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusReady), "%s %v", c.StatusInfo, checks[enoughMasters])
	p.start(t, hub)
	c, _ = p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusInstalling), c.StatusInfo)
	for n := range p.hosts {
		p.reports(t, hub, n, wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone)
	}
	c, _ = p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusInstalled), c.StatusInfo)
}

// TestAnArbiterOfWhatHasNone is refused, when the host is bound and when it is in the pool before.
func TestAnArbiterOfWhatHasNone(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	user := newClient(t, hub.User())
	for name, tc := range map[string]struct{ cluster, want string }{
		"an older release":       {`"openshift_version":"4.18.3"`, "because of its openshiftVersion"},
		"another platform":       {`"openshift_version":"4.20.1","platform":{"type":"vsphere"}`, "because of its platform"},
		"a single node":          {`"openshift_version":"4.20.1","control_plane_count":1`, "is a single node"},
		"two hosts and another":  {`"openshift_version":"4.20.1","control_plane_count":2`, ""},
		"none that anybody says": {`"control_plane_count":3`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			user := newClient(t, user.caller)
			cluster := user.read("POST", "/clusters", `{"name":"edge","pull_secret":"{\"auths\":{}}",`+tc.cluster+`}`, 201)["id"].(string)
			env, agent := user.agentOf(hub, `,"cluster_id":"`+cluster+`"`)
			host := env + "/hosts/" + agent.read("POST", env+"/hosts", `{"host_id":"`+uuid.NewString()+`"}`, 201)["id"].(string)
			pool, agent := user.agentOf(hub, "")
			free := store.HostKey{InfraEnvID: strings.TrimPrefix(pool, "/infra-envs/"), HostID: uuid.NewString()}
			agent.caller.Register(t, free)
			for _, step := range agent.caller.Poll(t, free).Instructions {
				agent.caller.Answer(t, free, step, testhub.Inventory(1))
			}
			at := pool + "/hosts/" + free.HostID
			user.do("PATCH", at, `{"host_role":"arbiter"}`, 201)
			if tc.want == "" {
				user.do("PATCH", host, `{"host_role":"arbiter"}`, 201)
				user.do("POST", at+"/actions/bind", `{"cluster_id":"`+cluster+`"}`, 200)
				return
			}
			user.Expect(user.do("PATCH", host, `{"host_role":"arbiter"}`, 400)).To(ContainSubstring(tc.want))
			user.Expect(user.do("POST", at+"/actions/bind", `{"cluster_id":"`+cluster+`"}`, 400)).To(ContainSubstring(tc.want))
			user.do("PATCH", at, `{"host_role":"worker"}`, 201)
			user.do("POST", at+"/actions/bind", `{"cluster_id":"`+cluster+`"}`, 200)
		})
	}
}

// TestRolesThatCannotBeInstalledAreSaid, also of a cluster without a release.
func TestRolesThatCannotBeInstalledAreSaid(t *testing.T) {
	g := NewWithT(t)
	s := threeHosts(t).checked()
	s.cluster.OpenshiftVersion, s.cluster.OcpReleaseImage = "", ""
	for _, h := range s.hosts {
		h.update = &wire.HostUpdateParams{HostRole: new("worker")}
	}
	p := s.play(t, testhub.Start(t, testhub.Options{}))
	c, checks := p.readCluster(t)
	g.Expect(c.Status).To(Equal(wire.ClusterStatusInsufficient))
	g.Expect(checks[enoughMasters]).To(HaveField("Message", ContainSubstring("0 hosts are masters, 3 are needed")))
}
