// Package tang is the step tang-connectivity-check: whether Tang servers give out their keys.
package tang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

type tangServer struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// Check asks the Tang servers for their keys.
var Check = probe.Check[[]tangServer]{
	Deadline: time.Minute,
	Decode: func(args []string) ([]tangServer, error) {
		r, err := steps.Decode[wire.TangConnectivityRequest](args)
		if err != nil {
			return nil, err
		}
		var servers []tangServer
		if err := json.Unmarshal([]byte(r.TangServers), &servers); err != nil {
			return nil, fmt.Errorf("tang_servers is not a JSON list in a string: %w", err)
		}
		return servers, nil
	},
	Validate: func(servers []tangServer) error {
		var errs []error
		for i, s := range servers {
			errs = append(errs, probe.CheckURL(fmt.Sprintf("server %d: url", i), s.URL))
		}
		return errors.Join(errs...)
	},
	Real: probe.NotYet[[]tangServer],
	Dry: func(_ context.Context, _ probe.Env, servers []tangServer) steps.Result {
		out := wire.TangConnectivityResponse{IsSuccess: true, TangServerResponse: []wire.TangConnectivityResponseTangServerResponse{}}
		for _, s := range servers {
			out.TangServerResponse = append(out.TangServerResponse, wire.TangConnectivityResponseTangServerResponse{TangURL: s.URL})
		}
		return steps.JSON(out)
	},
}
