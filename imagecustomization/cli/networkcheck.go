package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/networkcheck"
)

func networkCheckCommand() *cobra.Command {
	var base string
	c := &cobra.Command{
		Use:   "check [--base ISO] DIR",
		Short: "Show how the network of each host would be configured: translated, by nmstatectl in the live system, or not at all",
		Long: "Reads the YAML and JSON files in a folder and in those below it: nmstate documents, network_data.json, and manifests with them " +
			"(Secret, NMStateConfig, AgentConfig, SiteConfig, ClusterInstance). Exit code 1 when one is refused.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			live, err := LiveSystem(cmd.Context(), base)
			if err != nil {
				return err
			}
			results, err := networkcheck.Folder(args[0], live)
			if err != nil {
				return err
			}
			return printWays(cmd.OutOrStdout(), results, base == "")
		},
	}
	c.Flags().StringVar(&base, "base", "", "base image: whether it has nmstatectl decides about networks that Ironflow cannot translate; empty: assume that it has")
	return c
}

// LiveSystem is what is known of the live system of a base image. Without one it is
// assumed to have nmstatectl, so that what nobody could do shows.
func LiveSystem(ctx context.Context, base string) (live network.Live, err error) {
	if base == "" {
		return network.Live{Nmstatectl: true, Why: "which is assumed to have it: name the base image by --base to know"}, nil
	}
	registry, err := media.Open(ctx, base, media.Options{})
	if err != nil {
		return live, err
	}
	m, err := registry.Select(ctx, "", "")
	if err == nil {
		live.Nmstatectl, live.Why = m.Nmstatectl()
	}
	return live, err
}

// printWays prints a line for each description, and what they come to.
func printWays(w io.Writer, results []networkcheck.Result, assumed bool) error {
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "WAY\tDESCRIPTION\tFIELDS")
	counts := map[string]int{}
	for _, r := range results {
		counts[r.Way]++
		fmt.Fprintf(table, "%s\t%s\t%s\n", r.Way, r.Name, r.Fields)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d translated, %d by nmstatectl in the live system, %d refused\n", counts[network.WayTranslated], counts[network.WayNmstatectl], counts[network.WayRefused])
	if assumed && counts[network.WayNmstatectl] > 0 {
		fmt.Fprintln(w, "nmstatectl is assumed to be there: name the base image by --base to know")
	}
	if refused := counts[network.WayRefused]; refused > 0 {
		return fmt.Errorf("%d of %d descriptions are refused", refused, len(results))
	}
	return nil
}
