package rest_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

const pullSecret = `{"auths":{"registry.example":{"auth":"dTpzZWNyZXQ="}}}`

// fixture is a hub with a host that is being installed.
type fixture struct {
	*testhub.Hub
	env, token, cluster string
	host                store.HostKey
	// agent is that of the host.
	agent *testhub.Caller
}

func newFixture(t *testing.T, more ...func(*testhub.Options)) *fixture {
	t.Helper()
	return installing(t, func(f *fixture) *testhub.Caller {
		f.Agent(f.token).Register(t, f.host)
		return f.Agent(f.token)
	}, more...)
}

// installing is a hub with a host that is being installed, and whose agent registers so.
func installing(t *testing.T, register func(*fixture) *testhub.Caller, more ...func(*testhub.Options)) *fixture {
	t.Helper()
	options := testhub.Options{IgnitionDir: testhub.RoleFiles(t), API: func(o *rest.Options) { o.Auth.Users = people(t) }}
	for _, change := range more {
		change(&options)
	}
	f := &fixture{Hub: testhub.Start(t, options)}
	f.env, f.token = f.InfraEnv(t, "pool")
	f.host = store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	f.agent = register(f)
	f.agent.UntilInstall(t, f.host, testhub.Inventory(7))
	f.agent.Progress(t, f.host, wire.HostStageInstalling, "")
	view, _, err := f.View(t.Context(), f.host)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	f.cluster = view.ClusterID
	return f
}

// path fills the parameters of an operation's path.
func (f *fixture) path(template string) string {
	return strings.NewReplacer("/v2", "", "{infra_env_id}", f.env, "{host_id}", f.host.HostID, "{cluster_id}", f.cluster,
		"{validation_id}", "x", "{id}", "x", "{operator_name}", "x").Replace(template)
}

func TestAuthentication(t *testing.T) {
	f := newFixture(t)
	otherID, otherToken := f.InfraEnv(t, "another")
	host := "/infra-envs/" + f.env + "/hosts/" + f.host.HostID
	for name, tc := range map[string]struct {
		caller       *testhub.Caller
		method, path string
		code         int
	}{
		"agent polls its host":              {f.Agent(f.token), "GET", host + "/instructions", 200},
		"nobody polls":                      {f.Agent(""), "GET", host + "/instructions", 401},
		"forged token":                      {f.Agent(f.token + "x"), "GET", host + "/instructions", 401},
		"user is no agent":                  {f.User(), "GET", host + "/instructions", 401},
		"agent of another infra-env":        {f.Agent(otherToken), "GET", host + "/instructions", 404},
		"agent lists another's hosts":       {f.Agent(otherToken), "GET", "/infra-envs/" + f.env + "/hosts", 404},
		"agent lists its own hosts":         {f.Agent(otherToken), "GET", "/infra-envs/" + otherID + "/hosts", 200},
		"agent reads its cluster":           {f.Agent(f.token), "GET", "/clusters/" + f.cluster, 200},
		"agent reads another cluster":       {f.Agent(otherToken), "GET", "/clusters/" + f.cluster, 404},
		"agent fetches another's Ignition":  {f.Agent(otherToken), "GET", "/infra-env/" + f.env + "/hosts/" + f.host.HostID + "/downloads/ignition", 404},
		"agent fetches its Ignition":        {f.Agent(f.token), "GET", "/infra-env/" + f.env + "/hosts/" + f.host.HostID + "/downloads/ignition", 200},
		"agent is no user":                  {f.Agent(f.token), "GET", "/clusters", 401},
		"user lists clusters":               {f.User(), "GET", "/clusters", 200},
		"user with a wrong token":           {f.User().With("Authorization", "Bearer x"), "GET", "/clusters", 401},
		"user with another scheme":          {f.User().With("Authorization", "Basic "+f.UserToken), "GET", "/clusters", 401},
		"unserved operation asks, too":      {f.Agent(""), "GET", "/supported-operators", 401},
		"agent of another uploads its logs": {f.Agent(otherToken), "POST", "/clusters/" + f.cluster + "/logs?logs_type=host&infra_env_id=" + f.env + "&host_id=" + f.host.HostID, 404},
	} {
		t.Run(name, func(t *testing.T) {
			code, raw := tc.caller.Do(t, tc.method, tc.path, nil, nil)
			g := NewWithT(t)
			g.Expect(code).To(Equal(tc.code), raw)
			if code == 401 {
				g.Expect(raw).To(MatchRegexp(`^\{"code":401,"message":".+"\}`))
			}
		})
	}
}

func TestRevokedTokenOpensNothing(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	own := f.Agent(f.token).Exchange(t, store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()})
	code, _ := f.User().Do(t, "POST", "/infra-envs/"+f.env+"/regenerate-signing-key", nil, nil)
	g.Expect(code).To(Equal(204))
	code, _ = f.Agent(f.token).Do(t, "GET", "/infra-envs/"+f.env+"/hosts/"+f.host.HostID+"/instructions", nil, nil)
	g.Expect(code).To(Equal(200), "those of images are others")
	code, _ = f.User().Do(t, "POST", "/infra-envs/"+f.env+"/regenerate-signing-key?agents=true", nil, nil)
	g.Expect(code).To(Equal(204))
	for _, agent := range []*testhub.Caller{f.Agent(f.token), own} {
		code, _ = agent.Do(t, "GET", "/infra-envs/"+f.env+"/hosts/"+f.host.HostID+"/instructions", nil, nil)
		g.Expect(code).To(Equal(401))
	}
	g.Expect(f.Timeline(t)).To(ContainSubstring("the tokens of its agents are revoked"))
}

func TestWithoutUserTokenKubernetesIsTheAPI(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	api, err := rest.New(rest.Options{Hub: hub.Hub})
	g.Expect(err).NotTo(HaveOccurred())
	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, rest.Base+"/v2/clusters", nil)
	r.Header.Set("Authorization", "Bearer ")
	api.ServeHTTP(answer, r)
	g.Expect(answer.Code).To(Equal(401))
	g.Expect(answer.Body.String()).To(ContainSubstring("Kubernetes"))
}

func TestHostileBodies(t *testing.T) {
	f := newFixture(t)
	instructions := "/infra-envs/" + f.env + "/hosts/" + f.host.HostID + "/instructions"
	for name, tc := range map[string]struct {
		body io.Reader
		code int
	}{
		"endless":            {&endless{left: 64 << 20}, 413},
		"deep nesting":       {strings.NewReader(strings.Repeat(`{"a":`, 100000)), 400},
		"broken unicode":     {strings.NewReader("{\"step_type\":\"\xff\xfe\",\"output\":\"\x00\"}"), 400},
		"numbers as strings": {strings.NewReader(`{"exit_code":"one"}`), 400},
		"huge number":        {strings.NewReader(`{"exit_code":1e400}`), 400},
		"null":               {strings.NewReader(`null`), 204},
	} {
		t.Run(name, func(t *testing.T) {
			code, raw := f.Agent(f.token).Send(t, "POST", instructions, "application/json", tc.body, nil)
			NewWithT(t).Expect(code).To(Equal(tc.code), raw)
		})
	}
	code, _ := f.Agent(f.token).Do(t, "GET", instructions, nil, nil)
	NewWithT(t).Expect(code).To(Equal(200), "the hub goes on")
}

// endless is a body of a's.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range n {
		p[i] = 'a'
	}
	e.left -= n
	return n, nil
}

func TestLogs(t *testing.T) {
	f := newFixture(t)
	upload := func(t *testing.T, query, field, content string) (int, string) {
		t.Helper()
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		part, err := form.CreateFormFile(field, "../../logs.tar.gz")
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		_, _ = part.Write([]byte(content))
		_ = form.Close()
		return f.Agent(f.token).Send(t, "POST", "/clusters/"+f.cluster+"/logs?"+query, form.FormDataContentType(), &body, nil)
	}
	owner := "&infra_env_id=" + f.env + "&host_id=" + f.host.HostID
	for name, tc := range map[string]struct {
		query, field string
		code         int
	}{
		"host":            {"logs_type=host" + owner, "upfile", 204},
		"again":           {"logs_type=host" + owner, "upfile", 204},
		"controller":      {"logs_type=controller", "upfile", 204},
		"no host":         {"logs_type=host", "upfile", 400},
		"other type":      {"logs_type=all" + owner, "upfile", 400},
		"other part":      {"logs_type=host" + owner, "file", 400},
		"another host":    {"logs_type=host&infra_env_id=" + f.env + "&host_id=" + uuid.NewString(), "upfile", 404},
		"host is no UUID": {"logs_type=host&infra_env_id=" + f.env + "&host_id=../../x", "upfile", 400},
	} {
		t.Run(name, func(t *testing.T) {
			code, raw := upload(t, tc.query, tc.field, "journal")
			NewWithT(t).Expect(code).To(Equal(tc.code), raw)
		})
	}
	g := NewWithT(t)
	code, raw := f.User().Do(t, "GET", "/clusters/"+f.cluster+"/logs?host_id="+f.host.HostID, nil, nil)
	g.Expect(code).To(Equal(200))
	g.Expect(raw).To(Equal("journal"))
	_, raw = f.User().Do(t, "GET", "/clusters/"+f.cluster+"/logs?logs_type=controller", nil, nil)
	g.Expect(raw).To(Equal("journal"))
	code, _ = f.User().Do(t, "GET", "/clusters/"+f.cluster+"/logs?logs_type=host", nil, nil)
	g.Expect(code).To(Equal(400))
	_, raw = f.User().Do(t, "GET", "/clusters/"+f.cluster+"/logs?logs_type=all", nil, nil)
	bundle, names := tar.NewReader(strings.NewReader(raw)), []string{}
	for member, err := bundle.Next(); err != io.EOF; member, err = bundle.Next() {
		g.Expect(err).NotTo(HaveOccurred())
		names = append(names, member.Name)
		content, err := io.ReadAll(bundle)
		g.Expect(err).NotTo(HaveOccurred())
		if strings.HasSuffix(member.Name, ".tar.gz") {
			g.Expect(string(content)).To(Equal("journal"))
		}
	}
	g.Expect(names).To(Equal([]string{"controller.tar.gz", "host-" + f.host.HostID + ".tar.gz", "metadata.json", "events.json"}))
	host, err := f.Host(t.Context(), f.host)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.LogsInfo).To(Equal(wire.LogsStateCompleted))

	code, _ = f.Agent(f.token).Send(t, "POST", "/clusters/"+f.cluster+"/logs?logs_type=host"+owner, "text/plain", strings.NewReader("x"), nil)
	g.Expect(code).To(Equal(400))
	code, _ = f.Agent(f.token).Send(t, "POST", "/clusters/"+f.cluster+"/logs?logs_type=host"+owner, "multipart/form-data; boundary=x",
		strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"upfile\"\r\n\r\nhalf an arch"), nil)
	g.Expect(code).To(Equal(400), "an archive that breaks off must not replace a whole one")
	_, raw = f.User().Do(t, "GET", "/clusters/"+f.cluster+"/logs?host_id="+f.host.HostID, nil, nil)
	g.Expect(raw).To(Equal("journal"))
}

func TestLifeOverHTTP(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{IgnitionDir: testhub.RoleFiles(t)})
	user := hub.User()
	do := func(method, path string, in, out any, want int) {
		t.Helper()
		code, raw := user.Do(t, method, path, in, out)
		g.Expect(code).To(Equal(want), "%s %s: %s", method, path, raw)
	}
	var cluster wire.Cluster
	do("POST", "/clusters", wire.ClusterCreateParams{Name: "edge", OpenshiftVersion: "4.20", PullSecret: pullSecret, ControlPlaneCount: new(int64(1))}, &cluster, 201)
	g.Expect(cluster.Status).To(Equal(wire.ClusterStatusInsufficient), "as every new cluster")
	do("GET", "/clusters/"+cluster.ID, nil, &cluster, 200)
	g.Expect(cluster.Status).To(Equal(wire.ClusterStatusPendingForInput))
	g.Expect(cluster.StatusInfo).To(ContainSubstring("base_dns_domain"))
	do("PATCH", "/clusters/"+cluster.ID, wire.V2ClusterUpdateParams{BaseDNSDomain: new("example")}, &cluster, 201)
	g.Expect(cluster.Status).To(Equal(wire.ClusterStatusInsufficient))

	var env wire.InfraEnv
	do("POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "pool", PullSecret: pullSecret}, &env, 201)
	do("PATCH", "/infra-envs/"+env.ID, wire.InfraEnvUpdateParams{SSHAuthorizedKey: new("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f")}, &env, 201)
	g.Expect(env.SSHAuthorizedKey).To(Equal("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"))
	do("GET", "/infra-envs/"+env.ID, nil, &env, 200)
	var envs wire.InfraEnvList
	do("GET", "/infra-envs", nil, &envs, 200)
	g.Expect(envs).To(HaveLen(1))

	token, err := hub.AgentToken(t.Context(), env.ID)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	key := store.HostKey{InfraEnvID: env.ID, HostID: uuid.NewString()}
	host := "/infra-envs/" + env.ID + "/hosts/" + key.HostID
	g.Expect(agent.Register(t, key).Status).To(Equal(wire.HostStatusDiscoveringUnbound))
	answerAll := func() {
		for range 2 {
			for _, step := range agent.Poll(t, key).Instructions {
				agent.Answer(t, key, step, testhub.Inventory(9))
			}
		}
	}
	answerAll()
	var h wire.Host
	do("POST", host+"/actions/bind", wire.BindHostParams{ClusterID: cluster.ID}, &h, 200)
	g.Expect(h.Status).To(Equal(wire.HostStatusBinding))
	g.Expect(*agent.Poll(t, key).PostStepAction).To(Equal(wire.StepsPostStepActionExit))
	agent.Register(t, key)
	answerAll()
	do("PATCH", host, wire.HostUpdateParams{HostName: new("master-0")}, &h, 201)
	g.Expect(h.RequestedHostname).To(Equal("master-0"))
	do("PATCH", host+"/installer-args", wire.InstallerArgsParams{Args: []string{"--append-karg", "a=b"}}, &h, 201)
	do("PATCH", host+"/ignition", wire.HostIgnitionParams{Config: `{"ignition":{"version":"3.2.0"}}`}, nil, 201)
	do("POST", "/clusters/"+cluster.ID+"/actions/install", nil, &cluster, 202)
	agent.UntilInstall(t, key, testhub.Inventory(9))
	agent.Progress(t, key, wire.HostStageInstalling, "")
	code, ignition := agent.Do(t, "GET", "/infra-env/"+env.ID+"/hosts/"+key.HostID+"/downloads/ignition", nil, nil)
	g.Expect(code).To(Equal(200))
	g.Expect(ignition).To(ContainSubstring("data:,master-0"))
	do("DELETE", "/clusters/"+cluster.ID, nil, nil, 409)
	do("POST", "/clusters/"+cluster.ID+"/actions/cancel", nil, &cluster, 202)
	g.Expect(cluster.Status).To(Equal(wire.ClusterStatusCancelled))
	do("POST", "/clusters/"+cluster.ID+"/actions/reset", nil, &cluster, 202)
	var hosts wire.HostList
	do("GET", "/clusters/"+cluster.ID+"/hosts?with-inventory=true", nil, &hosts, 200)
	g.Expect(hosts).To(HaveLen(1))
	g.Expect(hosts[0].Inventory).NotTo(BeEmpty())
	do("GET", "/infra-envs/"+env.ID+"/hosts", nil, &hosts, 200)
	agent.Register(t, key)
	var unbound wire.Host
	do("POST", host+"/actions/unbind", nil, &unbound, 200)
	g.Expect(unbound.ClusterID).To(BeNil())
	do("DELETE", "/clusters/"+cluster.ID, nil, nil, 204)
	do("DELETE", "/infra-envs/"+env.ID, nil, nil, 400)
	do("DELETE", host, nil, nil, 204)
	do("GET", host, nil, nil, 404)
	do("DELETE", "/infra-envs/"+env.ID, nil, nil, 204)

	var events wire.EventList
	do("GET", "/events?host_id="+key.HostID+"&order=descending&limit=3", nil, &events, 200)
	g.Expect(events).To(HaveLen(3))
	g.Expect(events[0].Name).To(Equal("host_deregistered"), "the timeline outlives the host")
}

func TestAPollSaysTheLeastGapToTheNext(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	key := store.HostKey{InfraEnvID: f.env, HostID: uuid.NewString()}
	f.Agent(f.token).Register(t, key)
	gap, delay := f.pollOnce(t, key)
	g.Expect(gap).To(Equal("1"), "one host alone may hurry")
	g.Expect(delay).To(BeNumerically("<", 50))
	crowd := func(delay time.Duration) {
		for i := range 10_000 {
			f.Pause(store.HostKey{InfraEnvID: "crowd", HostID: strconv.Itoa(i)}, delay)
		}
	}
	crowd(time.Minute)
	gap, delay = f.pollOnce(t, key)
	g.Expect(gap).To(Equal("1"), "hosts at rest do not hold up one that is on its way")
	g.Expect(delay).To(BeNumerically("<", 50))
	crowd(2 * time.Second)
	gap, delay = f.pollOnce(t, key)
	g.Expect(gap).To(Equal("60"))
	g.Expect(delay).To(And(BeNumerically(">=", 30), BeNumerically("<=", 60)), "also for agents that do not know the gap")
}

// pollOnce polls as an agent and returns the least gap and the delay that the hub asks for.
func (f *fixture) pollOnce(t *testing.T, key store.HostKey) (gap string, delay int64) {
	t.Helper()
	g := NewWithT(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+rest.Base+"/v2"+"/infra-envs/"+key.InfraEnvID+"/hosts/"+key.HostID+"/instructions", nil)
	g.Expect(err).NotTo(HaveOccurred())
	req.Header.Set(wire.HeaderAgentToken, f.token)
	resp, err := f.Client().Do(req)
	g.Expect(err).NotTo(HaveOccurred())
	defer resp.Body.Close()
	g.Expect(resp.StatusCode).To(Equal(200))
	var steps wire.Steps
	g.Expect(json.NewDecoder(resp.Body).Decode(&steps)).To(Succeed())
	return resp.Header.Get("Ironflow-Poll-Gap"), steps.NextInstructionSeconds
}

func TestEventCountsAreInHeaders(t *testing.T) {
	g := NewWithT(t)
	f := newFixture(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL+rest.Base+"/v2/events?limit=1", nil)
	g.Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+f.UserToken)
	answer, err := f.Client().Do(r)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	g.Expect(answer.Header.Get("Event-Count")).To(MatchRegexp(`^[1-9]\d*$`))
	g.Expect(answer.Header.Get("Severity-Count-Info")).To(Equal(answer.Header.Get("Event-Count")))
	g.Expect(answer.Header.Get("Severity-Count-Critical")).To(Equal("0"))
}

// TestIronicIsAnswered: by the status of this path, ironflow check knows that an Ironic has reached the hub.
func TestIronicIsAnswered(t *testing.T) {
	g := NewWithT(t)
	api, err := rest.New(rest.Options{Hub: testhub.Start(t, testhub.Options{}).Hub})
	g.Expect(err).NotTo(HaveOccurred())
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, httptest.NewRequest(method, "/health/asked", nil))
		g.Expect(answer.Code).To(Equal(http.StatusGone))
	}
}

func TestMetricsCountByOperation(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	registry := prometheus.NewRegistry()
	api, err := rest.New(rest.Options{Hub: hub.Hub, Auth: rest.Auth{None: true}, Registerer: registry})
	g.Expect(err).NotTo(HaveOccurred())
	for _, path := range []string{"/v2/clusters", "/v2/clusters/" + uuid.NewString(), "/health", "/ready"} {
		base := rest.Base
		if !strings.HasPrefix(path, "/v2") {
			base = ""
		}
		api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, base+path, nil))
	}
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	counted := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "ironflow_hub_requests_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			counted[m.GetLabel()[1].GetValue()+" "+m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
		}
	}
	g.Expect(counted).To(Equal(map[string]float64{"v2ListClusters 200": 1, "v2GetCluster 404": 1}))
}

func TestUnready(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	api, err := rest.New(rest.Options{Hub: hub.Hub})
	g.Expect(err).NotTo(HaveOccurred())
	hub.Stop()
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/ready", nil))
	g.Expect(answer.Code).To(Equal(503))
	answer = httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, rest.Base+"/v2/clusters", nil)
	api2, err := rest.New(rest.Options{Hub: hub.Hub, Auth: rest.Auth{None: true}})
	g.Expect(err).NotTo(HaveOccurred())
	api2.ServeHTTP(answer, r)
	g.Expect(answer.Code).To(Equal(500))
	g.Expect(answer.Body.String()).NotTo(ContainSubstring("sql"), "internals stay in the log")
}

func FuzzStepReply(f *testing.F) {
	for _, seed := range []string{
		`{"step_type":"inventory","output":"{}"}`, `{"step_type":"inventory","output":"{\"interfaces\":[{\"mac_address\":\"x\"}],\"disks\":[{}]}"}`,
		`{"step_type":"install","exit_code":1,"error":"\u0000"}`, `{"step_type":"installation-disk-speed-check","output":"{\"path\":\"\"}"}`,
		`{"step_type":"container-image-availability","exit_code":2,"output":"{\"images\":[{\"name\":\"a\",\"result\":\"failure\"}]}"}`,
		`{"step_type":"ntp-synchronizer","output":"{\"ntp_sources\":null}"}`, `{"exit_code":256}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	hub := testhub.Start(f, testhub.Options{NoAuth: true})
	env, _ := hub.InfraEnv(f, "pool")
	api, err := rest.New(rest.Options{Hub: hub.Hub, Auth: rest.Auth{None: true}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		key := store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
		if _, err := hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: env, HostID: key.HostID}); err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		path := rest.Base + "/v2/infra-envs/" + env + "/hosts/" + key.HostID + "/instructions"
		api.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
		if answer.Code != 204 && answer.Code != 400 {
			t.Fatalf("answer %d: %s", answer.Code, answer.Body)
		}
		if _, err := hub.Instructions(t.Context(), key, service.Poll{}); err != nil {
			t.Fatalf("the host cannot be served any more: %v", err)
		}
	})
}
