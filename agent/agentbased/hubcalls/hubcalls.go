// Package hubcalls is the part of the hub's REST API that the units of an agent-based
// install use: they look at cluster and hosts, start installations and add events, each
// with the token of its role. The main type is [Hub], whose calls are single tries with a
// deadline; who calls has the patience.
package hubcalls

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// deadline is shorter than the client's: the units look again soon.
	deadline = 30 * time.Second
	// headerWatcher carries the token of those who only look.
	headerWatcher = "Watcher-Authorization"
)

// Hub is the hub of this installation.
type Hub struct {
	client               *hubclient.Client
	user, agent, watcher string
}

// ErrNoURL means that the settings do not say yet where the hub is.
var ErrNoURL = errors.New(places.ServiceBaseURL + " is not set in " + places.RendezvousHost)

// New returns the hub that the settings name, with the tokens in them.
func New(dir hostfile.Dir, settings map[string]string) (*Hub, error) {
	base := settings[places.ServiceBaseURL]
	if base == "" {
		return nil, ErrNoURL
	}
	o := hubclient.Options{URL: base, Dir: dir}
	if places.Exists(dir, hostfile.HubCA) {
		o.CAFile = hostfile.HubCA
	}
	client, err := hubclient.New(o)
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", places.ServiceBaseURL, places.RendezvousHost, err)
	}
	return &Hub{client: client, user: settings[places.UserToken], agent: settings[places.AgentToken], watcher: settings[places.WatcherToken]}, nil
}

// Close drops idle connections.
func (h *Hub) Close() { h.client.Close() }

// Clusters lists the clusters with their hosts.
func (h *Hub) Clusters(ctx context.Context) (clusters []wire.Cluster, err error) {
	return clusters, h.do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/clusters", Query: url.Values{"with_hosts": {"true"}}, Out: &clusters})
}

// InfraEnvs lists the infra-envs.
func (h *Hub) InfraEnvs(ctx context.Context) (envs []wire.InfraEnv, err error) {
	return envs, h.do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/infra-envs", Out: &envs})
}

// Hosts lists the hosts of an infra-env.
func (h *Hub) Hosts(ctx context.Context, infraEnv string) (hosts []wire.Host, err error) {
	return hosts, h.do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/infra-envs/" + url.PathEscape(infraEnv) + "/hosts", Out: &hosts})
}

// InstallCluster starts the installation of the cluster.
func (h *Hub) InstallCluster(ctx context.Context, cluster string) error {
	return h.do(ctx, hubclient.Request{Method: http.MethodPost, Path: "/clusters/" + url.PathEscape(cluster) + "/actions/install", Want: http.StatusAccepted})
}

// InstallHost starts the installation of one host for a cluster that runs.
func (h *Hub) InstallHost(ctx context.Context, infraEnv, host string) error {
	path := "/infra-envs/" + url.PathEscape(infraEnv) + "/hosts/" + url.PathEscape(host) + "/actions/install"
	return h.do(ctx, hubclient.Request{Method: http.MethodPost, Path: path, Want: http.StatusAccepted})
}

// AddEvent adds an event.
func (h *Hub) AddEvent(ctx context.Context, e wire.Event) error {
	return h.do(ctx, hubclient.Request{Method: http.MethodPost, Path: "/events", In: e, Want: http.StatusCreated})
}

// do is one exchange.
func (h *Hub) do(ctx context.Context, r hubclient.Request) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, hubclient.ErrTimeout)
	defer cancel()
	r.Header = h.tokenFor(r)
	return h.client.Do(ctx, r)
}

// tokenFor is one token: an agent's for what agents do (events), else the user's, else the
// watcher's, who may look.
func (h *Hub) tokenFor(r hubclient.Request) http.Header {
	header := http.Header{}
	switch {
	case r.In != nil:
		if h.agent != "" {
			header.Set(wire.HeaderAgentToken, h.agent)
		}
	case h.user != "":
		header.Set("Authorization", h.user)
	case h.watcher != "":
		header.Set(headerWatcher, h.watcher)
	}
	return header
}
