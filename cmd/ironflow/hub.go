package main

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

	"github.com/prometheus/client_golang/prometheus"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/agentlabels"
	"github.com/ironflow/ironflow/controllers/agents"
	"github.com/ironflow/ironflow/controllers/cluster"
	"github.com/ironflow/ironflow/controllers/infraenv"
	"github.com/ironflow/ironflow/controllers/link"
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
)

// hubParts are the hub's core and its REST API.
type hubParts struct {
	core  *service.Hub
	api   *rest.Server
	cert  pki.Files
	tls   v1alpha1.TLS
	log   *slog.Logger
	store store.Store
	files configured.FileStore
	door  door
	// releases are asked for while the hub serves.
	releases *releases.File
	// lookup finds out which release an image is.
	lookup *lookup.Finder
	// ignition is the folder of installed systems' Ignition; nil for none.
	ignition *os.Root
	// around is put around the API; nil for nothing.
	around func(http.Handler) http.Handler
	// live makes what the API serves of live images; it has base images where those are
	// served by the same process.
	live *program
}

func newHub(ctx context.Context, s configuration, cert pki.Files, metrics prometheus.Registerer, log *slog.Logger) (*hubParts, error) {
	records, err := configured.OpenStore(ctx, s.Store)
	if err != nil {
		return nil, fmt.Errorf("the hub's store: %w", err)
	}
	return newHubOver(ctx, records, s, cert, nil, metrics, log)
}

// newHubOver makes the hub over records that are open.
func newHubOver(ctx context.Context, records store.Store, s configuration, cert pki.Files, urls func(wire.InfraEnv, string) (service.ImageURLs, error), metrics prometheus.Registerer, log *slog.Logger) (*hubParts, error) {
	h := &hubParts{cert: cert, tls: s.TLS, log: log, store: records}
	var err error
	if h.files, err = configured.Files(s.Files).Open(ctx, s.Store.DataDir, log); err != nil {
		return nil, fmt.Errorf("the hub's files: %w", err)
	}
	key, err := configured.TokenKey(s.Hub, s.Store.DataDir)
	if err != nil {
		return nil, err
	}
	options := service.Options{NodeZero: s.nodeZero.Host, Store: h.store, Files: h.files, TokenKey: key, Log: log, ImageURLs: urls}
	if err := errors.Join(configured.Validations(s.HubValidations).Apply(&options), s.work().Apply(&options)); err != nil {
		return nil, err
	}
	if h.ignition, err = s.work().Ignition(); err != nil {
		return nil, err
	}
	if options.Sources, err = s.work().Sources(h.ignition, filepath.Join(s.Store.DataDir, "openshift-install")); err != nil {
		return nil, err
	}
	options.Inside.URL, options.Inside.Key = s.Hub.PublishURL, key
	options.Inside.CA = func() (string, error) { return cert.CAText() }
	if options.Keys, err = seal.Load(filepath.Join(s.Store.DataDir, "cluster.key")); err != nil {
		return nil, err
	}
	if h.core, err = service.New(options); err != nil {
		return nil, err
	}
	h.live = &program{settings: s, cert: cert, hub: h}
	api := rest.Options{
		Hub: h.core, Auth: rest.Auth{None: s.Hub.Auth == configured.AuthNone, Key: key, Local: s.nodeZero.local}, Registerer: metrics, Log: log,
		PublicURL: s.Hub.PublishURL, LiveFiles: h.live.envImages(),
	}
	if err := (hubAPI{s.Hub, s.HubReleases}).apply(ctx, s.Kubernetes.Kubeconfig, &api); err != nil {
		return nil, err
	}
	h.releases, h.lookup = api.Releases, api.Lookup
	h.api, err = rest.New(api)
	return h, err
}

// listeners are those at the address, with TLS, and at the plain one, where they are not empty.
func (h *hubParts) listeners(ctx context.Context, addr, plain string) ([]net.Listener, error) {
	var all []net.Listener
	if addr != "" {
		config, err := serverTLS(h.cert, h.tls)
		if err != nil {
			return nil, err
		}
		secure, err := listen(ctx, addr)
		if err != nil {
			return nil, fmt.Errorf("hub: %w", err)
		}
		all = append(all, tls.NewListener(secure, config))
	}
	if plain == "" {
		return all, nil
	}
	listener, err := listen(ctx, plain)
	if err != nil {
		err = fmt.Errorf("hub: %w", err)
		for _, open := range all {
			err = errors.Join(err, open.Close())
		}
		return nil, err
	}
	return append(all, listener), nil
}

// serve answers agents at the address, and without TLS at the plain one unless it is empty, until ctx ends.
func (h *hubParts) serve(ctx context.Context, addr, plain string) error {
	listeners, err := h.listeners(ctx, addr, plain)
	if err != nil {
		return err
	}
	h.door.opened.Store(true)
	running := serving.Service{Hub: h.core, API: h.api, Releases: h.releases, Around: h.around, Close: h.close, Log: h.log}
	return running.Serve(ctx, listeners)
}

// close ends what the hub works on.
func (h *hubParts) close() error {
	err := errors.Join(h.store.Close(), h.files.Close())
	if h.ignition != nil {
		err = errors.Join(err, h.ignition.Close())
	}
	return err
}

// setup registers the controllers of the hub's resources.
func (h *hubParts) setup(mgr ctrl.Manager) error {
	h.core.AskMemory(agents.Memory{Client: mgr.GetClient()})
	var bases <-chan struct{} // those of another process change unheard
	if h.live.images != nil {
		bases = h.live.images.ChangedForEnvs
	}
	return errors.Join(
		infraenv.Setup(mgr, h.core, h.live.settings.Hub.PublishURL, h.live.liveSystem, bases),
		cluster.Setup(mgr, h.core, h.lookup, h.live.settings.Hub.PublishURL),
		agents.Setup(mgr, h.core, link.Behind(mgr.GetClient())),
		agentlabels.Setup(mgr),
	)
}
