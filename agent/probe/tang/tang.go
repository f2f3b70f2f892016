// Package tang is the step tang-connectivity-check: whether the Tang servers that
// this host's disks shall be bound to give out their keys. The protocol is
// Tang's: GET URL/adv/THUMBPRINT returns a signed list of keys (a JWS, RFC 7515).
package tang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// maxServers bounds the servers of one step.
const maxServers = 64

// server is one of the request's servers.
type server struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// thumbprint is a hash in base64url, RFC 7638.
var thumbprint = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// Check asks the Tang servers for their keys. One that fails fails the step;
// hubs show the text of all reasons.
var Check = probe.Check[[]server]{
	Deadline: time.Minute,
	Decode: func(args []string) ([]server, error) {
		r, err := steps.Decode[wire.TangConnectivityRequest](args)
		if err != nil {
			return nil, err
		}
		var servers []server
		if err := json.Unmarshal([]byte(r.TangServers), &servers); err != nil {
			return nil, fmt.Errorf("tang_servers is not a JSON list in a string: %w", err)
		}
		return servers, nil
	},
	Validate: func(servers []server) error {
		if len(servers) > maxServers {
			return fmt.Errorf("%d servers are more than %d", len(servers), maxServers)
		}
		var errs []error
		for i, s := range servers {
			errs = append(errs, probe.CheckURL(fmt.Sprintf("server %d: url", i), s.URL))
			if !thumbprint.MatchString(s.Thumbprint) {
				errs = append(errs, fmt.Errorf("server %d: %q is not a thumbprint", i, s.Thumbprint))
			}
		}
		return errors.Join(errs...)
	},
	Real: func(ctx context.Context, env probe.Env, servers []server) steps.Result {
		advertisements, err := askAll(ctx, env.HTTP, servers)
		if err != nil {
			return steps.Result{Exit: steps.ExitBad, Output: `{"tang_server_response":null}`, Error: err.Error()}
		}
		return steps.JSON(wire.TangConnectivityResponse{IsSuccess: true, TangServerResponse: advertisements})
	},
	Dry: func(_ context.Context, _ probe.Env, servers []server) steps.Result {
		out := wire.TangConnectivityResponse{IsSuccess: true, TangServerResponse: []wire.TangConnectivityResponseTangServerResponse{}}
		for _, s := range servers {
			out.TangServerResponse = append(out.TangServerResponse, wire.TangConnectivityResponseTangServerResponse{TangURL: s.URL})
		}
		return steps.JSON(out)
	},
}
