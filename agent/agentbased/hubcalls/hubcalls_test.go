package hubcalls_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/hubcalls"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestCallsOnTheWire compares the calls with the protocol's, written by hand.
func TestCallsOnTheWire(t *testing.T) {
	const env, host = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	const prefix = "/api/assisted-install/v2"
	var seen string
	status, answer := 200, "[]"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		seen = r.Method + " " + r.URL.String() + " " + r.Header.Get("Authorization") + "|" + r.Header.Get("Watcher-Authorization") + "|" + r.Header.Get("X-Secret-Key") + " " + string(raw)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	all := map[string]string{"SERVICE_BASE_URL": server.URL + "/", "USER_AUTH_TOKEN": "u", "AGENT_AUTH_TOKEN": "a", "WATCHER_AUTH_TOKEN": "w"}
	looks := map[string]string{"SERVICE_BASE_URL": server.URL, "WATCHER_AUTH_TOKEN": "w"}
	for _, tc := range []struct {
		name     string
		settings map[string]string
		status   int
		answer   string
		call     func(h *hubcalls.Hub) error
		want     string
	}{
		{"clusters", all, 200, "[]", func(h *hubcalls.Hub) error { _, err := h.Clusters(t.Context()); return err }, "GET " + prefix + "/clusters?with_hosts=true u|| "},
		{"infra-envs by a watcher", looks, 200, "[]", func(h *hubcalls.Hub) error { _, err := h.InfraEnvs(t.Context()); return err }, "GET " + prefix + "/infra-envs |w| "},
		{"hosts", all, 200, "[]", func(h *hubcalls.Hub) error { _, err := h.Hosts(t.Context(), env); return err }, "GET " + prefix + "/infra-envs/" + env + "/hosts u|| "},
		{"install", all, 202, "{}", func(h *hubcalls.Hub) error { return h.InstallCluster(t.Context(), env) }, "POST " + prefix + "/clusters/" + env + "/actions/install u|| "},
		{
			"install a host", all, 202, "{}", func(h *hubcalls.Hub) error { return h.InstallHost(t.Context(), env, host) },
			"POST " + prefix + "/infra-envs/" + env + "/hosts/" + host + "/actions/install u|| ",
		},
		{"event", all, 201, "", func(h *hubcalls.Hub) error {
			return h.AddEvent(t.Context(), wire.Event{Message: "m", Severity: "info", Name: "n"})
		}, "POST " + prefix + "/events ||a " + `{"event_time":"0001-01-01T00:00:00.000Z","message":"m","name":"n","severity":"info"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			status, answer = tc.status, tc.answer
			h, err := hubcalls.New(hostfile.Dir{}, tc.settings)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(tc.call(h)).To(Succeed())
			g.Expect(seen).To(Equal(tc.want))

			status, answer = 409, `{"kind":"Error","reason":"not   yet"}`
			err = tc.call(h)
			g.Expect(hubclient.Code(err)).To(Equal(409))
			g.Expect(err).To(MatchError(ContainSubstring("not yet")))
			g.Expect(err.Error()).NotTo(ContainSubstring("Authorization"))
		})
	}
}

func TestWhereTheHubIs(t *testing.T) {
	g := NewWithT(t)
	_, err := hubcalls.New(hostfile.Dir{}, nil)
	g.Expect(err).To(MatchError(hubcalls.ErrNoURL))
	_, err = hubcalls.New(hostfile.Dir{}, map[string]string{"SERVICE_BASE_URL": "192.0.2.1:8090"})
	g.Expect(err).To(MatchError(And(ContainSubstring("SERVICE_BASE_URL"), ContainSubstring("want http(s)://HOST[:PORT]"))))
}
