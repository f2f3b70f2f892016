package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/vm/node"
)

// newNodeCommand builds what a Kubernetes node is made of.
func newNodeCommand() *cobra.Command {
	var source string
	cmd := &cobra.Command{
		Use:   "node-programs",
		Short: "Build kubelet, kubeadm, the control plane, containerd, CNI plugins and CoreDNS, once, and print their folder",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			programs, err := node.Build(cmd.Context(), source, progress.Lines(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), programs)
			return err
		},
	}
	cmd.Flags().StringVar(&source, "source", ".", "`folder` of the source tree")
	return cmd
}
