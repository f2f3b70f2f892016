//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/program"
)

// userToken is that of the one user of each hub.
const userToken = "the-user-of-this-test"

// pullSecret is in the form that the hub asks for, and opens nothing.
const pullSecret = `{"auths":{"registry.example":{"auth":"dXNlcjpub3RoaW5n"}}}`

// connect gives the user the hub's address.
func (w *world) connect(url, ca string) {
	w.Helper()
	var err error
	w.user, err = program.NewUser(url, ca, userToken)
	w.Expect(err).NotTo(HaveOccurred())
	w.Cleanup(w.user.Close)
}

// do is a user's call, which must succeed; what may pass is repeated, as clients do.
func (w *world) do(method, path string, in, out any) {
	w.Helper()
	w.as(w.user, method, path, in, out)
}

// as is the same call of somebody else.
func (w *world) as(who *program.User, method, path string, in, out any) {
	w.Helper()
	ctx, end := context.WithTimeout(w.Context(), patience)
	defer end()
	w.Expect(who.Do(ctx, method, path, in, out)).To(Succeed())
}

// pool is an infra-env.
type pool struct {
	id, token string
	agents    []*agent
}

// newPool makes an infra-env, whose hosts belong to the cluster, if there is one.
func (w *world) newPool(cluster string) *pool {
	w.Helper()
	params := wire.InfraEnvCreateParams{Name: "pool-" + cluster, PullSecret: pullSecret}
	if cluster != "" {
		params.ClusterID = &cluster
	}
	var env wire.InfraEnv
	w.do(http.MethodPost, "/infra-envs", params, &env)
	token, err := w.hub.AgentToken(env.ID)
	w.Expect(err).NotTo(HaveOccurred())
	return &pool{id: env.ID, token: token}
}

const apiVIP, ingressVIP = "198.51.100.3", "198.51.100.4"

// newCluster makes a cluster with that many hosts in its control plane.
func (w *world) newCluster(masters int64) (id string) {
	w.Helper()
	params := wire.ClusterCreateParams{
		Name: "edge", BaseDNSDomain: "example", OpenshiftVersion: version, OcpReleaseImage: "registry.example/release:" + version,
		PullSecret: pullSecret, ControlPlaneCount: &masters,
	}
	if masters == 1 { // one that was installed in place has no server for hosts that join; nobody fetches from it in dry run
		params.IgnitionEndpoint = &wire.IgnitionEndpoint{URL: new("https://api-int.edge.example:22623/config")}
	}
	if masters > 1 {
		params.APIVIPs, params.IngressVIPs = []wire.APIVIP{{IP: apiVIP}}, []wire.IngressVIP{{IP: ingressVIP}}
	}
	var cluster wire.Cluster
	w.do(http.MethodPost, "/clusters", params, &cluster)
	return cluster.ID
}

func (w *world) cluster(id string) (c wire.Cluster) {
	w.Helper()
	w.do(http.MethodGet, "/clusters/"+id, nil, &c)
	return c
}

func (w *world) hosts(p *pool) (all []wire.Host) {
	w.Helper()
	w.do(http.MethodGet, "/infra-envs/"+p.id+"/hosts", nil, &all)
	return all
}

// until waits until all hosts of the pool have that status.
func (w *world) until(p *pool, status string) {
	w.Helper()
	w.Eventually(func() []string {
		var found []string
		for _, h := range w.hosts(p) {
			found = append(found, h.Status)
		}
		return found
	}, patience, look).Should(And(HaveLen(len(p.agents)), HaveEach(status)), "%s", story{w, p})
}

func (w *world) untilCluster(p *pool, id, status string) {
	w.Helper()
	w.Eventually(func() string { return w.cluster(id).Status }, patience, look).Should(Equal(status), "%s", story{w, p})
}

// over are the statuses of a cluster that is installed. One that a resource describes takes more hosts at once.
var over = []string{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts}

func (w *world) untilOver(p *pool, id string) {
	w.Helper()
	w.Eventually(func() string { return w.cluster(id).Status }, patience, look).Should(BeElementOf(over), "%s", story{w, p})
}

// install asks for the installation once the cluster is ready.
func (w *world) install(p *pool, id string) {
	w.Helper()
	w.untilCluster(p, id, wire.ClusterStatusReady)
	w.do(http.MethodPost, "/clusters/"+id+"/actions/install", nil, nil)
}

// story is what happened, for a test that fails.
type story struct {
	w *world
	p *pool
}

func (s story) String() string {
	var events wire.EventList
	s.w.do(http.MethodGet, "/events?infra_env_id="+s.p.id, nil, &events)
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintln(&b, e.EventTime, e.Severity, e.Message)
	}
	for _, h := range s.w.hosts(s.p) {
		fmt.Fprintln(&b, h.ID, h.Status, h.StatusInfo)
	}
	return b.String()
}
