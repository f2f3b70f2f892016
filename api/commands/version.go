package commands

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/api/version"
)

// Version is the command that tells which build of a program this is.
func Version(program string) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Tell which release of " + program + " this is, and what it was built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := version.Of()
			switch output {
			case "text":
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n%s", program, b.Release, b)
				return err
			case "json":
				return json.NewEncoder(cmd.OutOrStdout()).Encode(b)
			}
			return fmt.Errorf("--output %q is neither text nor json", output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}
