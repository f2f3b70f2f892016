package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// login is what of pullSecret opens a registry.
const login = "dTpzZWNyZXQ="

// TestAgentsGetWhatTheirHostNeeds: of the files of their cluster, and of the live image.
func TestAgentsGetWhatTheirHostNeeds(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t), API: func(o *rest.Options) { o.LiveFiles = live{} }})
	p, agents := twoRacks(t, hub)
	var hosts wire.HostList
	code, raw := p.user.Do(t, "GET", "/clusters/"+p.cluster+"/hosts", nil, &hosts)
	g.Expect(code).To(Equal(200), raw)
	files := "/clusters/" + p.cluster + "/downloads/files?file_name="
	for n, agent := range agents {
		host := hosts[slices.IndexFunc(hosts, func(h wire.Host) bool { return h.ID == p.hosts[n].HostID })]
		for file, others := range map[string]bool{
			"install-config.yaml": false, "bootstrap.ign": false, "kubeconfig-noingress": false, "kubeconfig": false, "custom_manifests.yaml": false,
			"worker.ign": false, "master.ign": true, "metadata.json": true,
		} {
			code, raw := agent.Do(t, "GET", files+file, nil, nil)
			if file == "install-config.yaml" || !host.Bootstrap && !others {
				g.Expect(code).To(Equal(403), "%s for host %d: %s", file, n, raw)
				g.Expect(raw).To(ContainSubstring("file " + file + " is not handed out to this agent: it "))
			} else {
				g.Expect(code).NotTo(Equal(403), "%s for host %d, bootstrap %t: %s", file, n, host.Bootstrap, raw)
			}
			g.Expect(raw).NotTo(ContainSubstring(login))
		}
		image := "/infra-envs/" + p.hosts[n].InfraEnvID + "/downloads/files?file_name=discovery.ign"
		code, raw := agent.Do(t, "GET", image, nil, nil)
		g.Expect(code).To(Equal(403), raw)
	}
	token, err := hub.AgentToken(t.Context(), p.hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	code, raw = hub.Agent(token).Do(t, "GET", "/infra-envs/"+p.hosts[0].InfraEnvID+"/downloads/files?file_name=discovery.ign", nil, nil)
	g.Expect(code).To(Equal(200), "whoever has the image has what is in it: %s", raw)
	code, raw = p.user.Do(t, "GET", files+"install-config.yaml", nil, nil)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(raw).To(ContainSubstring(login))
}

// TestAgentsThatCannotBeToldApart: existing agents have the token of their infra-env alone. They
// get what the bootstrap host needs, and the install-config no more than others.
func TestAgentsThatCannotBeToldApart(t *testing.T) {
	f := newFixture(t)
	for file, want := range map[string]int{"install-config.yaml": 403, "master.ign": 200, "kubeconfig-noingress": 409, "bootstrap.ign": 200} {
		code, raw := f.agent.Do(t, "GET", "/clusters/"+f.cluster+"/downloads/files?file_name="+file, nil, nil)
		NewWithT(t).Expect(code).To(Equal(want), "%s: %s", file, raw)
	}
}

// TestPullSecretsAreInNoAnswer of the records that users read.
func TestPullSecretsAreInNoAnswer(t *testing.T) {
	c := newClient(t, testhub.Start(t, testhub.Options{}).User())
	const secret = `"pull_secret":"{\"auths\":{\"registry.example\":{\"auth\":\"dTpzZWNyZXQ=\"}}}"`
	cluster := c.read("POST", "/clusters", `{"name":"edge","openshift_version":"4.20.1",`+secret+`}`, 201)
	env := c.read("POST", "/infra-envs", `{"name":"pool",`+secret+`}`, 201)
	paths := []string{"/clusters", "/clusters/" + cluster["id"].(string), "/infra-envs", "/infra-envs/" + env["id"].(string), "/events?cluster_id=" + cluster["id"].(string)}
	for _, path := range paths {
		c.Expect(c.do("GET", path, "", 200)).NotTo(ContainSubstring(login), path)
	}
	for _, path := range []string{paths[1], paths[3]} {
		c.Expect(c.do("PATCH", path, `{`+secret+`}`, 201)).NotTo(ContainSubstring(login), path)
		c.Expect(c.read("GET", path, "", 200)).To(HaveKeyWithValue("pull_secret_set", true), path)
	}
	c.Expect(c.do("PATCH", paths[1], `{"pull_secret":"{\"auths\":{\"registry.example\":{\"auth\":\"hunter2!\"}}}"}`, 400)).NotTo(ContainSubstring("hunter2"))
}

// TestLogsOfAClusterAreOfItsBootstrapHost: another host of it cannot put its own in their place.
func TestLogsOfAClusterAreOfItsBootstrapHost(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{Timers: service.Timers{Monitor: 10 * time.Millisecond}})
	p, agents := twoRacks(t, hub)
	for n := range p.hosts {
		h, _ := p.host(t, n)
		want := http.StatusForbidden
		if h.Bootstrap {
			want = http.StatusNoContent
		}
		code, raw := agents[n].Send(t, http.MethodPost, "/clusters/"+p.cluster+"/logs?logs_type=controller", "multipart/form-data; boundary=x",
			strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"upfile\"; filename=\"a\"\r\n\r\njournal\r\n--x--\r\n"), nil)
		g.Expect(code).To(Equal(want), "host %d: %s", n, raw)
	}
}
