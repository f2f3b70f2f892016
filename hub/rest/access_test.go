package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/pages"
)

// bearer is one who calls, with what is its own and what is another's.
type bearer struct {
	name         string
	call         *testhub.Caller
	own, foreign *fixture
}

// What an operation is for a bearer.
const (
	never  = "-"   // it is refused, whatever it is about
	itsOwn = "own" // what is another's does not exist for it
	always = "yes"
)

// access tells what the operation is for the bearer.
func (b bearer) access(t *testing.T, op protocol.Operation) string {
	t.Helper()
	own, foreign := b.lets(t, op, b.own), b.lets(t, op, b.foreign)
	switch {
	case own && foreign:
		return always
	case own:
		return itsOwn
	}
	NewWithT(t).Expect(foreign).To(BeFalse(), "%s opens to %s what is another's, and not its own", op.ID, b.name)
	return never
}

// lets tells whether the operation is done, or refused for another reason than for who asks.
func (b bearer) lets(t *testing.T, op protocol.Operation, on *fixture) bool {
	t.Helper()
	body := map[string]any{}
	switch op.ID {
	case "v2RegisterHost":
		body["host_id"] = on.host.HostID
	case "v2TriggerEvent": // names what it is about in its body
		body = map[string]any{
			"name": wire.EventSigningApproved, "message": "x", "severity": "info", "event_time": wire.At(time.Now()), "infra_env_id": on.env, "host_id": on.host.HostID,
			"props": `{"request":"csr-1","type":"client"}`,
		}
	}
	call := b.call
	if op.ID == "v2ListEvents" {
		call = call.WithQuery("infra_env_id", on.env).WithQuery("cluster_id", on.cluster)
	}
	code, raw := call.Do(t, op.Method, strings.TrimPrefix(on.path(op.Path), "/v2"), body, nil)
	if code == http.StatusUnauthorized || code == http.StatusForbidden {
		return false
	}
	hidden := slices.ContainsFunc([]string{"there is no infra-env", "there is no cluster", "is not registered in infra-env", "this token opens the events of"}, func(text string) bool {
		return strings.Contains(raw, text)
	})
	return code != http.StatusNotFound || !hidden
}

// another is another host of the hub that is being installed, in the infra-env or in one of its own.
func (f *fixture) another(t *testing.T, env, token string, seed int) *fixture {
	t.Helper()
	out := &fixture{Hub: f.Hub, env: env, token: token, host: store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}}
	out.agent = f.Agent(token).Exchange(t, out.host)
	out.agent.UntilInstall(t, out.host, testhub.Inventory(seed))
	out.agent.Progress(t, out.host, wire.HostStageInstalling, "")
	view, _, err := f.View(t.Context(), out.host)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	out.cluster = view.ClusterID
	return out
}

// madeBy are a cluster and an infra-env that the user makes, with a host.
func (f *fixture) madeBy(t *testing.T, user *testhub.Caller, name string) *fixture {
	t.Helper()
	g := NewWithT(t)
	var cluster wire.Cluster
	code, raw := user.Do(t, "POST", "/clusters", wire.ClusterCreateParams{Name: name, BaseDNSDomain: "example.com", PullSecret: pullSecret}, &cluster)
	g.Expect(code).To(Equal(201), raw)
	var env wire.InfraEnv
	code, raw = user.Do(t, "POST", "/infra-envs", wire.InfraEnvCreateParams{Name: name, PullSecret: pullSecret, ClusterID: &cluster.ID}, &env)
	g.Expect(code).To(Equal(201), raw)
	token, err := f.AgentToken(t.Context(), env.ID)
	g.Expect(err).NotTo(HaveOccurred())
	out := &fixture{Hub: f.Hub, env: env.ID, token: token, cluster: cluster.ID, host: store.HostKey{InfraEnvID: env.ID, HostID: uuid.NewString()}}
	out.agent = f.Agent(token).Exchange(t, out.host)
	return out
}

// phases are the operations in an order in which each finds what it is about: what removes
// something comes last, and a cluster and an infra-env at the very end.
func phases(operations []protocol.Operation) [][]protocol.Operation {
	out := make([][]protocol.Operation, 4)
	for _, op := range operations {
		n := 0
		switch {
		case op.Method != http.MethodDelete:
		case strings.Contains(op.Path, "{host_id}"):
			n = 2
		case strings.HasSuffix(op.Path, "}"):
			n = 3
		default:
			n = 1
		}
		out[n] = append(out[n], op)
	}
	return out
}

// TestWhoMayDoWhat asks for every operation of the protocol, with each kind of token, for
// what is its own and for what is another's. The table of the manual is what came out: the
// same for the hub's own tokens, and for those of a key pair.
func TestWhoMayDoWhat(t *testing.T) {
	for name, change := range map[string]func(*testhub.Options){
		"the hub's own tokens": func(*testhub.Options) {},
		"tokens of a key pair": func(o *testhub.Options) { o.Pair = newSigner(t).pair(t) },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := newFixture(t, change) // its agent has taken no token of its own
			bearers, nobody := f.bearers(t)
			operations, err := protocol.Operations()
			g.Expect(err).NotTo(HaveOccurred())
			rows := ask(t, operations, nobody, bearers)
			pages.Generated{Root: "../..", Page: "hub.md", Package: "./hub/rest", Update: *update}.Hold(t, "access", accessTable(operations, bearers, rows))
		})
	}
}

// bearers are those who have tokens of the hub, and those who have none that is good.
func (f *fixture) bearers(t *testing.T) (bearers, nobody []bearer) {
	t.Helper()
	g := NewWithT(t)
	otherEnv, otherToken := f.InfraEnv(t, "another")
	elsewhere := f.another(t, otherEnv, otherToken, 8)
	neighbour := f.another(t, f.env, f.token, 9)
	text, err := f.MachineToken(t.Context(), f.env, "02:00:00:00:00:0a")
	g.Expect(err).NotTo(HaveOccurred())
	images, err := f.ImageToken(t.Context(), f.env)
	g.Expect(err).NotTo(HaveOccurred())
	revoked, err := clusterCaller(f.Hub, f.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = f.RevokeClusterToken(t.Context(), f.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	inside, err := clusterCaller(f.Hub, f.cluster)
	g.Expect(err).NotTo(HaveOccurred())
	nobody = []bearer{
		{"nobody", f.Agent(""), f, elsewhere},
		{"a program whose token is revoked", revoked, f, elsewhere},
		{"a forged agent's token", f.Agent(f.token + "x"), f, elsewhere},
		{"a forged user's token", f.User().With("Authorization", "Bearer "+f.UserToken+"x"), f, elsewhere},
		{"an agent's token as a user's", f.User().With("Authorization", "Bearer "+f.token), f, elsewhere},
	}
	bearers = []bearer{
		{"agent, token of an infra-env", f.Agent(f.token), f, elsewhere},
		{"agent, token of a host", neighbour.agent, neighbour, f},
		{"agent, token of a machine that has not registered", f.Agent(text), f, elsewhere},
		{"program in a cluster", inside, f, neighbour},
		{"images", f.Agent("").With("Image-Token", images), f, elsewhere},
		{"user: the one token", f.User(), f.madeBy(t, f.User(), "one"), f.madeBy(t, f.User(), "two")},
		{"user: admin", f.person("anna"), f.madeBy(t, f.User(), "three"), f.madeBy(t, f.person("dora"), "four")},
		{"user: read-only-admin", f.person("bert"), f.madeBy(t, f.User(), "five"), f.madeBy(t, f.person("dora"), "six")},
		{"user: user", f.person("cleo"), f.madeBy(t, f.person("cleo"), "seven"), f.madeBy(t, f.person("dora"), "eight")},
	}
	return bearers, nobody
}

// ask tries each operation by each bearer, and returns what it is for them, by operation.
// It is never for one of nobody.
func ask(t *testing.T, operations []protocol.Operation, nobody, bearers []bearer) map[string][]string {
	t.Helper()
	rows := map[string][]string{}
	for _, phase := range phases(operations) {
		for n, b := range slices.Concat(nobody, bearers) {
			for _, op := range phase {
				access := b.access(t, op)
				if n < len(nobody) {
					NewWithT(t).Expect(access).To(Equal(never), "%s by %s", op.ID, b.name)
					continue
				}
				rows[op.ID] = append(rows[op.ID], access)
			}
		}
	}
	return rows
}

// accessTable has a row for each operation and a column for each bearer.
func accessTable(operations []protocol.Operation, bearers []bearer, rows map[string][]string) string {
	var table strings.Builder
	table.WriteString("| operation |")
	for _, b := range bearers {
		table.WriteString(" " + b.name + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(bearers)) + "\n")
	for _, op := range operations {
		fmt.Fprintf(&table, "| %s | %s |\n", op.ID, strings.Join(rows[op.ID], " | "))
	}
	return table.String()
}
