package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
)

func pxeCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "pxe",
		Short: "Work on initrds for network boot",
		Long: "An initrd consists of archives, which the kernel unpacks one after the other. " +
			"The base initrd stays as it is; what a host gets is an archive behind it.",
	}
	c.AddCommand(pxeCustomizeCommand(), pxeIgnitionCommand(), pxeNetworkCommand(), pxeShowCommand())
	return c
}

// found is what an initrd has that commands look for.
type found struct {
	content  embedarea.Content
	features map[string]bool
}

// featuresMember is where the initrd of a medium says what it can do.
const featuresMember = "etc/coreos/features.json"

// openInitrd runs do with the initrd at path.
func openInitrd(path string, do func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if err := do(f); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f.Close()
}

// readInitrd looks through all archives. As in the kernel, a later member of the
// same name wins.
func readInitrd(name string) (found, error) {
	out := found{content: embedarea.Content{Keyfiles: map[string][]byte{}}, features: map[string]bool{}}
	err := openInitrd(name, func(r io.Reader) error {
		seen := false
		for e, err := range embedarea.Members(r) {
			seen = true
			switch {
			case err != nil:
				return err
			case !e.IsRegular():
			case e.Name == embedarea.IgnitionName:
				out.content.Ignition = e.Data
			case path.Dir(e.Name) == embedarea.KeyfileDir:
				out.content.Keyfiles[path.Base(e.Name)] = e.Data
			case e.Name == featuresMember:
				if out.features, err = iso.ParseFeatures(e.Data); err != nil {
					return fmt.Errorf("%s: %w", e.Name, err)
				}
			}
		}
		return isInitrd(seen)
	})
	return out, err
}

// isInitrd refuses a file in which nothing was found, such as what is left of a download: a
// kernel would boot without an initrd.
func isInitrd(seen bool) error {
	if !seen {
		return errors.New("this is no initrd: there is no archive in it")
	}
	return nil
}

// writeArchive writes content as an archive, behind the initrd at base unless that
// is empty.
func writeArchive(out, base string, c embedarea.Content) error {
	archive, err := c.Archive()
	if err != nil {
		return err
	}
	if base == "" {
		return writeFile(out, private, bytes.NewReader(archive))
	}
	return openInitrd(base, func(r io.Reader) error {
		counted := &counter{r: r}
		padded := io.MultiReader(counted, &padding{counted}, bytes.NewReader(archive))
		return writeFile(out, private, padded)
	})
}

// counter counts what was read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// padding reads zeros up to the place where the next archive may begin.
type padding struct{ behind *counter }

func (p *padding) Read(b []byte) (int, error) {
	n := min(int(-p.behind.n&(embedarea.Alignment-1)), len(b))
	if n == 0 {
		return 0, io.EOF
	}
	clear(b[:n])
	p.behind.n += int64(n)
	return n, nil
}

func pxeCustomizeCommand() *cobra.Command {
	var o customization
	var out string
	c := &cobra.Command{
		Use:   "customize [flags] -o OUT INITRD",
		Short: "Make an initrd that configures a machine and, if wanted, installs it",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			has, err := readInitrd(args[0])
			switch {
			case err != nil:
				return err
			case !has.content.Empty() && !o.force:
				return fmt.Errorf("%s is customized already; use --force, and what comes later wins", args[0])
			}
			content, err := o.content(has.features)
			if err != nil {
				return err
			}
			if left := stays(has.content, content); len(left) > 0 {
				return fmt.Errorf("%s has %s of an earlier customization, which would stay in force behind --force: customize the initrd as it was before", args[0], printable(strings.Join(left, ", ")))
			}
			o.tell(cmd.ErrOrStderr())
			return writeArchive(out, args[0], content)
		},
	}
	o.flags(c)
	outputFlag(c, &out)
	return c
}

// stays are the members of an earlier customization that a new one behind it does not
// replace: the initrd itself is never rewritten.
func stays(before, now embedarea.Content) (left []string) {
	if len(before.Ignition) > 0 && len(now.Ignition) == 0 {
		left = append(left, embedarea.IgnitionName)
	}
	for _, name := range keys(before.Keyfiles) {
		if _, replaced := now.Keyfiles[name]; !replaced {
			left = append(left, name)
		}
	}
	return left
}

func pxeIgnitionCommand() *cobra.Command {
	c := &cobra.Command{Use: "ignition", Short: "Wrap an Ignition config for the boot loader, or take it out of an initrd"}
	var file, out string
	wrap := &cobra.Command{
		Use:   "wrap --ignition FILE -o OUT",
		Short: "Wrap an Ignition config in an archive that a boot loader can load after the initrd",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			config, err := readConfig(file)
			if err != nil {
				return err
			}
			return writeArchive(out, "", embedarea.Content{Ignition: config})
		},
	}
	wrap.Flags().StringVarP(&file, "ignition", "i", "", "Ignition config to wrap (required)")
	if err := wrap.MarkFlagRequired("ignition"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added above
	}
	outputFlag(wrap, &out)
	c.AddCommand(wrap, &cobra.Command{
		Use:   "unwrap INITRD",
		Short: "Print the Ignition config of an initrd, byte for byte",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			has, err := readInitrd(args[0])
			if err != nil {
				return err
			}
			if len(has.content.Ignition) == 0 {
				return embedarea.ErrNoIgnition
			}
			_, err = cmd.OutOrStdout().Write(has.content.Ignition)
			return err
		},
	})
	return c
}

func pxeNetworkCommand() *cobra.Command {
	c := &cobra.Command{Use: "network", Short: "Wrap NetworkManager keyfiles for the boot loader, or take them out of an initrd"}
	var files []string
	var out, dir string
	wrap := &cobra.Command{
		Use:   "wrap -k FILE -o OUT",
		Short: "Wrap keyfiles in an archive that a boot loader can load after the initrd",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			content := embedarea.Content{Keyfiles: map[string][]byte{}}
			if err := addKeyfiles(content.Keyfiles, files); err != nil {
				return err
			}
			return writeArchive(out, "", content)
		},
	}
	wrap.Flags().StringArrayVarP(&files, "keyfile", "k", nil, "keyfile to wrap (repeatable, required)")
	if err := wrap.MarkFlagRequired("keyfile"); err != nil {
		panic(err) //nolint:forbidigo // the flag was added above
	}
	outputFlag(wrap, &out)
	unwrap := &cobra.Command{
		Use:   "unwrap [-C DIR] INITRD",
		Short: "Write the keyfiles of an initrd to a directory",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			has, err := readInitrd(args[0])
			if err != nil {
				return err
			}
			return writeKeyfiles(dir, has.content.Keyfiles)
		},
	}
	unwrap.Flags().StringVarP(&dir, "directory", "C", ".", "directory to write to")
	c.AddCommand(wrap, unwrap)
	return c
}

func pxeShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show INITRD",
		Short: "List the files in all archives of an initrd",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return openInitrd(args[0], func(r io.Reader) error {
				seen := false
				for e, err := range embedarea.Members(r) {
					if err != nil {
						return err
					}
					seen = true
					if e.IsRegular() {
						listMember(cmd.OutOrStdout(), e)
					}
				}
				return isInitrd(seen)
			})
		},
	}
}

// addKeyfiles reads keyfiles by the names of their files. Those that are there already are
// replaced; of two with one name, as from the folders of two hosts, one would be lost.
func addKeyfiles(to map[string][]byte, paths []string) error {
	from := map[string]string{}
	for _, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name := keyfileName(filepath.Base(p))
		if other, twice := from[name]; twice {
			return fmt.Errorf("two keyfiles are named %s: %s and %s", name, other, p)
		}
		from[name], to[name] = p, raw
	}
	return nil
}
