// Package hub is the part of the program that serves the hub's REST API, with the controllers of the hub's
// resources. Its types are Part and, for what runs a hub without a cluster, Server. What the hub is and
// does lies in the packages below hub.
package hub

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/parts"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/serving"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

// Server is the hub's core and its REST API.
type Server struct {
	Core *service.Hub
	// Around is put around the API; nil for nothing.
	Around func(http.Handler) http.Handler
	// Started is called when it listens; nil for nothing.
	Started func()

	api   *rest.Server
	cert  pki.Files
	tls   v1alpha1.TLS
	log   *slog.Logger
	store store.Store
	files configured.FileStore
	door  parts.Door
	// releases are asked for while the hub serves.
	releases *releases.File
	// lookup finds out which release an image is.
	lookup *lookup.Finder
	// ignition is the folder of installed systems' Ignition; nil for none.
	ignition *os.Root
}

// Options are what a hub is made of.
type Options struct {
	Settings v1alpha1.IronflowConfiguration
	Cert     pki.Files
	// NodeZero is of a hub that runs on one of the hosts that it installs; empty for others.
	NodeZero NodeZero
	// Bases are the base images that the same process serves, which may be none; nil for none.
	Bases func() *media.Registry
	// ImageURLs tells where live images of infra-envs are; nil where that is not known.
	ImageURLs func(env wire.InfraEnv, token string) (service.ImageURLs, error)
	Metrics   prometheus.Registerer
	Log       *slog.Logger
}

// NodeZero is what a hub is told beside its settings that runs on one of the hosts that it installs.
type NodeZero struct {
	// Host is the host, and the infra-env of all hosts.
	Host service.NodeZero
	// Local checks tokens that were made with the image; nil without authentication.
	Local *rest.Local
	// Invoker is the name of the installer.
	Invoker string
	// Certificates are authorities of the cluster that were made with the image.
	Certificates map[string][]byte
}

// Work is what the hub installs with.
func (n NodeZero) Work(s *v1alpha1.IronflowConfiguration) configured.Work {
	return configured.Work{HubInstallation: s.HubInstallation, HubLimits: s.HubLimits, Invoker: n.Invoker, Certificates: n.Certificates}
}

// New makes a hub over the records of its settings.
func New(ctx context.Context, o Options) (*Server, error) {
	records, err := configured.OpenStore(ctx, o.Settings.Store)
	if err != nil {
		return nil, fmt.Errorf("the hub's store: %w", err)
	}
	return over(ctx, records, o)
}

// over makes the hub over records that are open.
func over(ctx context.Context, records store.Store, o Options) (*Server, error) {
	s := &o.Settings
	h := &Server{cert: o.Cert, tls: s.TLS, log: o.Log, store: records}
	var err error
	if h.files, err = configured.Files(s.Files).Open(ctx, s.Store.DataDir, o.Log); err != nil {
		return nil, fmt.Errorf("the hub's files: %w", err)
	}
	key, err := configured.TokenKey(s.Hub, s.Store.DataDir)
	if err != nil {
		return nil, err
	}
	work := o.NodeZero.Work(s)
	options := service.Options{NodeZero: o.NodeZero.Host, Store: h.store, Files: h.files, TokenKey: key, Log: o.Log, ImageURLs: o.ImageURLs}
	if err := errors.Join(configured.Validations(s.HubValidations).Apply(&options), work.Apply(&options)); err != nil {
		return nil, err
	}
	if h.ignition, err = work.Ignition(); err != nil {
		return nil, err
	}
	if options.Sources, err = work.Sources(h.ignition, filepath.Join(s.Store.DataDir, "openshift-install")); err != nil {
		return nil, err
	}
	options.Inside.URL, options.Inside.Key, options.Inside.CA = s.Hub.PublishURL, key, o.Cert.CAText
	if options.Keys, err = seal.Load(filepath.Join(s.Store.DataDir, "cluster.key")); err != nil {
		return nil, err
	}
	if h.Core, err = service.New(options); err != nil {
		return nil, err
	}
	api := rest.Options{
		Hub: h.Core, Auth: rest.Auth{None: s.Hub.Auth == configured.AuthNone, Key: key, Local: o.NodeZero.Local}, Registerer: o.Metrics, Log: o.Log,
		PublicURL: s.Hub.PublishURL, LiveFiles: Images(s, o.Cert, func() *service.Hub { return h.Core }, o.Bases, logr.Logger{}),
	}
	if err := (hubAPI{s.Hub, s.HubReleases}).apply(ctx, s.Kubernetes.Kubeconfig, &api); err != nil {
		return nil, err
	}
	h.releases, h.lookup = api.Releases, api.Lookup
	h.api, err = rest.New(api)
	return h, err
}

// listeners are those at the address, with TLS, and at the plain one, where they are not empty.
func (h *Server) listeners(ctx context.Context, addr, plain string) ([]net.Listener, error) {
	var all []net.Listener
	if addr != "" {
		config, err := parts.ServerTLS(h.cert, h.tls)
		if err != nil {
			return nil, err
		}
		secure, err := parts.Listen(ctx, addr)
		if err != nil {
			return nil, fmt.Errorf("hub: %w", err)
		}
		all = append(all, tls.NewListener(secure, config))
	}
	if plain == "" {
		return all, nil
	}
	listener, err := parts.Listen(ctx, plain)
	if err != nil {
		err = fmt.Errorf("hub: %w", err)
		for _, open := range all {
			err = errors.Join(err, open.Close())
		}
		return nil, err
	}
	return append(all, listener), nil
}

// Serve answers agents at the address, and without TLS at the plain one unless it is empty, until ctx ends.
func (h *Server) Serve(ctx context.Context, addr, plain string) error {
	listeners, err := h.listeners(ctx, addr, plain)
	if err != nil {
		return err
	}
	h.door.Open()
	if h.Started != nil {
		h.Started()
	}
	running := serving.Service{Hub: h.Core, API: h.api, Releases: h.releases, Around: h.Around, Close: h.Close, Log: h.log}
	return running.Serve(ctx, listeners)
}

// Close ends what the hub works on.
func (h *Server) Close() error {
	err := errors.Join(h.store.Close(), h.files.Close())
	if h.ignition != nil {
		err = errors.Join(err, h.ignition.Close())
	}
	return err
}
