package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

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
	tlsCert, tlsKey                           string
	validFor                                  time.Duration

	live network.Live // what is known of the base image
}

func serveCommand() *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve --base FILE_OR_DIR --hosts DIR --listen ADDR",
		Short: "Serve the live images of a directory of hosts",
		Long: "Serves one image for each host in the directory: NAME.ign is its Ignition config; " +
			"NAME.yaml (nmstate), NAME.json (OpenStack's network data) and NAME/*.nmconnection are its network settings. " +
			"One of these files is enough for a host. The URLs of the images are printed, for an initrd that of its iPXE script. " +
			"The directory is watched: a host that is added or changed gets a new URL; the URL of a host that is removed stops working at once.",
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
	c.Flags().StringVar(&o.url, "url", "", "base URL at which BMCs reach this server (default: the address of --listen)")
	c.Flags().StringVar(&o.keyFile, "signing-key", "", "file with the key, at least 32 bytes, that URLs of images are signed with (default: a new one at each start)")
	c.Flags().StringVar(&o.format, "format", images.FormatISO, "kind of images: iso, minimal-iso or initrd")
	c.Flags().StringVar(&o.tlsCert, "tls-cert", "", "PEM file with the certificate for HTTPS, and those of its issuers; read again when it changes")
	c.Flags().StringVar(&o.tlsKey, "tls-key", "", "PEM file with the key of --tls-cert")
	c.Flags().DurationVar(&o.validFor, "valid-for", 0, "how long the URL of an image is valid, such as 12h; after that, another one is printed (default: as long as its host is in the folder)")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	for _, name := range []string{"base", "hosts"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) //nolint:forbidigo // the flags were added above
		}
	}
	return c
}

func (o serveOptions) serve(ctx context.Context, out io.Writer) error {
	if o.validFor < 0 {
		return fmt.Errorf("--valid-for %s: write a time of more than 0, such as 12h", o.validFor)
	}
	if formats := []string{images.FormatISO, images.FormatMinimalISO, images.FormatInitrd}; !slices.Contains(formats, o.format) {
		return fmt.Errorf("--format %q is not known: want one of %s", o.format, strings.Join(formats, ", "))
	}
	key, err := o.key()
	if err != nil {
		return err
	}
	registry, err := media.Open(ctx, o.base, media.Options{})
	if err != nil {
		return err
	}
	m, err := registry.Select(ctx, "", "")
	if err != nil {
		return err
	}
	o.live.Nmstatectl, o.live.Why = m.Nmstatectl()
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", o.listen, err)
	}
	secure := o.tlsCert != ""
	if bound, ok := l.Addr().(*net.TCPAddr); ok && o.url == "" && bound.IP.IsUnspecified() {
		return errors.Join(fmt.Errorf("--listen %s is every address of this machine: say by --url which one BMCs reach, e.g. --url http://192.0.2.1:%d", o.listen, bound.Port), l.Close())
	}
	if o.url == "" {
		scheme := "http://"
		if secure {
			scheme = "https://"
		}
		o.url = scheme + l.Addr().String()
	}
	store, err := images.NewStore(ctx, images.Options{Media: registry, BaseURL: o.url, SigningKey: key})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	f := &follower{serveOptions: o, store: store, registry: registry, out: out, known: map[string]followed{}}
	if err := f.begin(ctx); err != nil {
		return errors.Join(err, l.Close())
	}
	store.MarkSynced()
	ctx, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	following.Go(func() { f.follow(ctx) })
	listeners := []server.Listener{{Listener: l, TLS: secure}}
	return server.New(server.Options{Store: store, Log: logr.Discard(), CertFile: o.tlsCert, KeyFile: o.tlsKey}).Serve(ctx, listeners)
}

func (o serveOptions) key() ([]byte, error) {
	if o.keyFile != "" {
		return os.ReadFile(o.keyFile)
	}
	key := make([]byte, 32)
	_, err := rand.Read(key)
	return key, err
}
