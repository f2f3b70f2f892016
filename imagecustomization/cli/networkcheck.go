package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/networkcheck"
)

func networkCheckCommand() *cobra.Command {
	var base, said string
	c := &cobra.Command{
		Use:   "check [--base ISO] DIR",
		Short: "Show how the network of each host would be configured: translated, by nmstatectl in the live system, or not at all",
		Long: "Reads the YAML and JSON files in a folder and in those below it: nmstate documents, network_data.json, and manifests with them " +
			"(Secret, NMStateConfig, AgentConfig, SiteConfig, ClusterInstance). Exit code 1 when one is refused.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			live, err := LiveSystems(cmd.Context(), base, said)
			if err != nil {
				return err
			}
			results, err := networkcheck.Folder(args[0], live(cmd.Context(), "", ""))
			if err != nil {
				return err
			}
			return printWays(cmd.OutOrStdout(), results, base == "" && said == configured.NmstatectlAuto)
		},
	}
	c.Flags().StringVar(&base, "base", "", "base image: whether it has nmstatectl decides about networks that Ironflow cannot translate; empty: assume that it has")
	c.Flags().StringVar(&said, "live-nmstatectl", configured.NmstatectlAuto, "whether live systems have nmstatectl, as for ironflow run: auto (looked up in the base image), always or never")
	return c
}

// LiveSystems tells what is known of the live system of an architecture and version ("" for
// any) among the base images at base, as the image builder is told by said. Without any it
// is assumed to have nmstatectl, so that what nobody could do shows.
func LiveSystems(ctx context.Context, base, said string) (func(ctx context.Context, arch, version string) network.Live, error) {
	if err := configured.CheckNmstatectl(said); err != nil {
		return nil, err
	}
	if base == "" {
		live := network.Live{Nmstatectl: true, Why: "which is assumed to have it: name the base image by --base to know"}
		if said != "" && said != configured.NmstatectlAuto {
			live = configured.Live(said, nil)
		}
		return func(context.Context, string, string) network.Live { return live }, nil
	}
	registry, err := media.Open(ctx, base, media.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := registry.Select(ctx, "", ""); err != nil {
		return nil, err
	}
	return func(ctx context.Context, arch, version string) network.Live {
		return configured.Live(said, func() (*media.Medium, error) { return registry.Select(ctx, arch, version) })
	}, nil
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
