package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// RegisterInfraEnv makes the infra-env of the hub's cluster unless it is there, and
// remembers its id.
func (c *Client) RegisterInfraEnv(ctx context.Context) error {
	files := c.Settings.Files
	files.ClusterDeployment, files.AgentClusterInstall, files.Operators, files.ExtraManifests, files.HostConfig = "", "", "", "", ""
	set, err := c.read(files)
	if err != nil {
		return err
	}
	cluster, err := c.cluster(ctx)
	if err != nil {
		return err
	}
	if cluster == nil {
		return errors.New("the hub has no cluster yet: run registerCluster or importCluster first")
	}
	var list []wire.InfraEnv
	if err := c.Hub.Do(ctx, hubclient.Request{Method: http.MethodGet, Path: "/infra-envs", Out: &list}); err != nil {
		return fmt.Errorf("list infra-envs: %w", err)
	}
	if len(list) > 1 {
		return fmt.Errorf("the hub has %d infra-envs, and an agent-based installation has one: remove the others", len(list))
	}
	if len(list) == 1 {
		if list[0].ClusterID != "" && list[0].ClusterID != cluster.ID {
			return fmt.Errorf("infra-env %s of the hub is of cluster %s, which is not %s: remove it", list[0].Name, list[0].ClusterID, cluster.Name)
		}
		c.Log.Info("the infra-env is registered already", "infra_env", list[0].ID)
		return c.remember(infraEnvIDEnv, list[0].ID)
	}
	r := release{version: cluster.OpenshiftVersion, architecture: cluster.CPUArchitecture}
	if set.ClusterImageSet != nil && r.version == "" {
		image := set.ClusterImageSet.Spec.ReleaseImage
		if r.version, r.architecture, err = c.lookUp(ctx, image, set.PullSecret); err != nil {
			return fmt.Errorf("release image %s of %s: %w", image, c.Settings.Files.ClusterImageSet, err)
		}
	}
	params, err := infraEnvParams(set, c.Settings.ImageType, cluster.ID, r)
	if err != nil {
		return err
	}
	var env wire.InfraEnv
	err = c.Hub.Do(ctx, hubclient.Request{Method: http.MethodPost, Path: "/infra-envs", In: params, Out: &env, Want: http.StatusCreated})
	if err != nil {
		return fmt.Errorf("register infra-env %s: %w", params.Name, err)
	}
	c.Log.Info("the infra-env is registered", "infra_env", env.ID)
	return c.remember(infraEnvIDEnv, env.ID)
}
