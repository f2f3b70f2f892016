package rest_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestWhatUsersDoIsLogged with who and what, and without what they send.
func TestWhatUsersDoIsLogged(t *testing.T) {
	g := NewWithT(t)
	var log bytes.Buffer
	hub := testhub.Start(t, testhub.Options{API: func(o *rest.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }})
	var env wire.InfraEnv
	code, raw := hub.User().Do(t, "POST", "/infra-envs?note=hunter1", wire.InfraEnvCreateParams{Name: "pool", PullSecret: pullSecret}, &env)
	g.Expect(code).To(Equal(201), raw)
	hub.User().Do(t, "GET", "/infra-envs/"+env.ID, nil, nil)
	hub.User().Do(t, "DELETE", "/clusters/"+uuid.NewString(), nil, nil)
	hub.User().Do(t, "POST", "/infra-envs/"+env.ID+"/regenerate-signing-key?agents=true", nil, nil)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	g.Expect(lines).To(HaveLen(3), "reading is not among it: %s", log.String())
	g.Expect(lines[0]).To(And(ContainSubstring("user=user operation=RegisterInfraEnv"), ContainSubstring("code=201"), ContainSubstring("from=127.0.0.1:")))
	g.Expect(lines[1]).To(And(ContainSubstring("operation=v2DeregisterCluster"), ContainSubstring("code=404"), ContainSubstring("/clusters/")))
	g.Expect(lines[2]).To(And(ContainSubstring("operation=RegenerateInfraEnvSigningKey"), ContainSubstring(env.ID)))
	g.Expect(log.String()).NotTo(Or(ContainSubstring("hunter1"), ContainSubstring("dTpzZWNyZXQ="), ContainSubstring(hub.UserToken)))
}

// TestWhatUsersReadIsLogged where it has secrets, and where they were refused it.
func TestWhatUsersReadIsLogged(t *testing.T) {
	var log bytes.Buffer
	f := newFixture(t, func(o *testhub.Options) {
		o.API = func(o *rest.Options) { o.Auth.Users, o.Log = people(t), slog.New(slog.NewTextHandler(&log, nil)) }
	})
	for name, tc := range map[string]struct {
		by   string
		path string
		code int
		want string
	}{
		"all logs, with manifests":           {"anna", "/clusters/" + f.cluster + "/logs?logs_type=all", 200, "user=anna operation=V2DownloadClusterLogs"},
		"what a minimal image starts with":   {"anna", "/infra-envs/" + f.env + "/downloads/minimal-initrd", 400, "user=anna operation=DownloadMinimalInitrd"},
		"a list of manifests":                {"anna", "/clusters/" + f.cluster + "/manifests", 200, ""},
		"a list of manifests, refused":       {"bert", "/clusters/" + f.cluster + "/manifests", 403, "user=bert operation=V2ListClusterManifests"},
		"what one who only reads may not do": {"bert", "/clusters/" + f.cluster + "/downloads/credentials?file_name=kubeconfig", 403, "user=bert operation=V2DownloadClusterCredentials"},
		"a cluster":                          {"bert", "/clusters/" + f.cluster, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			log.Reset()
			code, raw := f.person(tc.by).Do(t, "GET", tc.path, nil, nil)
			g.Expect(code).To(Equal(tc.code), raw)
			if tc.want == "" {
				g.Expect(log.String()).NotTo(ContainSubstring("a user's request"))
				return
			}
			g.Expect(log.String()).To(And(ContainSubstring(tc.want), ContainSubstring(fmt.Sprintf("code=%d", tc.code))))
		})
	}
}

// TestAnOpenHubSaysSo in each answer, and in its log whenever it starts.
func TestAnOpenHubSaysSo(t *testing.T) {
	for name, tc := range map[string]struct {
		open bool
		want string
	}{"without authentication": {true, "none"}, "with tokens": {false, ""}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var log strings.Builder
			hub := testhub.Start(t, testhub.Options{NoAuth: tc.open, API: func(o *rest.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) }})
			for _, path := range []string{"/health", "/nothing", rest.Base + "/v2/clusters", rest.Base + "/v2/infra-envs/x"} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, hub.URL+path, nil)
				g.Expect(err).NotTo(HaveOccurred())
				answer, err := hub.Client().Do(r)
				g.Expect(err).NotTo(HaveOccurred())
				_ = answer.Body.Close()
				g.Expect(answer.Header.Get("Ironflow-Auth")).To(Equal(tc.want), path)
			}
			g.Expect(strings.Contains(log.String(), "the hub is open to everybody")).To(Equal(tc.open), log.String())
		})
	}
}
