package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestAHostThatJoinsARelease: the server that has the configurations of a cluster's hosts shows a certificate of the
// cluster's own authority, under its own name. The installation's files have both, so that a host which is added later
// can ask it, and boots, though nobody has told the hub of a server.
func TestAHostThatJoinsARelease(t *testing.T) {
	g := NewWithT(t)
	hub := withInstaller(t, operators.Table{})
	p := threeHosts(t).ofInstaller().done().play(t, hub)
	user, cluster := newClient(t, hub.User()), "/clusters/"+p.cluster
	p.installRelease(t, hub)
	user.do("POST", cluster+"/actions/allow-add-hosts", "", 202)

	var env wire.InfraEnv
	g.Expect(json.Unmarshal([]byte(user.do("POST", "/infra-envs", `{"name":"later","cluster_id":"`+p.cluster+`","pull_secret":"{\"auths\":{}}"}`, 201)), &env)).To(Succeed())
	later := joining(t).hosts[0]
	later.key.InfraEnvID = env.ID
	token, err := hub.AgentToken(t.Context(), env.ID)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	agent.Register(t, later.key)
	later.tell(t, agent)

	asked := func() (request wire.APIVIPConnectivityRequest) {
		g.Expect(json.Unmarshal([]byte(argument(t, agent, later.key, wire.StepTypeAPIVIPConnectivityCheck)), &request)).To(Succeed())
		return request
	}
	g.Expect(asked().URL).To(Equal("https://api-int.edge.example:22623/config/worker"), "the name that its certificate is for")
	g.Expect(wire.Value(asked().CaCertificate)).NotTo(BeEmpty(), "the authority that the certificate is of")

	// What people say comes first, as long as they say it.
	user.do("PATCH", cluster, `{"api_vip_dns_name":"192.0.2.100"}`, 201)
	g.Expect(asked().URL).To(Equal("https://192.0.2.100:22623/config/worker"))
	g.Expect(wire.Value(asked().CaCertificate)).NotTo(BeEmpty())
	user.do("PATCH", cluster, `{"ignition_endpoint":{"url":"http://ign.example/config"}}`, 201)
	g.Expect(asked()).To(Equal(wire.APIVIPConnectivityRequest{URL: "http://ign.example/config/worker"}))
	user.do("PATCH", cluster, `{"ignition_endpoint":{"url":"","ca_certificate":""},"api_vip_dns_name":"api.edge.example"}`, 201)
	authority := wire.Value(asked().CaCertificate)

	at := "/infra-envs/" + env.ID + "/hosts/" + later.key.HostID
	user.do("POST", at+"/actions/install", "", 202)
	ignition := user.do("GET", strings.Replace(at, "/infra-envs/", "/infra-env/", 1)+"/downloads/ignition", "", 200)
	g.Expect(ignition).To(And(ContainSubstring(`"source":"https://api-int.edge.example:22623/config/worker"`),
		ContainSubstring(`"certificateAuthorities":[{"source":"data:text/plain;charset=utf-8;base64,`+authority+`"`)))
}

// installRelease plays all that comes after the order to install: the agents, and the program inside.
func (p *played) installRelease(t *testing.T, hub *testhub.Hub) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(p.order(t).Reason).To(BeEmpty())
	var c wire.Cluster
	status := func() string { c, _ = p.readCluster(t); return c.Status }
	g.Eventually(status, "30s", "20ms").Should(Equal(wire.ClusterStatusInstalling), c.StatusInfo)
	for n := range p.hosts {
		p.reports(t, hub, n, wire.HostStageInstalling, wire.HostStageRebooting, wire.HostStageDone)
	}
	inside, cluster := newClient(t, p.agent(t, hub, 0)), "/clusters/"+p.cluster
	inside.do("POST", cluster+"/uploads/ingress-cert", `"`+strings.ReplaceAll(certificate, "\n", "\\n")+`"`, 201)
	for _, name := range []string{"console", "cvo"} {
		inside.do("PUT", cluster+"/monitored-operators", `{"name":"`+name+`","status":"available"}`, 200)
	}
	g.Expect(status()).To(Equal(wire.ClusterStatusInstalled), c.StatusInfo)
}
