package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/auth"
)

func newRevokeTokens(c *connection) *cobra.Command {
	var clusters bool
	cmd := &cobra.Command{
		Use:   "revoke-tokens INFRAENV... | --cluster CLUSTER...",
		Short: "Revoke all tokens of the agents and images of these InfraEnvs, or those of programs inside these clusters",
		Long: "Revoke all tokens of the agents and images of these InfraEnvs. Running agents are refused from then on, even during an installation: " +
			"their hosts have to boot from an image that is made afterwards.\n\n" +
			"With --cluster, revoke the token by which ironflow-cluster calls the hub from inside each of these clusters. It is refused from then on, until its Secret has " +
			"the token that the command names, and it is started again.",
		Args: cobra.MinimumNArgs(1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			named := infraEnvKind
			if clusters {
				named = clusterKind
			}
			return c.complete(named, anyNumber)(cmd, args, begun)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			word, revoke := time.Now().UTC().Format(time.RFC3339Nano), revokeInfraEnv
			if clusters {
				revoke = revokeCluster
			}
			for _, name := range args {
				says, err := revoke(cmd.Context(), cl, types.NamespacedName{Namespace: namespace, Name: name}, word)
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), says)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&clusters, "cluster", false, "the names are those of clusters: the ClusterDeployment, the AgentClusterInstall, or the cluster itself")
	return cmd
}

// revokeInfraEnv has the hub revoke the tokens of an InfraEnv.
func revokeInfraEnv(ctx context.Context, cl client.Client, key types.NamespacedName, word string) (says string, err error) {
	env := &agentv1.InfraEnv{}
	env.Namespace, env.Name = key.Namespace, key.Name
	if err := cl.Patch(ctx, env, annotating(names.Revoke, word)); err != nil {
		return "", fmt.Errorf("InfraEnv %s: %w", key.Name, err)
	}
	return fmt.Sprintf("InfraEnv %s: the hub revokes its tokens", key.Name), nil
}

// revokeCluster has the hub revoke the token of the program inside a cluster.
func revokeCluster(ctx context.Context, cl client.Client, key types.NamespacedName, word string) (says string, err error) {
	found, err := findCluster(ctx, cl, key.Namespace, key.Name)
	if err != nil {
		return "", err
	}
	if found.install == nil || found.deployment == nil {
		return "", fmt.Errorf("cluster %s has no ClusterDeployment and AgentClusterInstall that name each other, so the hub has no record of it by which to revoke a token", found.name())
	}
	if err := cl.Patch(ctx, found.install, annotating(names.RevokeCluster, word)); err != nil {
		return "", fmt.Errorf("AgentClusterInstall %s: %w", found.install.Name, err)
	}
	return fmt.Sprintf("cluster %s: the hub revokes the token of the program inside it. The new one: ironflow hub cluster-token %s --generation %d",
		found.name(), hubid.Cluster(found.deployment), auth.GenerationOf(word)), nil
}

func annotating(name, value string) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, name, value))
}
