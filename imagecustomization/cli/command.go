// Package cli holds the commands that work on live images without a cluster:
// embed and show Ignition configs, edit kernel arguments and network settings,
// take media apart, and serve a directory of hosts.
//
// The offline commands write media that other tools for CoreOS images read, show
// and reset, and the other way round. The main function is [NewCommand].
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// NewCommand returns the "image" command with its subcommands.
func NewCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "image",
		Short: "Work on live images without a cluster",
		Long:  "Embed Ignition configs and network settings in live ISOs, edit kernel arguments, extract files, and serve images.",
	}
	c.AddCommand(embedCommand(), showCommand(), ignitionCommand(), customizeCommand(), resetCommand(), kargsCommand(), networkCommand(),
		minimalCommand(), extractCommand(), pxeCommand(), inspectCommand(), serveCommand())
	return c
}

// outputFlag adds the required flag -o.
func outputFlag(c *cobra.Command, out *string) {
	c.Flags().StringVarP(out, "output", "o", "", "file to write (required)")
	if err := c.MarkFlagRequired("output"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added one line above
	}
}

func embedCommand() *cobra.Command {
	var ignitionFile, out string
	var force bool
	c := &cobra.Command{
		Use:   "embed --ignition FILE -o OUT ISO",
		Short: "Embed an Ignition config in a live ISO",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			config, err := readConfig(ignitionFile)
			if err != nil {
				return err
			}
			return recontent(args[0], out, func(c *embedarea.Content) error {
				if len(c.Ignition) > 0 && !force {
					return errors.New("there is an Ignition config already; use --force to replace it")
				}
				c.Ignition = config
				return nil
			})
		},
	}
	c.Flags().StringVar(&ignitionFile, "ignition", "", "Ignition config to embed (required)")
	c.Flags().BoolVar(&force, "force", false, "replace a config that is embedded already")
	if err := c.MarkFlagRequired("ignition"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added above
	}
	outputFlag(c, &out)
	return c
}

// readConfig reads an Ignition config that is embedded as it is. An empty or broken one would
// only be noticed by the machine that boots it, or by nobody.
func readConfig(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return raw, ignition.CheckConfig(ignition.File{Name: path, Data: raw})
}

func showCommand() *cobra.Command {
	var wantIgnition bool
	c := &cobra.Command{
		Use:   "show [--ignition] ISO",
		Short: "Show what is embedded in a live ISO",
		Long:  "Shows the names of all embedded files, or, with --ignition, the Ignition config byte for byte.",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMedium(args[0], func(m *medium) error {
				c, err := m.content()
				if err != nil {
					return err
				}
				if !wantIgnition {
					return list(cmd.OutOrStdout(), c)
				}
				if len(c.Ignition) == 0 {
					return embedarea.ErrNoIgnition
				}
				_, err = cmd.OutOrStdout().Write(c.Ignition)
				return err
			})
		},
	}
	c.Flags().BoolVar(&wantIgnition, "ignition", false, "print the embedded Ignition config")
	return c
}

func ignitionCommand() *cobra.Command {
	c := &cobra.Command{Use: "ignition", Short: "Remove an embedded Ignition config; see also embed and show"}
	var out string
	remove := &cobra.Command{
		Use:   "remove -o OUT ISO",
		Short: "Remove the embedded Ignition config; keyfiles stay",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return recontent(args[0], out, func(c *embedarea.Content) error {
				c.Ignition = nil
				return nil
			})
		},
	}
	outputFlag(remove, &out)
	c.AddCommand(remove)
	return c
}

func list(w io.Writer, c embedarea.Content) error {
	if len(c.Ignition) > 0 {
		fmt.Fprintf(w, "%s\t%d bytes\n", embedarea.IgnitionName, len(c.Ignition))
	}
	for _, name := range keys(c.Keyfiles) {
		listMember(w, cpio.Entry{Name: embedarea.KeyfileDir + "/" + name, Mode: cpio.TypeRegular, Data: c.Keyfiles[name]})
	}
	for _, f := range c.Files {
		listMember(w, f)
	}
	return nil
}

// listMember prints a line for a member of an archive, whose name may be anybody's: nothing in
// it commands a terminal.
func listMember(w io.Writer, e cpio.Entry) {
	if e.IsSymlink() {
		fmt.Fprintf(w, "%s -> %s\n", printable(e.Name), printable(string(e.Data)))
		return
	}
	fmt.Fprintf(w, "%s\t%d bytes\n", printable(e.Name), len(e.Data))
}

// printable replaces what is no character that can be printed.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar)))
}

func resetCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "reset -o OUT ISO",
		Short: "Undo every customization of a live ISO",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return rewrite(args[0], out, func(m *medium) (*overlay.Image, error) { return overlay.Reset(m.Media) })
		},
	}
	outputFlag(c, &out)
	return c
}

func minimalCommand() *cobra.Command {
	var out, rootfs, rootfsURL string
	c := &cobra.Command{
		Use:   "minimal [--rootfs-url URL] [--output-rootfs FILE] -o OUT ISO",
		Short: "Make a minimal ISO, which downloads its root file system when it boots",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return withMedium(args[0], func(m *medium) error {
				minimal, err := overlay.Minimal(m.Media)
				if err != nil {
					return fmt.Errorf("%s: %w", args[0], err)
				}
				if minimal, err = overlay.PointToRootfs(minimal, rootfsURL); err != nil {
					return err
				}
				if err := writeFile(out, modeOf(minimal, minimal.Size()), io.NewSectionReader(minimal, 0, minimal.Size())); err != nil || rootfs == "" {
					return err
				}
				return extract(m, overlay.RootfsPath, rootfs)
			})
		},
	}
	c.Flags().StringVar(&rootfsURL, "rootfs-url", "", "URL that the live system downloads its root file system from")
	c.Flags().StringVar(&rootfs, "output-rootfs", "", "write the root file system to this file")
	outputFlag(c, &out)
	return c
}

func extractCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "extract [-C DIR] ISO [PATH...]",
		Short: "Extract files from an ISO; without PATH, those for network boot",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return withMedium(args[0], func(m *medium) error {
				paths := args[1:]
				if len(paths) == 0 {
					paths = []string{overlay.KernelFile(m.Media), overlay.InitrdPath, overlay.RootfsPath}
				}
				from := map[string]string{}
				for _, p := range paths {
					name := filepath.Base(p)
					if other, twice := from[name]; twice && other != p {
						return fmt.Errorf("%s and %s would be one file %s: extract them one after the other, to two directories", other, p, name)
					}
					from[name] = p
				}
				for _, name := range keys(from) {
					if err := extract(m, from[name], filepath.Join(dir, name)); err != nil {
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

func extract(m *medium, path, out string) error {
	image, err := overlay.Artifact(m.Media, path)
	if err != nil {
		return err
	}
	return writeFile(out, modeOf(m, m.Size()), image.Reader())
}

func kargsCommand() *cobra.Command {
	c := &cobra.Command{Use: "kargs", Short: "Show or change kernel arguments"}
	c.AddCommand(kargsShowCommand(), kargsSetCommand(), kargsResetCommand())
	return c
}

func kargsShowCommand() *cobra.Command {
	var defaults bool
	c := &cobra.Command{
		Use:   "show [--default] ISO",
		Short: "Show the kernel arguments of a live ISO",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMedium(args[0], func(m *medium) error {
				text, err := currentKargs(m, defaults)
				if err == nil {
					_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
				}
				return err
			})
		},
	}
	c.Flags().BoolVar(&defaults, "default", false, "show the defaults of the ISO")
	return c
}

func currentKargs(m *medium, defaults bool) (string, error) {
	switch k := m.Layout.Kargs; {
	case k == nil:
		return "", overlay.ErrNoKargs
	case defaults:
		return k.Default, nil
	default:
		return k.Read(m)
	}
}

func kargsSetCommand() *cobra.Command {
	var edit overlay.KargsEdit
	var out string
	var fromDefault bool
	c := &cobra.Command{
		Use:   "set [--append ARG] [--delete ARG] [--replace KEY=OLD=NEW] -o OUT ISO",
		Short: "Change the kernel arguments of a live ISO",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return rewrite(args[0], out, func(m *medium) (*overlay.Image, error) {
				now, err := currentKargs(m, fromDefault)
				if err != nil {
					return nil, err
				}
				want, err := edit.Apply(now)
				if err != nil {
					return nil, err
				}
				return overlay.SetKargs(m.Media, want)
			})
		},
	}
	c.Flags().StringArrayVarP(&edit.Append, "append", "a", nil, "argument to add (repeatable)")
	c.Flags().StringArrayVarP(&edit.Delete, "delete", "d", nil, "argument to remove (repeatable)")
	c.Flags().StringArrayVarP(&edit.Replace, "replace", "r", nil, "argument to change, as KEY=OLD=NEW (repeatable)")
	c.Flags().BoolVar(&fromDefault, "from-default", false, "start from the defaults of the ISO instead of its present arguments")
	outputFlag(c, &out)
	return c
}

func kargsResetCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "reset -o OUT ISO",
		Short: "Reset the kernel arguments of a live ISO to its defaults",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return rewrite(args[0], out, func(m *medium) (*overlay.Image, error) {
				defaults, err := currentKargs(m, true)
				if err != nil {
					return nil, err
				}
				return overlay.SetKargs(m.Media, defaults)
			})
		},
	}
	outputFlag(c, &out)
	return c
}
