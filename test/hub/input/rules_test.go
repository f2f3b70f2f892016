package input_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// writer sends parts of bodies to where they belong.
type writer struct {
	user *testhub.Caller
	// cluster and host are paths of such.
	cluster, host string
}

// send returns the answer to a request with that part.
func (w writer) send(t *testing.T, of, part string) (int, string) {
	t.Helper()
	var body object
	NewWithT(t).Expect(json.Unmarshal([]byte(part), &body)).To(Succeed(), part)
	method, path, whole := http.MethodPatch, w.host, any(body)
	switch overrides := body["install_config_overrides"]; {
	case of == "infra-env":
		out := env(nil)
		maps.Copy(out, body)
		method, path, whole = http.MethodPost, "/infra-envs", out
	case of == "host" && body["args"] != nil:
		path += "/installer-args"
	case of == "host" && body["config"] != nil:
		path += "/ignition"
	case of == "host":
	case overrides != nil:
		path, whole = w.cluster+"/install-config", overrides
	case body["api_vip_dns_name"] != nil:
		path = w.cluster
	default:
		method, path, whole = http.MethodPost, "/clusters", cluster(body)
	}
	return w.user.Do(t, method, path, whole, nil)
}

// TestTheTableIsWhatTheAPIDoes sends the cases of each rule: what passes is taken, and what
// fails is refused with the field in the answer.
func TestTheTableIsWhatTheAPIDoes(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	w := writer{user: hub.User()}
	var c wire.Cluster
	code, raw := w.user.Do(t, http.MethodPost, "/clusters", cluster(nil), &c)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	var e wire.InfraEnv
	code, raw = w.user.Do(t, http.MethodPost, "/infra-envs", env(object{"cluster_id": c.ID}), &e)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
	token, err := hub.AgentToken(t.Context(), e.ID)
	g.Expect(err).NotTo(HaveOccurred())
	key := store.HostKey{InfraEnvID: e.ID, HostID: "00000000-0000-4000-8000-000000000001"}
	hub.Agent(token).Register(t, key)
	w.cluster, w.host = "/clusters/"+c.ID, "/infra-envs/"+e.ID+"/hosts/"+key.HostID
	for _, row := range input.Table() {
		t.Run(row.Of+" "+row.Fields[0].Member, func(t *testing.T) {
			g := NewWithT(t)
			code, raw := w.send(t, row.Of, row.Bad)
			g.Expect(code).To(Equal(http.StatusBadRequest), "%s: %.300s", row.Bad, raw)
			g.Expect(raw).To(Or(fields(row)...))
			code, raw = w.send(t, row.Of, row.Good)
			g.Expect(code).To(Equal(http.StatusCreated), "%s: %.300s", row.Good, raw)
		})
	}
}

// fields matches an answer that names one of the row's.
func fields(row input.Row) (out []types.GomegaMatcher) {
	for _, f := range row.Fields {
		first, _, _ := strings.Cut(f.Member, ".")
		out = append(out, ContainSubstring(first))
	}
	return out
}

// TestWhatBreaksTheDocumentHasAFormOfItsOwn, and nothing of it is stored.
func TestWhatBreaksTheDocumentHasAFormOfItsOwn(t *testing.T) {
	user := testhub.Start(t, testhub.Options{}).User()
	for name, tc := range map[string]struct {
		body object
		want string
	}{
		"unknown":      {cluster(object{"ssh_key": key}), "ssh_key is unknown"},
		"another kind": {cluster(object{"control_plane_count": "three"}), "want a number"},
		"no value":     {cluster(object{"hyperthreading": "some"}), "want one of"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var said struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			}
			code, raw := user.Do(t, http.MethodPost, "/clusters", tc.body, nil)
			g.Expect(code).To(Equal(http.StatusBadRequest), raw)
			g.Expect(json.Unmarshal([]byte(raw), &said)).To(Succeed())
			g.Expect(said.Code).To(Equal(http.StatusBadRequest))
			g.Expect(said.Message).To(ContainSubstring(tc.want))
		})
	}
	var all []wire.Cluster
	code, raw := user.Do(t, http.MethodGet, "/clusters", nil, &all)
	NewWithT(t).Expect(code).To(Equal(http.StatusOK), raw)
	NewWithT(t).Expect(all).To(BeEmpty())
}

// TestWhatWasTakenOnceIsNoReason: a record of an earlier version holds what is refused now.
func TestWhatWasTakenOnceIsNoReason(t *testing.T) {
	g := NewWithT(t)
	c := &input.Cluster{}
	c.Name, c.SSHPublicKey = "edge", "ssh-rsa AAAA me"
	changed := *c
	changed.Tags = "rack 1"
	g.Expect(input.CheckCluster(c, &changed)).To(Succeed())
	changed.BaseDNSDomain = "example.c"
	g.Expect(input.CheckCluster(c, &changed)).To(MatchError(ContainSubstring("base_dns_domain")))
	changed.BaseDNSDomain, changed.SSHPublicKey = "", "ssh-rsa BBBB me"
	g.Expect(input.CheckCluster(c, &changed)).To(MatchError(ContainSubstring("ssh_public_key")), "another one is as wrong")
}
