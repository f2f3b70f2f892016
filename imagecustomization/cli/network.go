package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
)

func networkCommand() *cobra.Command {
	c := &cobra.Command{Use: "network", Short: "Embed, take out or remove NetworkManager keyfiles"}
	var files []string
	var out string
	embed := &cobra.Command{
		Use:   "embed -k FILE -o OUT ISO",
		Short: "Embed NetworkManager keyfiles for the live system",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return recontent(args[0], out, func(c *embedarea.Content) error {
				for _, f := range files {
					raw, err := os.ReadFile(f)
					if err != nil {
						return err
					}
					c.Keyfiles[strings.TrimSuffix(filepath.Base(f), ".nmconnection")+".nmconnection"] = raw
				}
				return nil
			})
		},
	}
	embed.Flags().StringArrayVarP(&files, "keyfile", "k", nil, "keyfile to embed (repeatable)")
	outputFlag(embed, &out)
	var removed string
	remove := &cobra.Command{
		Use:   "remove -o OUT ISO",
		Short: "Remove all keyfiles",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return recontent(args[0], removed, func(c *embedarea.Content) error {
				c.Keyfiles = nil
				return nil
			})
		},
	}
	outputFlag(remove, &removed)
	c.AddCommand(embed, remove, networkExtractCommand())
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
				for _, name := range keys(c.Keyfiles) {
					if err := writeFile(filepath.Join(dir, name), private, bytes.NewReader(c.Keyfiles[name])); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	c.Flags().StringVarP(&dir, "directory", "C", ".", "directory to write to")
	return c
}
