package hubclient_test

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

var host = hubclient.Host{InfraEnvID: "11111111-1111-4111-8111-111111111111", HostID: "22222222-2222-4222-8222-222222222222"}

// seen is one request as the hub saw it.
type seen struct {
	method, uri string
	header      http.Header
	body        string
}

// serve answers every request with the code and body and records it.
func serve(t *testing.T, code int, body string) (*hubclient.Client, *[]seen) {
	t.Helper()
	var requests []seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		requests = append(requests, seen{r.Method, r.URL.RequestURI(), r.Header, string(raw)})
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	client, err := hubclient.New(hubclient.Options{URL: server.URL + "/prefix/", AgentVersion: "quay.example/agent:v1", Attempt: "boot-1", Token: hubclient.NewToken(hostfile.Dir{Root: t.TempDir()})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, &requests
}

func TestCallsOnTheWire(t *testing.T) {
	t.Setenv(hubclient.TokenEnv, "s3cret")
	hostURI := "/prefix/api/assisted-install/v2/infra-envs/" + host.InfraEnvID + "/hosts"
	own := hostURI + "/" + host.HostID
	for name, tc := range map[string]struct {
		code   int
		answer string
		call   func(c *hubclient.Client) error
		want   string // method, URI, body
	}{
		"register": {
			201, `{"id":"x"}`, func(c *hubclient.Client) error { _, err := c.Register(t.Context(), host); return err },
			"POST " + hostURI + ` {"discovery_agent_version":"quay.example/agent:v1","host_id":"` + host.HostID + `"}`,
		},
		"instructions": {200, `{"instructions":null}`, func(c *hubclient.Client) error {
			_, err := c.Instructions(t.Context(), host, time.Unix(1700000000, 0))
			return err
		}, "GET " + own + "/instructions?timestamp=1700000000 "},
		"reply": {204, "", func(c *hubclient.Client) error {
			return c.Reply(t.Context(), host, wire.StepReply{StepType: "inventory", StepID: "inventory-1", Output: "{}"})
		}, "POST " + own + `/instructions {"output":"{}","step_id":"inventory-1","step_type":"inventory"}`},
		"progress": {200, "", func(c *hubclient.Client) error {
			return c.Progress(t.Context(), host, wire.HostProgress{CurrentStage: wire.HostStageRebooting, ProgressInfo: "x"})
		}, "PUT " + own + `/progress {"current_stage":"Rebooting","progress_info":"x"}`},
		"logs progress": {
			204, "", func(c *hubclient.Client) error { return c.LogsProgress(t.Context(), host, wire.LogsStateCompleted) },
			"PUT " + own + `/logs-progress {"logs_state":"completed"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			client, requests := serve(t, tc.code, tc.answer)
			g.Expect(tc.call(client)).To(Succeed())
			r := (*requests)[0]
			g.Expect(r.method + " " + r.uri + " " + r.body).To(Equal(tc.want))
			g.Expect(r.header.Get("X-Secret-Key")).To(Equal("s3cret"))
			g.Expect(r.header.Get("discovery_agent_version")).To(Equal("quay.example/agent:v1"))
			g.Expect(r.header.Get("X-Request-ID")).To(HaveLen(36))
			attempt := ""
			if name == "register" {
				attempt = "boot-1"
			}
			g.Expect(r.header.Get(wire.HeaderAttempt)).To(Equal(attempt))
		})
	}
}

func TestErrorBodies(t *testing.T) {
	for name, tc := range map[string]struct {
		code int
		body string
		want string
	}{
		"the hub's own": {
			409, `{"kind":"Error","id":409,"href":"","code":"409","reason":"cluster is installed"}`,
			"409 Conflict to POST /infra-envs/" + host.InfraEnvID + "/hosts: cluster is installed",
		},
		"its auth layer's": {401, `{"code":401,"message":"bad token"}`, "bad token"},
		"HTML of a router": {
			503, "<!DOCTYPE html><html><head><style>b{}</style><title>503</title></head><body><h1>Application is not available</h1></body></html>",
			"503 Service Unavailable to POST /infra-envs/" + host.InfraEnvID + "/hosts: 503 Application is not available",
		},
		"plain text":        {500, "no\n  luck\n", "no luck"},
		"empty":             {500, "", "500 Internal Server Error"},
		"very long":         {500, strings.Repeat("é", 1000), "…"},
		"redirect":          {302, "", "302 Found"},
		"not the right one": {200, "{}", "200 OK"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			client, _ := serve(t, tc.code, tc.body)
			_, err := client.Register(t.Context(), host)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(hubclient.Code(err)).To(Equal(tc.code))
			g.Expect(len(err.Error())).To(BeNumerically("<", 800))
			g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
		})
	}
}

func TestTheSecretDoesNotFollowRedirects(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(hubclient.TokenEnv, "s3cret")
	followed := false
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer elsewhere.Close()
	hub := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer hub.Close()
	client, err := hubclient.New(hubclient.Options{URL: hub.URL, Token: hubclient.NewToken(hostfile.Dir{Root: t.TempDir()})})
	g.Expect(err).NotTo(HaveOccurred())
	defer client.Close()
	_, err = client.Register(t.Context(), host)
	g.Expect(hubclient.Code(err)).To(Equal(http.StatusTemporaryRedirect))
	g.Expect(followed).To(BeFalse())
}

func TestNoAnswerIsCodeZero(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(nil)
	server.Close()
	client, err := hubclient.New(hubclient.Options{URL: server.URL})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.Instructions(t.Context(), host, time.Now())
	g.Expect(hubclient.Code(err)).To(Equal(0))
	g.Expect(err).To(MatchError(And(ContainSubstring("hub unreachable"), ContainSubstring("refused"))))
	g.Expect(err.Error()).NotTo(ContainSubstring("timestamp="))
}

func TestUploadStreams(t *testing.T) {
	g := NewWithT(t)
	client, requests := serve(t, 204, "")
	err := client.UploadLogs(t.Context(), host, "33333333-3333-4333-8333-333333333333", "logs.tar.gz", func(w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte("x"), 1<<20))
		return err
	})
	g.Expect(err).NotTo(HaveOccurred())
	r := (*requests)[0]
	g.Expect(r.uri).To(Equal("/prefix/api/assisted-install/v2/clusters/33333333-3333-4333-8333-333333333333/logs?host_id=" + host.HostID + "&infra_env_id=" + host.InfraEnvID + "&logs_type=host"))
	g.Expect(r.body).To(And(ContainSubstring(`name="upfile"; filename="logs.tar.gz"`), ContainSubstring(strings.Repeat("x", 1<<20))))
}

func TestFailedUploadFreesItsWriter(t *testing.T) {
	g := NewWithT(t)
	client, _ := serve(t, 204, "")
	boom := errors.New("disk gone")
	g.Expect(client.UploadLogs(t.Context(), host, "c", "n", func(io.Writer) error { return boom })).To(MatchError(ContainSubstring("disk gone")))

	server := httptest.NewServer(nil)
	server.Close()
	away, err := hubclient.New(hubclient.Options{URL: server.URL})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(away.UploadLogs(t.Context(), host, "c", "n", func(w io.Writer) error {
		for {
			if _, err := w.Write(make([]byte, 4096)); err != nil {
				return err
			}
		}
	})).NotTo(Succeed())
}

func TestCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	server.Config.ErrorLog = nil
	ca := filepath.Join(t.TempDir(), "ca.crt")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		options hubclient.Options
		wantErr string
	}{
		"unknown CA is refused": {hubclient.Options{}, "certificate"},
		"given CA":              {hubclient.Options{CAFile: ca}, ""},
		"insecure":              {hubclient.Options{Insecure: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			tc.options.URL = server.URL
			client, err := hubclient.New(tc.options)
			g.Expect(err).NotTo(HaveOccurred())
			defer client.Close()
			err = client.LogsProgress(t.Context(), host, wire.LogsStateRequested)
			if tc.wantErr == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
		})
	}
}

func TestBadOptions(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		options hubclient.Options
		want    string
	}{
		"no scheme":  {hubclient.Options{URL: "hub:8090"}, "want http(s)"},
		"no CA file": {hubclient.Options{URL: "https://hub", CAFile: empty + "x"}, "CA file"},
		"empty CA":   {hubclient.Options{URL: "https://hub", CAFile: empty}, "no PEM certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := hubclient.New(tc.options)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

func TestTokenIsReadAgainAndNeverPrinted(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(hubclient.TokenEnv, "old")
	dir := hostfile.Dir{Root: t.TempDir()}
	token := hubclient.NewToken(dir)
	g.Expect(token.Reload()).To(BeFalse(), "no file, no change")
	writeToken(g, dir.Path(hostfile.AgentEnv), "A=1\nPULL_SECRET_TOKEN=\"new\"\n")
	g.Expect(token.Reload()).To(BeTrue())
	g.Expect(token.Reload()).To(BeFalse())
	g.Expect(token.String() + fmt.Sprintf(" %v %+v %#v", token, token, token)).To(Equal("*** *** *** ***"))
}

// TestTheHostsOwnTokenIsKept: it is sent from the registration on, by later processes too,
// until the hub refuses it.
func TestTheHostsOwnTokenIsKept(t *testing.T) {
	g := NewWithT(t)
	t.Setenv(hubclient.TokenEnv, "of-the-image")
	dir := hostfile.Dir{Root: t.TempDir()}
	var sent []string
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("X-Secret-Key"))
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/hosts") {
			g.Expect(r.Header.Get("Ironflow-Host-Token")).To(Equal("wanted"))
			w.Header().Set("Ironflow-Host-Token", "of-the-host")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, `{"id":"x"}`)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer hub.Close()
	process := func() (*hubclient.Client, *hubclient.Token) {
		token := hubclient.NewToken(dir)
		client, err := hubclient.New(hubclient.Options{URL: hub.URL, Token: token})
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(client.Close)
		return client, token
	}
	client, token := process()
	_, err := client.Register(t.Context(), host)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client.Reply(t.Context(), host, wire.StepReply{})).To(Succeed())
	later, _ := process()
	g.Expect(later.Reply(t.Context(), host, wire.StepReply{})).To(Succeed())
	g.Expect(client.ReloadToken()).To(BeTrue())
	g.Expect(client.Reply(t.Context(), host, wire.StepReply{})).To(Succeed())
	last, _ := process()
	g.Expect(last.Reply(t.Context(), host, wire.StepReply{})).To(Succeed())
	g.Expect(sent).To(Equal([]string{"of-the-image", "of-the-host", "of-the-host", "of-the-image", "of-the-image"}))
	_, err = client.Register(t.Context(), host)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(token.Known()).To(ContainElements("of-the-image", "of-the-host"), "neither gets into logs")
	info, err := os.Stat(dir.Path(hostfile.HostToken))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
}

// Who sets the variable means it; a credential of the unit is more than its environment file.
func TestWhereTheTokenComesFrom(t *testing.T) {
	for name, tc := range map[string]struct{ env, credential, file, want string }{
		"nowhere":              {"", "", "", ""},
		"environment":          {"a", "b", "PULL_SECRET_TOKEN=c", "a"},
		"credential":           {"", "b\n", "PULL_SECRET_TOKEN=c", "b"},
		"environment file":     {"", "", "# the token\n PULL_SECRET_TOKEN='c'\n", "c"},
		"a file without token": {"", "", "HTTP_PROXY=http://proxy\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir, credentials := hostfile.Dir{Root: t.TempDir()}, t.TempDir()
			t.Setenv(hubclient.TokenEnv, tc.env)
			t.Setenv("CREDENTIALS_DIRECTORY", credentials)
			if tc.credential != "" {
				writeToken(g, filepath.Join(credentials, "pull-secret-token"), tc.credential)
			}
			if tc.file != "" {
				writeToken(g, dir.Path(hostfile.AgentEnv), tc.file)
			}
			seen := ""
			hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = r.Header.Get("X-Secret-Key")
				w.WriteHeader(http.StatusNoContent)
			}))
			defer hub.Close()
			client, err := hubclient.New(hubclient.Options{URL: hub.URL, Token: hubclient.NewToken(dir)})
			g.Expect(err).NotTo(HaveOccurred())
			defer client.Close()
			g.Expect(client.Reply(t.Context(), host, wire.StepReply{})).To(Succeed())
			g.Expect(seen).To(Equal(tc.want))
		})
	}
}

func writeToken(g *WithT, path, text string) {
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
}

// TestInventoriesAreAskedForWhereTheyAreRead: those of some hundred hosts are
// more than an answer may have.
func TestInventoriesAreAskedForWhereTheyAreRead(t *testing.T) {
	g := NewWithT(t)
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI())
		_, _ = io.WriteString(w, `[{"id": "h", "inventory": "{}"}]`)
	}))
	defer server.Close()
	client, err := hubclient.New(hubclient.Options{URL: server.URL})
	g.Expect(err).NotTo(HaveOccurred())
	defer client.Close()
	_, err = client.ClusterHosts(t.Context(), "c")
	g.Expect(err).NotTo(HaveOccurred())
	hosts, err := client.ClusterInventories(t.Context(), "c")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(hosts).To(HaveExactElements(HaveField("Inventory", "{}")))
	const path = "/api/assisted-install/v2/clusters/c/hosts"
	g.Expect(asked).To(Equal([]string{path, path + "?with-inventory=true"}))
}
