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

// releaseTexts are the contents of these files; empty where none is named.
type releaseTexts struct{ pullSecret, mirrors, ca []byte }

func (f releaseFiles) read() (texts releaseTexts, err error) {
	var problems []error
	for _, file := range []struct {
		path string
		text *[]byte
	}{{f.pullSecret, &texts.pullSecret}, {f.mirrors, &texts.mirrors}, {f.ca, &texts.ca}} {
		if file.path == "" {
			continue
		}
		*file.text, err = os.ReadFile(file.path)
		problems = append(problems, err)
	}
	return texts, errors.Join(problems...)
}

// reader makes the reader of releases.
func (t releaseTexts) reader() (*registry.Reader, error) {
	mirrors, err := registry.ParseMirrors(t.mirrors)
	if err != nil {
		return nil, fmt.Errorf("mirrors: %w", err)
	}
	return &registry.Reader{Mirrors: mirrors, CA: t.ca}, nil
}

func newReleaseCommand() *cobra.Command {
	release := &cobra.Command{Use: "release", Short: "Read release images from their registry or the site's mirrors"}
	var files releaseFiles
	inspect := &cobra.Command{
		Use:   "inspect IMAGE",
		Short: "Say a release's version, architectures and the images that an installation pulls, or which registry refused and why",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			texts, err := files.read()
			if err != nil {
				return err
			}
			reader, err := texts.reader()
			if err != nil {
				return err
			}
			found, err := reader.Release(c.Context(), args[0], string(texts.pullSecret))
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
