package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"reflect"
	"strings"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// The files of a running cluster, in their folder; the second need not be there.
const (
	ImportConfigFile   = "import-cluster-config.json"
	WorkerIgnitionFile = "worker-ignition-endpoint.json"
)

// ImportCluster makes a cluster that runs known to the hub, so that hosts can be added, and
// says how they reach it.
func (c *Client) ImportCluster(ctx context.Context) error {
	s := c.Settings
	if err := errors.Join(isUUID(clusterIDEnv, s.ClusterID), required(clusterNameEnv, s.ClusterName, "the running cluster's name"),
		required(clusterAPIEnv, s.ClusterAPI, "the name or address of its API")); err != nil {
		return err
	}
	update, err := ReadRunning(c.Dir, s.ClusterConfig)
	if err != nil {
		return err
	}
	cluster, err := c.cluster(ctx)
	switch {
	case err != nil:
		return err
	case cluster == nil:
		cluster = &wire.Cluster{}
		err := c.Hub.Do(ctx, hubclient.Request{
			Method: http.MethodPost, Path: "/clusters/import", Out: cluster, Want: http.StatusCreated,
			In: wire.ImportClusterParams{Name: s.ClusterName, APIVIPDnsname: s.ClusterAPI, OpenshiftClusterID: s.ClusterID},
		})
		if err != nil {
			return fmt.Errorf("import cluster %s: %w", s.ClusterName, err)
		}
		c.Log.Info("the cluster is imported", "cluster", cluster.Name, "id", cluster.ID)
	case !strings.EqualFold(cluster.OpenshiftClusterID, s.ClusterID):
		return fmt.Errorf("the hub has cluster %s with id %q already, and %s is %s: remove that cluster, or correct the variable",
			cluster.Name, cluster.OpenshiftClusterID, clusterIDEnv, s.ClusterID)
	default:
		c.Log.Info("the cluster is imported already", "cluster", cluster.Name, "id", cluster.ID)
	}
	if has(cluster, update) {
		return nil
	}
	err = c.Hub.Do(ctx, hubclient.Request{Method: http.MethodPatch, Path: clusterPath(cluster.ID, ""), In: update, Want: http.StatusCreated})
	if err != nil {
		return fmt.Errorf("settings of cluster %s: %w", s.ClusterName, err)
	}
	return nil
}

func required(name, value, want string) error {
	if value == "" {
		return bad(name, value, want)
	}
	return nil
}

// has tells whether the cluster has the settings.
func has(c *wire.Cluster, u wire.V2ClusterUpdateParams) bool {
	return (u.UserManagedNetworking == nil || reflect.DeepEqual(u.UserManagedNetworking, c.UserManagedNetworking)) &&
		(u.IgnitionEndpoint == nil || reflect.DeepEqual(u.IgnitionEndpoint, c.IgnitionEndpoint))
}

// ReadRunning reads the files of the running cluster, which lie in a folder below dir.
func ReadRunning(dir hostfile.Dir, folder string) (wire.V2ClusterUpdateParams, error) {
	var out wire.V2ClusterUpdateParams
	var config struct {
		Networking struct {
			UserManagedNetworking *bool `json:"userManagedNetworking"`
		} `json:"networking"`
	}
	err := strictJSON(dir, path.Join(folder, ImportConfigFile), &config)
	var endpoint wire.IgnitionEndpoint
	switch missing := strictJSON(dir, path.Join(folder, WorkerIgnitionFile), &endpoint); {
	case errors.Is(missing, fs.ErrNotExist):
	case missing != nil:
		err = errors.Join(err, missing)
	case wire.Value(endpoint.URL) == "":
		err = errors.Join(err, fmt.Errorf("%s: url is missing: write where workers get their Ignition, such as https://192.0.2.5:22623/config/worker", WorkerIgnitionFile))
	default:
		out.IgnitionEndpoint = &endpoint
	}
	out.UserManagedNetworking = config.Networking.UserManagedNetworking
	return out, err
}

// strictJSON reads a file of one JSON object.
func strictJSON(dir hostfile.Dir, file string, into any) error {
	raw, err := os.ReadFile(dir.Path(file))
	if err != nil {
		return fmt.Errorf("file of the running cluster: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%s: want a JSON object: %w", file, err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: there is more behind the JSON object: take it away", file)
	}
	return nil
}
