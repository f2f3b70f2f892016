package rest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// program is what the first host of a cluster is given to put into it; empty for nothing.
func program(files map[string]string) string {
	for path, content := range files {
		if strings.HasPrefix(path, ofKubernetes+"manifests/") && strings.HasSuffix(path, "-"+inside.Manifest) {
			return content
		}
	}
	return ""
}

var clusterToken = regexp.MustCompile(`token: (ifc1\.[0-9a-f-]{36}\.[A-Za-z0-9_-]+)`)

// TestTheProgramInsideIsPutThereByTheHub: with a token that opens what it reports of its cluster, and nothing else.
func TestTheProgramInsideIsPutThereByTheHub(t *testing.T) {
	g := NewWithT(t)
	hub := withKubernetes(t)
	p := plainKubernetes(t, wire.KubernetesSettings{}).play(t, hub)
	p.start(t, hub)
	manifest := program(p.written(t, hub, 0))
	g.Expect(manifest).To(And(
		ContainSubstring("image: registry.example/ironflow-cluster:v1"), ContainSubstring("value: https://hub.example:8090"),
		ContainSubstring("value: "+p.cluster), ContainSubstring("kind: Deployment")), "it stays, for hosts that join later")
	found := clusterToken.FindStringSubmatch(manifest)
	g.Expect(found).NotTo(BeNil())
	own := hub.Agent(found[1])

	other := singleNode(t).withoutRelease().play(t, hub)
	foreign, err := hub.AgentToken(t.Context(), other.hosts[0].InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	at := func(p *played) string { return "/clusters/" + p.cluster }
	host := func(p *played) string { return "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts/" + p.hosts[0].HostID }
	p.reports(t, hub, 0, wire.HostStageInstalling, wire.HostStageRebooting)
	progress := wire.HostProgress{CurrentStage: wire.HostStageJoined}
	for name, tc := range map[string]struct {
		method, path string
		body         any
		want         int
	}{
		"the cluster":                {"GET", at(p), nil, 200},
		"its hosts":                  {"GET", at(p) + "/hosts?with-inventory=true", nil, 200},
		"a host's stage":             {"PUT", host(p) + "/progress", progress, 200},
		"its logs":                   {"PUT", at(p) + "/logs-progress", wire.LogsProgressParams{LogsState: wire.LogsStateCollecting}, 204},
		"another cluster":            {"GET", at(other), nil, 404},
		"another cluster's hosts":    {"GET", at(other) + "/hosts", nil, 404},
		"another cluster's host":     {"PUT", host(other) + "/progress", progress, 404},
		"another cluster's end":      {"POST", at(other) + "/actions/complete-installation", wire.CompletionParams{IsSuccess: true}, 404},
		"a host's Ignition":          {"GET", strings.Replace(host(p), "infra-envs", "infra-env", 1) + "/downloads/ignition", nil, 401},
		"the administrator's access": {"GET", at(p) + "/downloads/credentials?file_name=kubeconfig", nil, 401},
		"a user's operation":         {"POST", at(p) + "/actions/cancel", nil, 401},
		"a host's orders":            {"GET", host(p) + "/instructions", nil, 401},
		"a new host":                 {"POST", "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts", wire.HostCreateParams{HostID: uuid.NewString()}, 401},
		"the pool":                   {"GET", "/infra-envs/" + p.hosts[0].InfraEnvID, nil, 401},
		"an event":                   {"POST", "/events", wire.Event{Name: "x", Message: "x"}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			code, raw := own.Do(t, tc.method, tc.path, tc.body, nil)
			NewWithT(t).Expect(code).To(Equal(tc.want), raw)
		})
	}
	code, raw := hub.Agent(strings.Replace(found[1], p.cluster, other.cluster, 1)).Do(t, "GET", at(other), nil, nil)
	g.Expect(code).To(Equal(401), raw)
	code, raw = hub.Agent(foreign).Do(t, "GET", at(p), nil, nil)
	g.Expect(code).To(Equal(404), raw)

	code, raw = own.Do(t, "PUT", host(p)+"/progress", wire.HostProgress{CurrentStage: wire.HostStageDone}, nil)
	g.Expect(code).To(Equal(200), raw)
	code, raw = own.Do(t, "POST", at(p)+"/actions/complete-installation", wire.CompletionParams{IsSuccess: true}, nil)
	g.Expect(code).To(Equal(202), raw)
	p.comesTo(t, hub, wire.ClusterStatusInstalled)
	g.Expect(hub.Timeline(t)).NotTo(ContainSubstring(found[1]))
}

// TestAClusterWithNobodyInsideIsNotInstalled: its end would never be told, which is said before a disk is touched.
func TestAClusterWithNobodyInsideIsNotInstalled(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{
		Timers:  service.Timers{Monitor: soon.Monitor},
		Sources: map[sources.Name]sources.Source{sources.Kubernetes: kubernetes.Source{}},
	})
	p := plainKubernetes(t, wire.KubernetesSettings{}).play(t, hub)
	g.Expect(p.order(t).Reason).To(And(ContainSubstring("nobody inside the cluster"), ContainSubstring("--hub-cluster-image"), ContainSubstring("ironflow-cluster manifests --cluster-id "+p.cluster)))
	c, _ := p.readCluster(t)
	g.Expect(c.StatusInfo).To(ContainSubstring("--hub-cluster-image"))
	for _, step := range p.agentOf(t, hub, 0).Poll(t, p.hosts[0]).Instructions {
		g.Expect(step.StepType).NotTo(Equal(wire.StepTypeInstall))
	}

	own := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {CLUSTER_ID: " + p.cluster + "}\n"
	code, raw := p.user.Do(t, http.MethodPost, "/clusters/"+p.cluster+"/manifests", wire.CreateManifestParams{FileName: "mine.yaml", Content: encoded(own)}, nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	g.Expect(p.order(t).Reason).To(BeEmpty(), "a user's own program tells the end")
	g.Expect(program(p.written(t, hub, 0))).To(BeEmpty())
}
