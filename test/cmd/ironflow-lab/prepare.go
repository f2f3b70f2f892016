package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// newPrepareCommand fills the cache, so that later starts take seconds.
func newPrepareCommand() *cobra.Command {
	var cacheDir string
	var agent, checkOnly bool
	cmd := &cobra.Command{
		Use:   "prepare",
		Short: "Check the prerequisites, build the control plane and kubeadm and install Ironic, unless that is done",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if checkOnly {
				return lab.CheckPrerequisites(cmd.Context(), everything(cacheDir))
			}
			report := progress.Lines(cmd.ErrOrStderr())
			if err := lab.Prepare(cmd.Context(), everything(cacheDir), report); err != nil {
				return err
			}
			if _, err := lab.Kubeadm(cmd.Context(), cacheDir, report); err != nil {
				return err
			}
			if agent {
				dir, err := lab.AgentEnvironment(cmd.Context(), cacheDir, report)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), dir)
				return err
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&cacheDir, "cache-dir", "", "`folder` of builds (default $IRONFLOW_CACHE, or ironflow in the user's cache folder)")
	cmd.Flags().BoolVar(&agent, "ipa", false, "also install the real ironic-python-agent, and print the folder of its environment")
	cmd.Flags().BoolVar(&checkOnly, "check", false, "only check the prerequisites")
	return cmd
}

// everything are the options of a lab with all parts.
func everything(cacheDir string) lab.Options {
	return lab.Options{
		CacheDir:     cacheDir,
		ControlPlane: &lab.ControlPlaneOptions{Controllers: true},
		Ironic:       &lab.IronicOptions{},
		Emulator:     &lab.EmulatorOptions{},
	}
}
