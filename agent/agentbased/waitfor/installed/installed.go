// Package installed asks a cluster that was installed by agents what it is at, by its own API:
// the hub that installed it went away with its bootstrap host. The main type is [Cluster].
package installed

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/ironflow/ironflow/agent/agentbased/waitfor"
	"github.com/ironflow/ironflow/cluster/kube"
)

// API reads the cluster's objects; see [kube.Client].
type API interface {
	Get(ctx context.Context, path string, out any) error
}

// Cluster implements [waitfor.Cluster].
type Cluster struct {
	API API
	// Nodes is how many a cluster without an operator for its version is to have; zero
	// takes the hosts that the hub knew.
	Nodes int
}

// condition is one of an object's.
type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func find(all []condition, kind string) condition {
	i := slices.IndexFunc(all, func(c condition) bool { return c.Type == kind })
	if i < 0 {
		return condition{Status: "Unknown"}
	}
	return all[i]
}

// State implements [waitfor.Cluster]: a cluster with an operator for its version is installed
// when that is available, another one when all of its nodes are Ready.
func (c Cluster) State(ctx context.Context, hosts int) (waitfor.State, error) {
	var version struct {
		Status struct {
			Conditions []condition `json:"conditions"`
		} `json:"status"`
	}
	err := c.API.Get(ctx, "/apis/config.openshift.io/v1/clusterversions/version", &version)
	switch {
	case err == nil:
		available, progressing := find(version.Status.Conditions, "Available"), find(version.Status.Conditions, "Progressing")
		if available.Status == "True" {
			return waitfor.State{Up: true, Complete: true, Text: "its version is available: " + available.Message}, nil
		}
		return waitfor.State{Up: true, Text: "its version is not available yet: " + progressing.Message}, nil
	case kube.Code(err) != http.StatusNotFound:
		return waitfor.State{}, err
	}
	return c.nodes(ctx, hosts)
}

func (c Cluster) nodes(ctx context.Context, hosts int) (waitfor.State, error) {
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Status struct {
				Conditions []condition `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := c.API.Get(ctx, "/api/v1/nodes", &list); err != nil {
		return waitfor.State{}, err
	}
	want := hosts
	if c.Nodes > 0 {
		want = c.Nodes
	}
	ready, lacking := 0, ""
	for _, n := range list.Items {
		if r := find(n.Status.Conditions, "Ready"); r.Status == "True" {
			ready++
		} else {
			lacking += fmt.Sprintf("; node %s: %s", n.Metadata.Name, r.Message)
		}
	}
	switch {
	case want == 0:
		return waitfor.State{Up: true, Text: fmt.Sprintf("%d nodes are Ready, and how many there are to be is not known: give --nodes%s", ready, lacking)}, nil
	case ready < want:
		return waitfor.State{Up: true, Text: fmt.Sprintf("%d of %d nodes are Ready%s", ready, want, lacking)}, nil
	}
	return waitfor.State{Up: true, Complete: true, Text: fmt.Sprintf("%d nodes are Ready", ready)}, nil
}
