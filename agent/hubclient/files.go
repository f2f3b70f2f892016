package hubclient

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/ironflow/ironflow/hub/wire"
)

// HostIgnition fetches what the host's installed system starts with (GET
// /infra-env/{id}/hosts/{id}/downloads/ignition, 200; infra-env in the singular).
func (c *Client) HostIgnition(ctx context.Context, h Host) ([]byte, error) {
	return c.file(ctx, "/infra-env/"+url.PathEscape(h.InfraEnvID)+"/hosts/"+url.PathEscape(h.HostID)+"/downloads/ignition", nil)
}

// ClusterFile fetches a file of the cluster, such as bootstrap.ign (GET
// /clusters/{id}/downloads/files?file_name=NAME, 200).
func (c *Client) ClusterFile(ctx context.Context, clusterID, name string) ([]byte, error) {
	return c.file(ctx, "/clusters/"+url.PathEscape(clusterID)+"/downloads/files", url.Values{"file_name": {name}})
}

// ClusterHosts lists the hosts of the cluster as the hub sees them (GET
// /clusters/{id}/hosts, 200).
func (c *Client) ClusterHosts(ctx context.Context, clusterID string) ([]wire.Host, error) {
	return c.clusterHosts(ctx, clusterID, nil)
}

// ClusterInventories is [Client.ClusterHosts] with the hosts' inventories, some
// ten KiB each: too much to ask for where nobody looks at them.
func (c *Client) ClusterInventories(ctx context.Context, clusterID string) ([]wire.Host, error) {
	return c.clusterHosts(ctx, clusterID, url.Values{"with-inventory": {"true"}})
}

func (c *Client) clusterHosts(ctx context.Context, clusterID string, query url.Values) ([]wire.Host, error) {
	var out []wire.Host
	_, err := c.do(ctx, call{
		method: http.MethodGet, path: "/clusters/" + url.PathEscape(clusterID) + "/hosts", want: http.StatusOK,
		query: query, out: &out,
	})
	return out, err
}

// file fetches a body of at most 16 MiB.
func (c *Client) file(ctx context.Context, path string, query url.Values) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, exchangeTimeout, ErrTimeout)
	defer cancel()
	_, raw, err := c.exchange(ctx, call{
		method: http.MethodGet, path: path, query: query, want: http.StatusOK, header: http.Header{},
	}, nil, "")
	if err != nil {
		return nil, err
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("the hub's answer to GET %s is empty", path)
	}
	return raw, nil
}

// Secret is the agent's token, for those whom it is handed on to: the in-cluster
// controller, and a foreign installer. It must not get into logs or arguments.
func (c *Client) Secret() string { return c.token.get() }
