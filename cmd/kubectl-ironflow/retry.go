package main

import (
	"fmt"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

func newRetry(c *connection) *cobra.Command {
	return &cobra.Command{
		Use:   "retry HOST...",
		Short: "Try again now what failed on these hosts",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, namespace, err := c.open()
			if err != nil {
				return err
			}
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, names.Retry, time.Now().UTC().Format(time.RFC3339Nano))
			for _, name := range args {
				host := &metal3v1.BareMetalHost{}
				host.Namespace, host.Name = namespace, name
				if err := cl.Patch(cmd.Context(), host, client.RawPatch(types.MergePatchType, patch)); err != nil {
					return fmt.Errorf("host %s: %w", name, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "host %s: trying again\n", name)
			}
			return nil
		},
	}
}
