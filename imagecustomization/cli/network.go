package cli

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
)

func networkCommand() *cobra.Command {
	c := &cobra.Command{Use: "network", Short: "Check network configurations; embed, extract or remove NetworkManager keyfiles"}
	var files []string
	var out string
	embed := &cobra.Command{
		Use:   "embed -k FILE -o OUT ISO",
		Short: "Embed NetworkManager keyfiles for the live system",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return recontent(args[0], out, func(c *embedarea.Content) error {
				return addKeyfiles(c.Keyfiles, files)
			})
		},
	}
	embed.Flags().StringArrayVarP(&files, "keyfile", "k", nil, "keyfile to embed (repeatable, required)")
	if err := embed.MarkFlagRequired("keyfile"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added above
	}
	outputFlag(embed, &out)
	var removed string
	remove := &cobra.Command{
		Use:   "remove -o OUT ISO",
		Short: "Remove all embedded keyfiles",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return recontent(args[0], removed, func(c *embedarea.Content) error {
				c.Keyfiles = nil
				return nil
			})
		},
	}
	outputFlag(remove, &removed)
	c.AddCommand(embed, remove, networkExtractCommand(), networkCheckCommand())
	return c
}

func networkExtractCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "extract [-C DIR] ISO",
		Short: "Write the embedded keyfiles to a directory",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return withMedium(args[0], func(m *medium) error {
				c, err := m.content()
				if err != nil {
					return err
				}
				return writeKeyfiles(dir, c.Keyfiles)
			})
		},
	}
	c.Flags().StringVarP(&dir, "directory", "C", ".", "directory to write to")
	return c
}

// keyfileName is a keyfile's name with the suffix that NetworkManager demands.
func keyfileName(name string) string {
	return strings.TrimSuffix(name, ".nmconnection") + ".nmconnection"
}

func writeKeyfiles(dir string, keyfiles map[string][]byte) error {
	for _, name := range keys(keyfiles) {
		if err := writeFile(filepath.Join(dir, name), private, bytes.NewReader(keyfiles[name])); err != nil {
			return err
		}
	}
	return nil
}
