package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/configured"
)

// NewClusterToken is for who puts ironflow-cluster into a cluster by hand.
func NewClusterToken() *cobra.Command {
	var s v1alpha1.IronflowConfiguration
	var generation int64
	cmd := &cobra.Command{
		Use:   "cluster-token CLUSTER_ID",
		Short: "Print the token by which ironflow-cluster reports about one cluster",
		Long: `Prints the token by which ironflow-cluster calls the hub, for "ironflow-cluster manifests". It gives access to what that
program reads and reports about this one cluster, and neither to credentials nor to Ignition configs. It is a secret, and stays
the same as long as the hub's key does, and until it is revoked: then --generation has to be that of the event
cluster_token_revoked.
The key is read from the data folder, and with --hub-auth=local from where the hub has it; the hub may go on working.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := clusterToken(s, auth.ClusterClaims{ClusterID: args[0], Generation: generation})
			if err != nil {
				return fmt.Errorf("cluster-token: %w", err)
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.Flags().Int64Var(&generation, "generation", 1, "generation of the token: another one after each revocation")
	settings.Add(cmd, topics.Schema(&s), settings.Only(topics.All(&s), append([]string{"data-dir"}, configured.AuthFlags...)...))
	return cmd
}

// clusterToken makes no key where there is none: its tokens would be nobody's.
func clusterToken(s v1alpha1.IronflowConfiguration, claims auth.ClusterClaims) (string, error) {
	path := filepath.Join(s.Store.DataDir, configured.KeyFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is missing: name the hub's own folder by --data-dir, and start the hub once before", path)
	}
	if err := configured.CheckAuth(s.Hub); err != nil {
		return "", err
	}
	key, err := configured.TokenKey(s.Hub, s.Store.DataDir)
	if err != nil {
		return "", err
	}
	return key.ClusterToken(claims)
}
