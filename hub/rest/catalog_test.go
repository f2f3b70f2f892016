package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// offered is a file of releases as a person writes it.
const offered = `
release_images:
- {openshift_version: "4.20", version: 4.20.9, cpu_architecture: x86_64, url: "registry.example/release:4.20.9"}
- {openshift_version: "4.20", version: 4.20.10, cpu_architecture: x86_64, url: "registry.example/release:4.20.10", default: true, support_level: maintenance}
release_sources:
- {openshift_version: "4.20", multi_cpu_architectures: [], upgrade_channels: [{cpu_architecture: x86_64, channels: [stable, eus]}]}
`

func TestWhatTheHubOffers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "releases.yaml")
	NewWithT(t).Expect(os.WriteFile(file, []byte(offered), 0o600)).To(Succeed())
	hub := testhub.Start(t, testhub.Options{API: func(o *rest.Options) { o.Releases = &releases.File{Path: file} }})
	for name, tc := range map[string]struct {
		path string
		code int
		want types.GomegaMatcher
	}{
		"releases": {"/openshift-versions", 200, And(HaveKeyWithValue("4.20.10", And(
			HaveKeyWithValue("default", true), HaveKeyWithValue("support_level", "maintenance"), HaveKeyWithValue("cpu_architectures", ConsistOf("x86_64")))),
			HaveKeyWithValue("4.20.9", HaveKeyWithValue("support_level", "production")))},
		"newest releases":        {"/openshift-versions?only_latest", 200, And(HaveLen(1), HaveKey("4.20.10"))},
		"releases that begin so": {"/openshift-versions?version=4.20.9", 200, And(HaveLen(1), HaveKey("4.20.9"))},
		"odd flag":               {"/openshift-versions?only_latest=perhaps", 400, HaveKeyWithValue("reason", ContainSubstring("only_latest"))},
		"sources":                {"/release-sources", 200, ConsistOf(HaveKeyWithValue("openshift_version", "4.20"))},
		"architectures":          {"/support-levels/architectures?openshift_version=4.12", 200, HaveKeyWithValue("architectures", HaveKeyWithValue("S390X_ARCHITECTURE", "tech-preview"))},
		"architectures of what":  {"/support-levels/architectures", 400, HaveKeyWithValue("reason", ContainSubstring("openshift_version"))},
		"features": {
			"/support-levels/features?openshift_version=4.20&cpu_architecture=arm64", 200,
			HaveKeyWithValue("features", And(HaveKeyWithValue("SNO", "supported"), HaveKeyWithValue("NUTANIX_INTEGRATION", "unavailable"), HaveKeyWithValue("ODF", "unavailable"))),
		},
		"features of a platform": {
			"/support-levels/features?openshift_version=4.20&platform_type=vsphere", 200,
			HaveKeyWithValue("features", And(HaveKeyWithValue("SNO", "unavailable"), Not(HaveKey("BAREMETAL_PLATFORM")))),
		},
		"features of no platform": {"/support-levels/features?openshift_version=4.20&platform_type=moon", 400, HaveKeyWithValue("message", ContainSubstring("platform_type"))},
		"features in detail": {"/support-levels/features/detailed?openshift_version=4.14", 200, And(
			HaveKeyWithValue("features", ContainElement(And(HaveKeyWithValue("feature-support-level-id", "TNA"), HaveKeyWithValue("reason", "openshiftVersion")))),
			HaveKeyWithValue("operators", ContainElement(And(HaveKeyWithValue("name", "lvm"), HaveKeyWithValue("support_level", "unavailable")))))},
		"operators":             {"/supported-operators", 200, BeEmpty()},
		"an operator":           {"/supported-operators/odf", 404, HaveKeyWithValue("reason", ContainSubstring("not installed by this hub"))},
		"bundles":               {"/operators/bundles?openshift_version=4.20&feature_ids=SNO", 200, BeEmpty()},
		"bundles of no machine": {"/operators/bundles?cpu_architecture=vax", 400, HaveKeyWithValue("message", ContainSubstring("cpu_architecture"))},
		"a bundle":              {"/operators/bundles/virtualization", 404, HaveKeyWithValue("reason", ContainSubstring("virtualization"))},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var got any
			code, raw := hub.User().Do(t, http.MethodGet, tc.path, nil, nil)
			g.Expect(code).To(Equal(tc.code), raw)
			g.Expect(jsonInto(raw, &got)).To(Succeed())
			g.Expect(got).To(tc.want)
		})
	}
}

func TestAClusterHasTheImageOfItsRelease(t *testing.T) {
	file := filepath.Join(t.TempDir(), "releases.yaml")
	NewWithT(t).Expect(os.WriteFile(file, []byte(offered), 0o600)).To(Succeed())
	c := newClient(t, testhub.Start(t, testhub.Options{API: func(o *rest.Options) { o.Releases = &releases.File{Path: file} }}).User())
	create := func(more string) string { return `{"name":"edge","pull_secret":"{\"auths\":{}}",` + more + `}` }
	c.Expect(c.read("POST", "/clusters", create(`"openshift_version":"4.20"`), 201)).To(And(
		HaveKeyWithValue("openshift_version", "4.20.10"), HaveKeyWithValue("ocp_release_image", Not(BeEmpty()))))
	c.Expect(c.do("POST", "/clusters", create(`"openshift_version":"4.99"`), 400)).To(ContainSubstring("4.20.10"))
	c.Expect(c.read("POST", "/clusters", create(`"openshift_version":"4.99","ocp_release_image":"registry.example/own:1"`), 201)).To(
		HaveKeyWithValue("ocp_release_image", "registry.example/own:1"))
}

func TestReleasesFileThatIsBroken(t *testing.T) {
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "releases.yaml")
	hub := testhub.Start(t, testhub.Options{API: func(o *rest.Options) { o.Releases = &releases.File{Path: file} }})
	code, raw := hub.User().Do(t, http.MethodGet, "/openshift-versions", nil, nil)
	g.Expect(code).To(Equal(503), "it may be put right in a moment")
	g.Expect(raw).NotTo(ContainSubstring(file), "paths stay in the log")
}

func TestPlatformsOfACluster(t *testing.T) {
	g := NewWithT(t)
	p := virtualMachines(t).play(t, testhub.Start(t, testhub.Options{}))
	var platforms []string
	code, raw := p.user.Do(t, http.MethodGet, "/clusters/"+p.cluster+"/supported-platforms", nil, &platforms)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(platforms).To(ConsistOf("baremetal", "none", "external", "vsphere"))
	code, _ = p.user.Do(t, http.MethodGet, "/clusters/"+uuid.NewString()+"/supported-platforms", nil, nil)
	g.Expect(code).To(Equal(404))
}

// TestOpenAPIDocument: where clients look for it, without any token.
func TestOpenAPIDocument(t *testing.T) {
	hub := testhub.Start(t, testhub.Options{})
	for _, path := range []string{"/api/assisted-install/v2/openapi", "/swagger.json"} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, hub.URL+path, nil)
			g.Expect(err).NotTo(HaveOccurred())
			answer, err := hub.Client().Do(r)
			g.Expect(err).NotTo(HaveOccurred())
			defer answer.Body.Close()
			g.Expect(answer.StatusCode).To(Equal(200))
			g.Expect(answer.Header.Get("Content-Type")).To(Equal("application/json"))
			var d struct{ Swagger, BasePath string }
			g.Expect(decodeJSON(answer.Body, &d)).To(Succeed())
			g.Expect(d.Swagger).To(Equal("2.0"))
			g.Expect(d.BasePath).To(Equal("/api/assisted-install"))
		})
	}
}

// TestListsOfAnyLength: lists are read in pages, which a client does not see.
func TestListsOfAnyLength(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{NoAuth: true})
	env, _ := hub.InfraEnv(t, "pool")
	const many = 230
	hostIDs := map[string]bool{}
	for range many {
		id := uuid.NewString()
		hostIDs[id] = true
		_, err := hub.RegisterHost(t.Context(), registration(env, id))
		g.Expect(err).NotTo(HaveOccurred())
	}
	var hosts wire.HostList
	code, raw := hub.User().Do(t, http.MethodGet, "/infra-envs/"+env+"/hosts", nil, &hosts)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(hosts).To(HaveLen(many))
	for _, h := range hosts {
		delete(hostIDs, h.ID)
	}
	g.Expect(hostIDs).To(BeEmpty(), "each host is there once")

	clusterIDs, envIDs := map[string]bool{}, map[string]bool{env: true}
	for i := range many {
		c, err := hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: uuid.NewString(), Name: fmt.Sprint("c", i), Masters: 1})
		g.Expect(err).NotTo(HaveOccurred())
		clusterIDs[c.ID] = true
		e, err := hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: uuid.NewString(), Name: fmt.Sprint("e", i), ClusterID: c.ID})
		g.Expect(err).NotTo(HaveOccurred())
		envIDs[e.ID] = true
	}
	for _, query := range []string{"", "?with_hosts=true"} {
		var clusters wire.ClusterList
		code, raw = hub.User().Do(t, http.MethodGet, "/clusters"+query, nil, &clusters)
		g.Expect(code).To(Equal(200), raw)
		ids := map[string]bool{}
		for _, c := range clusters {
			ids[c.ID] = true
		}
		g.Expect(ids).To(HaveLen(len(clusters)), "each cluster is there once")
		g.Expect(len(ids)).To(Equal(2*many), "each host has its own, too")
		for id := range clusterIDs {
			g.Expect(ids[id]).To(BeTrue())
		}
	}
	var envs wire.InfraEnvList
	code, raw = hub.User().Do(t, http.MethodGet, "/infra-envs", nil, &envs)
	g.Expect(code).To(Equal(200), raw)
	g.Expect(envs).To(HaveLen(many + 1))
	for _, e := range envs {
		delete(envIDs, e.ID)
	}
	g.Expect(envIDs).To(BeEmpty(), "each infra-env is there once")

	seen := func(query string) wire.EventList {
		var events wire.EventList
		code, raw := hub.User().Do(t, http.MethodGet, "/events"+query, nil, &events)
		g.Expect(code).To(Equal(200), raw)
		return events
	}
	all := seen("")
	g.Expect(len(all)).To(BeNumerically(">", many))
	g.Expect(seen("?limit=150")).To(Equal(all[:150]))
	g.Expect(seen("?limit=120&offset=40")).To(Equal(all[40:160]))
	g.Expect(seen("?message=no+such+thing")).To(BeEmpty())
}

// TestATimelineThatGrowsMeanwhile: what comes while it is sent moves nothing.
func TestATimelineThatGrowsMeanwhile(t *testing.T) {
	for _, order := range []string{"ascending", "descending"} {
		t.Run(order, func(t *testing.T) {
			g := NewWithT(t)
			s := &failingStore{}
			apiOver(t, s)
			defer func() { _ = s.Close() }()
			api, err := rest.New(rest.Options{Hub: s.hub, Auth: rest.Auth{None: true}})
			g.Expect(err).NotTo(HaveOccurred())
			unit := &store.Unit{}
			for i := range 350 {
				unit.Events = append(unit.Events, wire.Event{Message: fmt.Sprint("event ", i), Severity: wire.EventSeverityInfo, EventTime: wire.At(time.Now())})
			}
			g.Expect(s.Commit(t.Context(), unit)).To(Succeed())
			more := 0
			s.meanwhile = func() {
				if more++; more < 20 {
					g.Expect(s.Commit(t.Context(), &store.Unit{Events: []wire.Event{{Message: fmt.Sprint("late ", more), Severity: wire.EventSeverityInfo, EventTime: wire.At(time.Now())}}})).To(Succeed())
				}
			}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, rest.Base+"/v2/events?message=e&order="+order, nil)
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			var got wire.EventList
			g.Expect(decodeJSON(w.Body, &got)).To(Succeed(), order)
			seen := map[string]int{}
			for _, e := range got {
				seen[e.Message]++
			}
			for i := range 350 {
				g.Expect(seen).To(HaveKeyWithValue(fmt.Sprint("event ", i), 1))
			}
		})
	}
}

// TestAListThatBreaksOff: a part must not pass for the whole.
func TestAListThatBreaksOff(t *testing.T) {
	g := NewWithT(t)
	s := &failingStore{}
	api, _ := apiOver(t, s)
	server := httptest.NewServer(api)
	defer server.Close()
	defer func() { _ = s.Close() }()
	for range 101 {
		_, err := s.hub.RegisterHost(t.Context(), registration(envOfToken, uuid.NewString()))
		g.Expect(err).NotTo(HaveOccurred())
	}
	token, err := s.hub.AgentToken(t.Context(), envOfToken)
	g.Expect(err).NotTo(HaveOccurred())
	ask := func() (*http.Response, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+rest.Base+"/v2/infra-envs/"+envOfToken+"/hosts", nil)
		g.Expect(err).NotTo(HaveOccurred())
		r.Header.Set(wire.HeaderAgentToken, token)
		return server.Client().Do(r)
	}
	var hosts wire.HostList
	answer, err := ask()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(decodeJSON(answer.Body, &hosts)).To(Succeed())
	g.Expect(answer.Body.Close()).To(Succeed())
	g.Expect(hosts).To(HaveLen(101))
	s.failAfter(1)
	answer, err = ask()
	if err == nil {
		g.Expect(decodeJSON(answer.Body, &hosts)).NotTo(Succeed(), "the first page alone is no list")
		_ = answer.Body.Close()
	}
}
