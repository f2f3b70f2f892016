package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// customization is what "customize" and "pxe customize" have in common.
type customization struct {
	live, dest, cas, pre, post, configs []string
	keyfiles, nmstate                   []string
	unattended                          ignition.Unattended
	force                               bool
}

func (o *customization) flags(c *cobra.Command) {
	f := c.Flags()
	for _, files := range []struct {
		name, usage string
		to          *[]string
	}{
		{"live-ignition", "Ignition config to merge into the live system's (repeatable)", &o.live},
		{"dest-ignition", "Ignition config of the installed system (repeatable)", &o.dest},
		{"ignition-ca", "PEM file with CAs that Ignition trusts when it fetches files that configs refer to (repeatable)", &o.cas},
		{"network-keyfile", "NetworkManager keyfile for live and installed system (repeatable)", &o.keyfiles},
		{"network-nmstate", "nmstate document for live and installed system (repeatable)", &o.nmstate},
		{"pre-install", "program to run before the installation (repeatable)", &o.pre},
		{"post-install", "program to run after the installation (repeatable)", &o.post},
		{"installer-config", "config of coreos-installer, YAML (repeatable)", &o.configs},
		{"dest-karg-append", "kernel argument to add to the installed system (repeatable)", &o.unattended.AppendKargs},
		{"dest-karg-delete", "kernel argument to remove from the installed system (repeatable)", &o.unattended.DeleteKargs},
		{"dest-console", "console of the installed system's kernel and boot loader, e.g. ttyS0,115200n8 (repeatable)", &o.unattended.Consoles},
	} {
		f.StringArrayVar(files.to, files.name, nil, files.usage)
	}
	f.StringVar(&o.unattended.DestDevice, "dest-device", "", "disk to install to; its content is overwritten without asking; empty: nothing is installed")
	f.BoolVarP(&o.force, "force", "f", false, "replace what was embedded before")
}

// content reads the files and renders what is embedded, for a system with these
// features.
func (o *customization) content(features map[string]bool) (embedarea.Content, error) {
	for _, files := range []struct {
		paths []string
		to    *[]ignition.File
	}{
		{o.live, &o.unattended.Live},
		{o.dest, &o.unattended.Dest},
		{o.cas, &o.unattended.CAs},
		{o.pre, &o.unattended.PreInstall},
		{o.post, &o.unattended.PostInstall},
		{o.configs, &o.unattended.Configs},
	} {
		for _, path := range files.paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				return embedarea.Content{}, err
			}
			*files.to = append(*files.to, ignition.File{Name: filepath.Base(path), Data: raw})
		}
	}
	keyfiles, err := o.network(features)
	if err != nil {
		return embedarea.Content{}, err
	}
	o.unattended.CopyNetwork = o.unattended.Installs() && len(keyfiles) > 0
	if err := o.supported(features); err != nil {
		return embedarea.Content{}, err
	}
	config, err := ignition.BuildUnattended(o.unattended)
	return embedarea.Content{Ignition: config, Keyfiles: keyfiles}, err
}

// network returns the keyfiles; one name twice is an error.
func (o *customization) network(features map[string]bool) (map[string][]byte, error) {
	all := map[string][]byte{}
	add := func(name string, content []byte) error {
		name = keyfileName(name)
		if _, twice := all[name]; twice {
			return fmt.Errorf("two keyfiles are named %s", name)
		}
		all[name] = content
		return nil
	}
	for _, path := range o.keyfiles {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if err := add(filepath.Base(path), raw); err != nil {
			return nil, err
		}
	}
	for _, path := range o.nmstate {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		translated, err := network.Keyfiles(raw)
		if network.LeftToNmstatectl(err) {
			err = fmt.Errorf("%w\nand nothing on the medium would run nmstatectl: leave it out, or write the connection as a keyfile (--network-keyfile)", err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for name, content := range translated {
			if err := add(name, content); err != nil {
				return nil, err
			}
		}
	}
	if len(all) > 0 && !features[iso.FeatureInitrdNetwork] {
		return nil, overlay.ErrNoInitrdNetwork
	}
	return all, nil
}

// listedFirst is the directive that came with the list of directives: media that list
// none know the older ones, and end an installation at this one.
const listedFirst = "console"

// supported refuses what the live system's installer does not know.
func (o *customization) supported(features map[string]bool) error {
	hooks := len(o.unattended.PreInstall)+len(o.unattended.PostInstall) > 0
	if (hooks || o.unattended.Installs()) && !features[iso.FeatureInstallerConfig] {
		return errors.New("this medium's installer takes no configs (feature " + iso.FeatureInstallerConfig + "): use a newer medium")
	}
	directives, err := o.unattended.Directives()
	if err != nil {
		return err
	}
	for _, name := range directives {
		known := features[iso.FeatureDirectives+"/"+name]
		if !features[iso.FeatureDirectives] {
			known = name != listedFirst
		}
		if !known {
			return fmt.Errorf("this medium's installer does not know the directive %q: use a newer medium, or leave it out", name)
		}
	}
	return nil
}

// tell says what a machine will do, because it asks nobody.
func (o *customization) tell(w io.Writer) {
	switch {
	case o.unattended.DestDevice != "":
		fmt.Fprintf(w, "A machine that boots this installs to %s without asking.\n", o.unattended.DestDevice)
	case o.unattended.Installs():
		fmt.Fprintln(w, "A machine that boots this starts the installer by itself.")
	}
	if consoles := ignition.ConsolesAmong(o.unattended.AppendKargs); len(consoles) > 0 {
		fmt.Fprintf(w, "The kernel argument console= says nothing to the boot loader: --dest-console %s sets up both.\n", strings.Join(consoles, " --dest-console "))
	}
}

func customizeCommand() *cobra.Command {
	var o customization
	var kargs overlay.KargsEdit
	var out string
	c := &cobra.Command{
		Use:   "customize [flags] -o OUT ISO",
		Short: "Make a live ISO that configures a machine and, if wanted, installs it",
		Long: "Embeds Ignition configs, network settings and kernel arguments at once, and tells coreos-installer in the live system what to install. " +
			"Nothing of it needs a hub.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return rewrite(args[0], out, func(m *medium) (*overlay.Image, error) {
				image, err := o.image(m, kargs)
				if err == nil {
					o.tell(cmd.ErrOrStderr())
				}
				return image, err
			})
		},
	}
	o.flags(c)
	c.Flags().StringArrayVar(&kargs.Append, "live-karg-append", nil, "kernel argument to add to the live system (repeatable)")
	c.Flags().StringArrayVar(&kargs.Delete, "live-karg-delete", nil, "kernel argument to remove from the live system (repeatable)")
	c.Flags().StringArrayVar(&kargs.Replace, "live-karg-replace", nil, "kernel argument of the live system to change, as KEY=OLD=NEW (repeatable)")
	outputFlag(c, &out)
	return c
}

// image customizes the untouched medium.
func (o *customization) image(m *medium, kargs overlay.KargsEdit) (*overlay.Image, error) {
	untouched, err := overlay.Reset(m.Media)
	if err != nil {
		return nil, err
	}
	if err := o.checkUntouched(m, untouched); err != nil {
		return nil, err
	}
	layout, err := iso.Parse(untouched, untouched.Size())
	if err != nil {
		return nil, err
	}
	content, err := o.content(layout.Features)
	if err != nil {
		return nil, err
	}
	return overlay.Customize(overlay.Media{Source: untouched, Layout: layout}, overlay.Options{Content: content, Kargs: kargs})
}

// checkUntouched refuses a medium that somebody has customized before.
func (o *customization) checkUntouched(m *medium, untouched *overlay.Image) error {
	if o.force {
		return nil
	}
	same, err := equal(m, m.Size(), untouched)
	if err == nil && !same {
		err = errors.New("it is customized already; use --force to replace that")
	}
	return err
}

// equal compares a medium with what a reset makes of it, where that differs: most
// of it is the same bytes by its making.
func equal(was io.ReaderAt, size int64, now *overlay.Image) (bool, error) {
	if size != now.Size() {
		return false, nil
	}
	for s := range now.Range(0, size) {
		if s.Source != nil {
			continue
		}
		a, b := make([]byte, s.Length), make([]byte, s.Length)
		if _, err := was.ReadAt(a, s.Offset); err != nil {
			return false, err
		}
		if _, err := now.ReadAt(b, s.Offset); err != nil {
			return false, err
		}
		if !bytes.Equal(a, b) {
			return false, nil
		}
	}
	return true, nil
}
