package checks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

func checkURL(name, text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%s %q is not an http(s) URL", name, text)
	}
	return nil
}

// dryIgnition is the smallest Ignition that a pretended API gives out.
const dryIgnition = `{"ignition":{"version":"3.2.0"}}`

// apiVIP asks the cluster's API for the host's Ignition (day 2).
var apiVIP = kind[wire.APIVIPConnectivityRequest]{
	deadline: time.Minute,
	validate: func(r wire.APIVIPConnectivityRequest) error { return checkURL("url", r.URL) },
	dry: func(_ context.Context, _ Env, r wire.APIVIPConnectivityRequest) steps.Result {
		return steps.JSON(wire.APIVIPConnectivityResponse{IsSuccess: true, URL: r.URL, Ignition: dryIgnition})
	},
}

type tangServer struct {
	URL        string `json:"url"`
	Thumbprint string `json:"thumbprint"`
}

// tang asks the Tang servers for their keys.
var tang = kind[[]tangServer]{
	deadline: time.Minute,
	decode: func(args []string) ([]tangServer, error) {
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
	validate: func(servers []tangServer) error {
		var errs []error
		for i, s := range servers {
			errs = append(errs, checkURL(fmt.Sprintf("server %d: url", i), s.URL))
		}
		return errors.Join(errs...)
	},
	dry: func(_ context.Context, _ Env, servers []tangServer) steps.Result {
		out := wire.TangConnectivityResponse{IsSuccess: true, TangServerResponse: []wire.TangConnectivityResponseTangServerResponse{}}
		for _, s := range servers {
			out.TangServerResponse = append(out.TangServerResponse, wire.TangConnectivityResponseTangServerResponse{TangURL: s.URL})
		}
		return steps.JSON(out)
	},
}
