package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

// serveOptions are the flags of "serve".
type serveOptions struct {
	base, hosts, listen, url, keyFile, format string
}

func serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve --base FILE_OR_DIR --hosts DIR --listen ADDR",
		Short: "Serve the live images of a directory of hosts",
		Long: "Serves one image for each host in the directory: NAME.ign is its Ignition config; " +
			"NAME.yaml (nmstate), NAME.json (OpenStack's network data) and NAME/*.nmconnection are its network settings. " +
			"Any of them makes a host. The addresses are printed, for an initrd that of its iPXE script.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return o.serve(ctx, cmd.OutOrStdout())
		},
	}
	c.Flags().StringVar(&o.base, "base", "", "live ISO, or a directory of them (required)")
	c.Flags().StringVar(&o.hosts, "hosts", "", "directory of hosts (required)")
	c.Flags().StringVar(&o.listen, "listen", "127.0.0.1:8080", "address to listen on")
	c.Flags().StringVar(&o.url, "url", "", "address as BMCs see it (default: the listening address)")
	c.Flags().StringVar(&o.keyFile, "signing-key", "", "file with the key of the addresses, at least 32 bytes (default: a new one on each start)")
	c.Flags().StringVar(&o.format, "format", images.FormatISO, "iso, minimal-iso or initrd")
	for _, name := range []string{"base", "hosts"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) //nolint:forbidigo // the flags were added above
		}
	}
	return c
}

func (o serveOptions) serve(ctx context.Context, out io.Writer) error {
	key, err := o.key()
	if err != nil {
		return err
	}
	registry, err := media.Open(ctx, o.base, media.Options{})
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", o.listen, err)
	}
	if o.url == "" {
		o.url = "http://" + l.Addr().String()
	}
	store, err := images.NewStore(ctx, images.Options{Media: registry, BaseURL: o.url, SigningKey: key})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	if err := o.putHosts(ctx, store, out); err != nil {
		return errors.Join(err, l.Close())
	}
	store.MarkSynced()
	return server.New(server.Options{Store: store, Log: logr.Discard()}).Serve(ctx, []server.Listener{{Listener: l}})
}

func (o serveOptions) key() ([]byte, error) {
	if o.keyFile != "" {
		return os.ReadFile(o.keyFile)
	}
	key := make([]byte, 32)
	_, err := rand.Read(key)
	return key, err
}

// putHosts builds the image of every host; one bad host does not keep the others
// from booting, but a directory without any good one is an error.
func (o serveOptions) putHosts(ctx context.Context, store *images.Store, out io.Writer) error {
	names, err := hostNames(o.hosts)
	if err != nil {
		return err
	}
	good := 0
	for _, name := range names {
		b, err := o.putHost(ctx, store, name)
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", name, err)
			continue
		}
		good++
		fmt.Fprintf(out, "%s %s\n", name, cmp.Or(b.ScriptURL, b.URL))
	}
	if good == 0 {
		return fmt.Errorf("no image to serve: put at least one usable NAME.ign, NAME.yaml, NAME.json or NAME/*.nmconnection into %s", o.hosts)
	}
	return nil
}

// hostNames lists the hosts of a directory, sorted: every file or folder that
// describes one.
func hostNames(dir string) ([]string, error) {
	var names []string
	for _, pattern := range []string{"*.ign", "*.yaml", "*.json", "*/*.nmconnection"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if strings.HasPrefix(pattern, "*/") {
				f = filepath.Dir(f)
			}
			names = append(names, strings.TrimSuffix(filepath.Base(f), strings.TrimPrefix(pattern, "*")))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

func (o serveOptions) putHost(ctx context.Context, store *images.Store, name string) (images.Built, error) {
	config, err := os.ReadFile(filepath.Join(o.hosts, name+".ign"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return images.Built{}, err
	}
	keyfiles := map[string][]byte{}
	for _, read := range []func() (map[string][]byte, error){
		func() (map[string][]byte, error) {
			return translated(filepath.Join(o.hosts, name+".json"), network.FromNetworkData)
		},
		func() (map[string][]byte, error) {
			return translated(filepath.Join(o.hosts, name+".yaml"), network.Keyfiles)
		},
		func() (map[string][]byte, error) { return readKeyfiles(filepath.Join(o.hosts, name)) },
	} {
		more, err := read()
		if err != nil {
			return images.Built{}, err
		}
		maps.Copy(keyfiles, more)
	}
	return store.Put(ctx, images.Spec{Key: "hosts/" + name, Format: o.format, Ignition: config, NetworkKeyfiles: keyfiles})
}

// translated returns the keyfiles of a description, none when there is none.
func translated(file string, translate func([]byte) (map[string][]byte, error)) (map[string][]byte, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return translate(raw)
}

// readKeyfiles returns the keyfiles of a directory, none when there is none.
func readKeyfiles(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".nmconnection" {
			continue
		}
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return out, nil
}
