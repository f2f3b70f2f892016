package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/controllers/migrate"
)

// newCRDsCommand compares the cluster's definitions with ours, and applies ours where nothing
// is lost by that.
func newCRDsCommand() *cobra.Command {
	var s settings
	var apply bool
	cmd := &cobra.Command{
		Use:   "crds",
		Short: "Tell how the cluster's CustomResourceDefinitions differ from Ironflow's; apply them unless the cluster's are newer",
		Long: `Compares the CustomResourceDefinitions of the cluster with those that Ironflow comes with. With --apply, those that are
missing are made, and those that lack something are updated. If one of metal3.io or ironflow.io has something that Ironflow's
lacks, nothing is written: objects may use it. Those of other projects are made if they are missing, and else left alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cluster, err := migrateClient(s)
			if err != nil {
				return err
			}
			list, err := migrate.CompareCRDs(cmd.Context(), cluster)
			if err != nil {
				return err
			}
			for _, d := range list {
				fmt.Fprintln(cmd.OutOrStdout(), d)
			}
			if !apply {
				return nil
			}
			return migrate.ApplyCRDs(cmd.Context(), cluster, list)
		},
	}
	cmd.Flags().StringVar(&s.kubeconfig, "kubeconfig", environment()["KUBECONFIG"], "kubeconfig file; empty for the cluster that this runs in")
	cmd.Flags().BoolVar(&apply, "apply", false, "make those that are missing and update those that are older")
	return cmd
}
