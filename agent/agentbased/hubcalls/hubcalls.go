// Package hubcalls is the part of the hub's REST API that the units of an agent-based
// install use: they look at cluster and hosts, start installations and add events. The
// agent has its own client. The main type is [Hub], whose calls are single tries with a
// deadline; who calls has the patience.
package hubcalls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	apiPrefix = "/api/assisted-install/v2"
	deadline  = 30 * time.Second
	// maxBody bounds an answer.
	maxBody = 16 << 20
	// headerWatcher carries the token of those who only look.
	headerWatcher = "Watcher-Authorization"
)

// Hub is the hub of this installation.
type Hub struct {
	base                 string
	user, agent, watcher string
	http                 *http.Client
}

// ErrNoURL means that the settings do not say yet where the hub is.
var ErrNoURL = errors.New(places.ServiceBaseURL + " is not set in " + places.RendezvousHost)

// New returns the hub that the settings name, with the tokens in them.
func New(dir hostfile.Dir, settings map[string]string) (*Hub, error) {
	text := settings[places.ServiceBaseURL]
	if text == "" {
		return nil, ErrNoURL
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%s %q in %s: want http(s)://HOST[:PORT]/", places.ServiceBaseURL, text, places.RendezvousHost)
	}
	ca := ""
	if places.Exists(dir, hostfile.HubCA) {
		ca = hostfile.HubCA
	}
	roots, err := hosthttp.Roots(dir, ca)
	if err != nil {
		return nil, err
	}
	return &Hub{
		base: strings.TrimSuffix(u.String(), "/") + apiPrefix,
		user: settings[places.UserToken], agent: settings[places.AgentToken], watcher: settings[places.WatcherToken],
		http: &http.Client{
			Transport: hosthttp.Transport(roots, false),
			// The tokens would follow a redirect to any host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close drops idle connections.
func (h *Hub) Close() { h.http.CloseIdleConnections() }

// Clusters lists the clusters with their hosts.
func (h *Hub) Clusters(ctx context.Context) (clusters []wire.Cluster, err error) {
	return clusters, h.do(ctx, http.MethodGet, "/clusters?with_hosts=true", nil, http.StatusOK, &clusters)
}

// InfraEnvs lists the infra-envs.
func (h *Hub) InfraEnvs(ctx context.Context) (envs []wire.InfraEnv, err error) {
	return envs, h.do(ctx, http.MethodGet, "/infra-envs", nil, http.StatusOK, &envs)
}

// Hosts lists the hosts of an infra-env.
func (h *Hub) Hosts(ctx context.Context, infraEnv string) (hosts []wire.Host, err error) {
	return hosts, h.do(ctx, http.MethodGet, "/infra-envs/"+url.PathEscape(infraEnv)+"/hosts", nil, http.StatusOK, &hosts)
}

// InstallCluster starts the installation of the cluster.
func (h *Hub) InstallCluster(ctx context.Context, cluster string) error {
	return h.do(ctx, http.MethodPost, "/clusters/"+url.PathEscape(cluster)+"/actions/install", nil, http.StatusAccepted, nil)
}

// InstallHost starts the installation of one host for a cluster that runs.
func (h *Hub) InstallHost(ctx context.Context, infraEnv, host string) error {
	path := "/infra-envs/" + url.PathEscape(infraEnv) + "/hosts/" + url.PathEscape(host) + "/actions/install"
	return h.do(ctx, http.MethodPost, path, nil, http.StatusAccepted, nil)
}

// AddEvent adds an event.
func (h *Hub) AddEvent(ctx context.Context, e wire.Event) error {
	return h.do(ctx, http.MethodPost, "/events", e, http.StatusCreated, nil)
}

// do is one exchange.
func (h *Hub) do(ctx context.Context, method, path string, in any, want int, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deadline, hubclient.ErrTimeout)
	defer cancel()
	place, _, _ := strings.Cut(path, "?")
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode the request %s %s: %w", method, place, err)
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, h.base+path, body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, place, err)
	}
	h.authorize(req, in != nil)
	resp, err := h.http.Do(req)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return fmt.Errorf("hub unreachable (%s %s): %w", method, place, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return fmt.Errorf("hub unreachable (%s %s): %w", method, place, err)
	case resp.StatusCode != want:
		return &hubclient.StatusError{Method: method, Path: place, Code: resp.StatusCode, Reason: reason(raw)}
	case len(raw) > maxBody:
		return fmt.Errorf("the hub's answer to %s %s is larger than %d MiB", method, place, maxBody>>20)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("the hub's answer to %s %s cannot be read: %w", method, place, err)
	}
	return nil
}

// authorize gives the request one token: an agent's for what agents do (events), else the
// user's, else the watcher's, who may look.
func (h *Hub) authorize(req *http.Request, asAgent bool) {
	req.Header.Set("Accept", "application/json")
	switch {
	case asAgent:
		req.Header.Set("Content-Type", "application/json")
		if h.agent != "" {
			req.Header.Set(wire.HeaderAgentToken, h.agent)
		}
	case h.user != "":
		req.Header.Set("Authorization", h.user)
	case h.watcher != "":
		req.Header.Set(headerWatcher, h.watcher)
	}
}

// maxReason bounds what is quoted of an answer.
const maxReason = 512

func reason(raw []byte) string {
	text := string(raw)
	var hub wire.Error
	var auth wire.InfraError
	switch {
	case json.Unmarshal(raw, &hub) == nil && hub.Reason != "":
		text = hub.Reason
	case json.Unmarshal(raw, &auth) == nil && auth.Message != "":
		text = auth.Message
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " …"
	}
	return text
}
