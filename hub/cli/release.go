package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/hub/configured"
)

// NewRelease reads releases from registries.
func NewRelease() *cobra.Command {
	release := &cobra.Command{Use: "release", Short: "Read release images from their registry or the site's mirrors"}
	var files configured.ReleaseFiles
	inspect := &cobra.Command{
		Use:   "inspect IMAGE",
		Short: "Show version, architectures and images of a release, or which registry refused and why",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			texts, err := files.Read()
			if err != nil {
				return fmt.Errorf("--pull-secret, --mirrors or --ca: %w", err)
			}
			reader, err := texts.Reader()
			if err != nil {
				return err
			}
			found, err := reader.Release(c.Context(), args[0], string(texts.PullSecret))
			if err != nil {
				return err
			}
			w := c.OutOrStdout()
			fmt.Fprintf(w, "version:       %s\ndigest:        %s\narchitectures: %s\nimages:\n", found.Version, found.Digest, strings.Join(found.Architectures, ", "))
			for _, image := range found.Needed(args[0]) {
				fmt.Fprintln(w, "  "+image)
			}
			return nil
		},
	}
	inspect.Flags().StringVar(&files.PullSecret, "pull-secret", "", "file with the pull secret, a JSON document; empty: registries are asked without credentials")
	inspect.Flags().StringVar(&files.Mirrors, "mirrors", "", "file with the site's mirrors: registries.conf, or an ImageDigestMirrorSet or ImageContentSourcePolicy")
	inspect.Flags().StringVar(&files.CA, "ca", "", "PEM file with CAs that are trusted besides the system's")
	release.AddCommand(inspect)
	return release
}
