package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/test/lab/crate"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// newCrateCommand builds a program that some end-to-end tests judge our work by.
func newCrateCommand(p crate.Program) *cobra.Command {
	var cacheDir string
	cmd := &cobra.Command{
		Use:   p.Name,
		Short: "Build the real " + p.Name + " from its crate, unless there is one, and print its path",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if path, found := p.Find(); found && cacheDir == "" {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), path)
				return err
			}
			path, err := p.Build(cmd.Context(), cacheDir, progress.Lines(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), path)
			return err
		},
	}
	cmd.Flags().StringVar(&cacheDir, "cache-dir", "", "`folder` of builds (default $IRONFLOW_CACHE, or ironflow in the user's cache folder)")
	return cmd
}
