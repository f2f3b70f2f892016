package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/wire"
)

// RegisterCluster makes the cluster unless it is there, adds its extra manifests and the
// overrides of its install-config, and remembers its id.
func (c *Client) RegisterCluster(ctx context.Context) error {
	files := c.Settings.Files
	files.NMStateConfig, files.HostConfig = "", ""
	if _, err := os.Stat(c.Dir.Path(files.InfraEnv)); errors.Is(err, fs.ErrNotExist) {
		files.InfraEnv = "" // of the cluster it has the time sources alone
	}
	set, err := c.read(files)
	if err != nil {
		return err
	}
	cluster, err := c.cluster(ctx)
	switch {
	case err != nil:
		return err
	case cluster == nil:
		if cluster, err = c.createCluster(ctx, set); err != nil {
			return err
		}
		c.Log.Info("the cluster is registered", "cluster", cluster.Name, "id", cluster.ID)
	case cluster.Name != set.ClusterDeployment.Spec.ClusterName:
		return fmt.Errorf("the hub has cluster %s already, and %s names %s: remove that cluster, or correct the manifest",
			cluster.Name, files.ClusterDeployment, set.ClusterDeployment.Spec.ClusterName)
	default:
		c.Log.Info("the cluster is registered already", "cluster", cluster.Name, "id", cluster.ID)
	}
	if err := c.override(ctx, cluster, set); err != nil {
		return err
	}
	if err := c.addManifests(ctx, cluster.ID, set.Extra); err != nil {
		return err
	}
	return c.remember(clusterIDEnv, cluster.ID)
}

func (c *Client) createCluster(ctx context.Context, set *manifests.Set) (*wire.Cluster, error) {
	var r release
	if set.ClusterImageSet != nil {
		r.image = set.ClusterImageSet.Spec.ReleaseImage
		var err error
		if r.version, r.architecture, err = c.lookUp(ctx, r.image, set.PullSecret); err != nil {
			return nil, fmt.Errorf("release image %s of %s: %w", r.image, c.Settings.Files.ClusterImageSet, err)
		}
		c.Log.Info("the release is known", "image", r.image, "version", r.version, "architecture", r.architecture)
	}
	params, err := clusterParams(set, r)
	if err != nil {
		return nil, err
	}
	cluster := &wire.Cluster{}
	err = c.Hub.Do(ctx, hubclient.Request{Method: http.MethodPost, Path: "/clusters", In: params, Out: cluster, Want: http.StatusCreated})
	if err != nil {
		return nil, fmt.Errorf("register cluster %s: %w", params.Name, err)
	}
	return cluster, nil
}

func clusterPath(id, rest string) string { return "/clusters/" + url.PathEscape(id) + rest }

// override sends the overrides of the install-config, unless the cluster has the same, and
// has the cluster with them afterwards.
func (c *Client) override(ctx context.Context, cluster *wire.Cluster, set *manifests.Set) error {
	text, asked := set.AgentClusterInstall.Metadata.Annotations[names.InstallConfigOverrides]
	if !asked || sameJSON(text, cluster.InstallConfigOverrides) {
		return nil
	}
	err := c.Hub.Do(ctx, hubclient.Request{Method: http.MethodPatch, Path: clusterPath(cluster.ID, "/install-config"), In: text, Want: http.StatusCreated})
	if err != nil {
		return fmt.Errorf("annotation %s of %s: %w", names.InstallConfigOverrides, c.Settings.Files.AgentClusterInstall, err)
	}
	id := cluster.ID
	if err := c.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: clusterPath(id, ""), Out: cluster}); err != nil {
		return fmt.Errorf("cluster %s after the overrides of its install-config: %w", id, err)
	}
	c.Log.Info("the overrides of the install-config are set", "cluster", cluster.Name)
	return nil
}

// sameJSON compares what two texts mean.
func sameJSON(a, b string) bool {
	var one, other any
	return json.Unmarshal([]byte(a), &one) == nil && json.Unmarshal([]byte(b), &other) == nil && reflect.DeepEqual(one, other)
}

// addManifests adds those that the cluster has not.
func (c *Client) addManifests(ctx context.Context, clusterID string, all []manifests.Manifest) error {
	if len(all) == 0 {
		return nil
	}
	path := clusterPath(clusterID, "/manifests")
	var there []wire.Manifest
	if err := c.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: path, Out: &there}); err != nil {
		return fmt.Errorf("list the extra manifests: %w", err)
	}
	var problems []error
	for _, m := range all {
		err := c.addManifest(ctx, path, m, slices.ContainsFunc(there, func(t wire.Manifest) bool {
			return t.FileName == m.Name && t.Folder == wire.ManifestFolderOpenshift
		}))
		if err != nil {
			problems = append(problems, fmt.Errorf("extra manifest %s: %w", m.Name, err))
		}
	}
	return errors.Join(problems...)
}

func (c *Client) addManifest(ctx context.Context, path string, m manifests.Manifest, there bool) error {
	folder := wire.ManifestFolderOpenshift
	if !there {
		return c.Hub.Do(ctx, hubclient.Request{
			Method: http.MethodPost, Path: path, Want: http.StatusCreated,
			In: wire.CreateManifestParams{FileName: m.Name, Folder: &folder, Content: base64.StdEncoding.EncodeToString(m.Content)},
		})
	}
	content, err := c.Hub.File(ctx, path+"/files", url.Values{"folder": {folder}, "file_name": {m.Name}})
	if err != nil {
		return err
	}
	if !bytes.Equal(content, m.Content) {
		return errors.New("the cluster has one of this name with another content: rename it, or remove the one at the hub")
	}
	return nil
}
