package images

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/server"
	"github.com/ironflow/ironflow/imagecustomization/serving"
)

// Server has the live images and their server, and what they know of hosts.
type Server struct {
	*serving.Service

	// hosts is set before the server runs.
	hosts client.Reader
	door  parts.Door
}

// New makes the images and their server by the settings.
func New(ctx context.Context, s *v1alpha1.IronflowConfiguration, cert pki.Files, metrics prometheus.Registerer, log logr.Logger) (*Server, error) {
	registry, mirror, err := configured.Bases(ctx, s.Images, s.Store.DataDir)
	if err != nil {
		return nil, err
	}
	programs, err := configured.Programs(s.LiveSystem, s.Store.DataDir)
	if err != nil {
		return nil, err
	}
	key, err := auth.LoadSecret(filepath.Join(s.Store.DataDir, "image.key"))
	if err != nil {
		return nil, fmt.Errorf("image signing key: %w", err)
	}
	made := &Server{}
	store, err := images.NewStore(ctx, images.Options{
		Media: registry, BaseURL: s.Images.PublishURL, SigningKey: key, StateDir: filepath.Join(s.Store.DataDir, "images"),
		Programs: programs.ForArch, BootsDisk: func(key string) bool { return made.hasSystem(ctx, key) },
	})
	if err != nil {
		return nil, err
	}
	// The address opens every host's config, so it goes into a private file and not into the log.
	if err := os.WriteFile(filepath.Join(s.Store.DataDir, redirectFile), []byte(store.RedirectURL()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("keep the address for network boot: %w", err)
	}
	perAddress := s.Images.ConnectionsPerAddress
	if perAddress == 0 {
		perAddress = -1 // any number
	}
	made.Service = serving.New(serving.Options{
		Media: registry, Mirror: mirror, Store: store, CertFile: cert.Cert, KeyFile: cert.Key, MaxPerAddress: perAddress, Registerer: metrics, Log: log,
	})
	return made, nil
}

// redirectFile holds the address of the iPXE script that DHCP servers offer.
const redirectFile = "ipxe-url"

// hasSystem tells whether a host has an operating system that it should start
// when it boots from the network without having been told to.
func (p *Server) hasSystem(ctx context.Context, key string) bool {
	namespace, name, _ := strings.Cut(key, "/")
	h := &metal3v1.BareMetalHost{}
	if p.hosts == nil {
		return false
	}
	if err := p.hosts.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, h); err != nil {
		return false
	}
	state := h.Status.Provisioning.State
	return state == metal3v1.StateProvisioned || state == metal3v1.StateExternallyProvisioned
}

// imageRead is how far the image of a host was read.
func (p *Server) imageRead(key types.NamespacedName) policy.ImageRead {
	read, known := p.Store.Progress(key.String())
	return policy.ImageRead{Known: known, Percent: int(read.Percent), Last: read.LastRead}
}

// serve answers BMCs, and registers new base media, until ctx ends.
func (p *Server) serve(ctx context.Context, plain, tls string) error {
	var listeners []server.Listener
	for _, l := range []struct {
		addr string
		tls  bool
	}{{plain, false}, {tls, true}} {
		if l.addr == "" || l.addr == "0" {
			continue
		}
		listener, err := parts.Listen(ctx, l.addr)
		if err != nil {
			return fmt.Errorf("image server: %w", err)
		}
		listeners = append(listeners, server.Listener{Listener: listener, TLS: l.tls})
	}
	p.door.Open()
	return p.Serve(ctx, listeners)
}
