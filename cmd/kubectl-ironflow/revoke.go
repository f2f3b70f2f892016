package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

func newRevokeTokens(c *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke-tokens INFRAENV...",
		Short: "Revoke all tokens of the agents and images of these InfraEnvs",
		Long: "Revoke all tokens of the agents and images of these InfraEnvs. Running agents are refused from then on, even during an installation: " +
			"their hosts have to boot from an image that is made afterwards.",
		Args: cobra.MinimumNArgs(1), ValidArgsFunction: c.complete(infraEnvKind, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, names.Revoke, time.Now().UTC().Format(time.RFC3339Nano))
			for _, name := range args {
				env := &agentv1.InfraEnv{}
				env.Namespace, env.Name = namespace, name
				if err := cl.Patch(cmd.Context(), env, client.RawPatch(types.MergePatchType, patch)); err != nil {
					return fmt.Errorf("InfraEnv %s: %w", name, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "InfraEnv %s: the hub revokes its tokens\n", name)
			}
			return nil
		},
	}
}
