package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
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
		"the cluster":                             {"GET", at(p), nil, 200},
		"its hosts":                               {"GET", at(p) + "/hosts?with-inventory=true", nil, 200},
		"a host's stage":                          {"PUT", host(p) + "/progress", progress, 200},
		"its logs":                                {"PUT", at(p) + "/logs-progress", wire.LogsProgressParams{LogsState: wire.LogsStateCollecting}, 204},
		"another cluster":                         {"GET", at(other), nil, 404},
		"another cluster's hosts":                 {"GET", at(other) + "/hosts", nil, 404},
		"another cluster's host":                  {"PUT", host(other) + "/progress", progress, 404},
		"another cluster's end":                   {"POST", at(other) + "/actions/complete-installation", wire.CompletionParams{IsSuccess: true}, 404},
		"a host's Ignition":                       {"GET", strings.Replace(host(p), "infra-envs", "infra-env", 1) + "/downloads/ignition", nil, 401},
		"the administrator's access":              {"GET", at(p) + "/downloads/credentials?file_name=kubeconfig", nil, 401},
		"a user's operation":                      {"POST", at(p) + "/actions/cancel", nil, 401},
		"a host's orders":                         {"GET", host(p) + "/instructions", nil, 401},
		"a new host":                              {"POST", "/infra-envs/" + p.hosts[0].InfraEnvID + "/hosts", wire.HostCreateParams{HostID: uuid.NewString()}, 401},
		"the pool":                                {"GET", "/infra-envs/" + p.hosts[0].InfraEnvID, nil, 401},
		"an event":                                {"POST", "/events", wire.Event{Name: "x", Message: "x"}, 403},
		"a signing request":                       {"POST", "/events", signed(p, "csr-1", time.Now()), 201},
		"another cluster's signing":               {"POST", "/events", signed(other, "csr-1", time.Now()), 404},
		"a signing request of nobody":             {"POST", "/events", wire.Event{Name: wire.EventSigningApproved, Message: "x"}, 400},
		"a signing request without a name":        {"POST", "/events", signed(p, "", time.Now()), 400},
		"a signing request with a name of a mile": {"POST", "/events", signed(p, strings.Repeat("x", 254), time.Now()), 400},
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

// signed is the event of an approved signing request of the first host.
func signed(p *played, request string, at time.Time) wire.Event {
	props, err := json.Marshal(wire.SigningProps{Request: request, Type: wire.SigningTypeServing, At: wire.At(at)})
	if err != nil {
		panic(err)
	}
	return wire.Event{
		Name: wire.EventSigningApproved, Message: "x", Severity: wire.EventSeverityInfo, EventTime: wire.At(at), Props: string(props),
		InfraEnvID: &p.hosts[0].InfraEnvID, HostID: &p.hosts[0].HostID,
	}
}

// TestTheProgramTellsOfSigningRequests, which stay with the host as long as its installation does: the newest of
// them, at no time that is still to come, and each once.
func TestTheProgramTellsOfSigningRequests(t *testing.T) {
	g := NewWithT(t)
	hub := withKubernetes(t)
	p := plainKubernetes(t, wire.KubernetesSettings{}).play(t, hub)
	p.start(t, hub)
	own := hub.Agent(clusterToken.FindStringSubmatch(program(p.written(t, hub, 0)))[1])
	tells := func(e wire.Event) {
		t.Helper()
		code, raw := own.Do(t, "POST", "/events", e, nil)
		g.Expect(code).To(Equal(201), raw)
	}
	began := time.Now().Add(-time.Hour).UTC().Truncate(time.Millisecond)
	for n := range 12 {
		tells(signed(p, fmt.Sprintf("csr-%02d", n), began.Add(time.Duration(n)*time.Minute)))
	}
	tells(signed(p, "csr-11", began)) // again
	tells(signed(p, "csr-12", time.Now().Add(24*time.Hour)))
	view, _, err := hub.View(t.Context(), p.hosts[0])
	g.Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, s := range view.Signing.Approved {
		names = append(names, s.Name)
		g.Expect(s.At).To(BeTemporally("<=", time.Now()))
	}
	g.Expect(names).To(HaveExactElements("csr-03", "csr-04", "csr-05", "csr-06", "csr-07", "csr-08", "csr-09", "csr-10", "csr-11", "csr-12"))
	g.Expect(view.Signing.Approved[8].At).To(Equal(began.Add(11 * time.Minute)))
	g.Expect(told(t, hub.User(), "host_signing_request_approved")).To(HaveLen(13), "each once")

	failed := signed(p, "csr-13", time.Now())
	failed.Name, failed.Props = wire.EventSigningFailed, `{"request":"csr-13","type":"client","at":"2999-01-01T00:00:00.000Z","error":"the server is on fire"}`
	tells(failed)
	after, _, err := hub.View(t.Context(), p.hosts[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(after.Signing.Approved).To(Equal(view.Signing.Approved))
	g.Expect(after.Signing.Attempted).To(And(BeTemporally(">=", view.Signing.Attempted), BeTemporally("<=", time.Now())))
	g.Expect(aboutIt(t, hub.User(), "host_signing_request_failed")).To(HaveKeyWithValue("error", "the server is on fire"))

	code, raw := p.user.Do(t, "POST", "/clusters/"+p.cluster+"/actions/cancel", nil, nil)
	g.Expect(code).To(Equal(202), raw)
	code, raw = p.user.Do(t, "POST", "/clusters/"+p.cluster+"/actions/reset", nil, nil)
	g.Expect(code).To(Equal(202), raw)
	after, _, err = hub.View(t.Context(), p.hosts[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(after.Signing).To(BeZero(), "they are of an installation that is no more")
}

// TestTheTokenOfAClusterIsRevokedAlone: the program inside is refused until it has the next one; all others go on.
func TestTheTokenOfAClusterIsRevokedAlone(t *testing.T) {
	for name, change := range map[string]func(*testhub.Options){
		"the hub's own tokens": func(*testhub.Options) {},
		"tokens of a key pair": func(o *testhub.Options) { o.Pair = newSigner(t).pair(t) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFixture(t, change)
			other := singleNode(t).withoutRelease().play(t, f.Hub)
			own, err := clusterCaller(f.Hub, f.cluster)
			g.Expect(err).NotTo(HaveOccurred())
			others, err := clusterCaller(f.Hub, other.cluster)
			g.Expect(err).NotTo(HaveOccurred())
			reads := func(c *testhub.Caller, cluster string, want int) {
				t.Helper()
				code, raw := c.Do(t, "GET", "/clusters/"+cluster, nil, nil)
				g.Expect(code).To(Equal(want), raw)
			}
			reads(own, f.cluster, 200)
			revoke := "/clusters/" + f.cluster + "?revoke_token=true"
			code, raw := f.User().Do(t, "PATCH", revoke, map[string]any{"name": "other"}, nil)
			g.Expect(code).To(Equal(400), raw)
			reads(own, f.cluster, 200)
			var answer wire.Cluster
			code, raw = f.User().Do(t, "PATCH", revoke, map[string]any{}, &answer)
			g.Expect(code).To(Equal(201), raw)
			g.Expect(answer.ID).To(Equal(f.cluster), "whatever its status")
			reads(own, f.cluster, 401)
			reads(others, other.cluster, 200)
			f.agent.Poll(t, f.host)

			said := aboutIt(t, f.User(), "cluster_token_revoked")
			generation, is := said["generation"].(float64)
			g.Expect(is).To(BeTrue(), said)
			fresh, err := f.Key.ClusterToken(auth.ClusterClaims{ClusterID: f.cluster, Generation: int64(generation)})
			g.Expect(err).NotTo(HaveOccurred())
			reads(f.Agent(fresh), f.cluster, 200)
			_, err = f.RevokeClusterToken(t.Context(), f.cluster)
			g.Expect(err).NotTo(HaveOccurred())
			reads(f.Agent(fresh), f.cluster, 401)
			reads(own, f.cluster, 401)
		})
	}
}

// TestARevokedTokenOfAClusterStaysRevoked where the hub has lost its records: its object has the word by which it was
// revoked, and the same generation follows from that.
func TestARevokedTokenOfAClusterStaysRevoked(t *testing.T) {
	g := NewWithT(t)
	spec := service.ClusterSpec{ID: uuid.NewString(), Name: "edge", Masters: 1}
	generation := func(revoke string, before ...string) int64 {
		hub := testhub.Start(t, testhub.Options{})
		for _, word := range append(before, revoke) {
			spec.Revoke = word
			for range 2 { // once for each other word
				_, err := hub.EnsureCluster(t.Context(), spec)
				g.Expect(err).NotTo(HaveOccurred())
			}
		}
		out, err := hub.TokenGeneration(t.Context(), spec.ID)
		g.Expect(err).NotTo(HaveOccurred())
		return out
	}
	const first, second = "2026-03-01T12:00:00.5Z", "2026-03-02T12:00:00Z"
	g.Expect(generation("")).To(BeEquivalentTo(1))
	g.Expect(generation(first)).To(Equal(auth.GenerationOf(first)))
	g.Expect(generation(second, "", first)).To(Equal(generation(second)), "what was lost in between changes nothing")
	g.Expect(generation("stolen", first)).To(Equal(auth.GenerationOf(first)+1), "it never goes back")
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
