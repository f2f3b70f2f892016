package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/hub/releases/registry"
)

// releaseFiles are what a site has to reach its registries.
type releaseFiles struct{ pullSecret, mirrors, ca string }

// reader returns the reader of releases, and the pull secret.
func (f releaseFiles) reader() (*registry.Reader, string, error) {
	var texts [3][]byte
	var problems []error
	for n, path := range []string{f.pullSecret, f.mirrors, f.ca} {
		if path == "" {
			continue
		}
		var err error
		texts[n], err = os.ReadFile(path)
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, "", err
	}
	mirrors, err := registry.ParseMirrors(texts[1])
	if err != nil {
		return nil, "", fmt.Errorf("--mirrors %s: %w", f.mirrors, err)
	}
	return &registry.Reader{Mirrors: mirrors, CA: texts[2]}, string(texts[0]), nil
}

func newReleaseCommand() *cobra.Command {
	release := &cobra.Command{Use: "release", Short: "Read release images from their registry or the site's mirrors"}
	var files releaseFiles
	inspect := &cobra.Command{
		Use:   "inspect IMAGE",
		Short: "Say a release's version, architectures and the images that an installation pulls, or which registry refused and why",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			reader, secret, err := files.reader()
			if err != nil {
				return err
			}
			found, err := reader.Release(c.Context(), args[0], secret)
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
	inspect.Flags().StringVar(&files.pullSecret, "pull-secret", "", "file with the pull secret, a JSON document; without one, nobody is logged in to")
	inspect.Flags().StringVar(&files.mirrors, "mirrors", "", "file with the site's mirrors: registries.conf, or an ImageDigestMirrorSet or ImageContentSourcePolicy")
	inspect.Flags().StringVar(&files.ca, "ca", "", "file with certificate authorities that are trusted beside the system's, in PEM")
	release.AddCommand(inspect)
	return release
}
