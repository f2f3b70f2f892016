// Package apivip is the step api-vip-connectivity-check: whether the API of a cluster
// gives this host its Ignition.
package apivip

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// dryIgnition is the smallest Ignition that a pretended API gives out.
const dryIgnition = `{"ignition":{"version":"3.2.0"}}`

// Check asks the cluster's API for the host's Ignition (day 2).
var Check = probe.Check[wire.APIVIPConnectivityRequest]{
	Deadline: time.Minute,
	Validate: func(r wire.APIVIPConnectivityRequest) error { return probe.CheckURL("url", r.URL) },
	Real:     probe.NotYet[wire.APIVIPConnectivityRequest],
	Dry: func(_ context.Context, _ probe.Env, r wire.APIVIPConnectivityRequest) steps.Result {
		return steps.JSON(wire.APIVIPConnectivityResponse{IsSuccess: true, URL: r.URL, Ignition: dryIgnition})
	},
}
