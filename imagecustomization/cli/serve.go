package cli

import (
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
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/ironflow/ironflow/imagecustomization/base"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

// serveOptions are the flags of "serve".
type serveOptions struct {
	base, hosts, listen, url, keyFile string
}

func serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve --base FILE_OR_DIR --hosts DIR --listen ADDR",
		Short: "Serve the live images of a directory of hosts",
		Long: "Serves one image for each host in the directory: NAME.ign is its Ignition config, " +
			"NAME.yaml (nmstate) and NAME/*.nmconnection are its network settings. The addresses are printed.",
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
	bases, err := base.Open(ctx, o.base, base.Options{})
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
	store, err := images.NewStore(ctx, images.Options{Bases: bases, BaseURL: o.url, SigningKey: key})
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

// putHosts builds the image of every NAME.ign; one bad host does not keep the
// others from booting, but a directory without any good one is an error.
func (o serveOptions) putHosts(ctx context.Context, store *images.Store, out io.Writer) error {
	files, err := filepath.Glob(filepath.Join(o.hosts, "*.ign"))
	if err != nil {
		return err
	}
	good := 0
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".ign")
		b, err := putHost(ctx, store, o.hosts, name)
		if err != nil {
			fmt.Fprintf(out, "%s: %v\n", name, err)
			continue
		}
		good++
		fmt.Fprintf(out, "%s %s\n", name, b.URL)
	}
	if good == 0 {
		return fmt.Errorf("no image to serve: put at least one usable NAME.ign into %s", o.hosts)
	}
	return nil
}

func putHost(ctx context.Context, store *images.Store, dir, name string) (images.Built, error) {
	config, err := os.ReadFile(filepath.Join(dir, name+".ign"))
	if err != nil {
		return images.Built{}, err
	}
	keyfiles, err := translated(filepath.Join(dir, name+".yaml"))
	if err != nil {
		return images.Built{}, err
	}
	ready, err := readKeyfiles(filepath.Join(dir, name))
	if err != nil {
		return images.Built{}, err
	}
	maps.Copy(keyfiles, ready)
	return store.Put(ctx, images.Spec{Key: "hosts/" + name, Ignition: config, NetworkKeyfiles: keyfiles})
}

// translated returns the keyfiles of an nmstate file, none when there is none.
func translated(file string) (map[string][]byte, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string][]byte{}, nil
	}
	if err != nil {
		return nil, err
	}
	return network.Keyfiles(raw)
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
