package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

// rescan is how often the folder of base images is looked at for new media.
const rescan = time.Minute

// imageParts are the live images and their server.
type imageParts struct {
	media  *media.Registry
	mirror *media.Mirror // nil without a list of base images
	store  *images.Store
	server *server.Server
	// hosts and resolver are set before the server runs; without a hub in this
	// process there is no resolver.
	hosts    client.Reader
	resolver *hubpaths.Resolver
	// changed tells the controller of images that they are to be compared with the media
	// and settings, changedForEnvs that of InfraEnvs; settings are those that are read anew
	// for each build.
	changed, changedForEnvs chan struct{}
	settings                func() string
	// leads tells that this replica puts the images; others follow it.
	leads func() bool
	// caughtUp is when a follower last looked, in Unix nanoseconds.
	caughtUp atomic.Int64
	door     door
	log      logr.Logger
}

func newImages(ctx context.Context, s configuration, cert pki.Files, metrics prometheus.Registerer, log logr.Logger) (*imageParts, error) {
	registry, mirror, err := openMedia(ctx, s)
	if err != nil {
		return nil, err
	}
	programs, err := newHostPrograms(s)
	if err != nil {
		return nil, err
	}
	key, err := auth.LoadSecret(filepath.Join(s.Store.DataDir, "image.key"))
	if err != nil {
		return nil, fmt.Errorf("image signing key: %w", err)
	}
	parts := &imageParts{media: registry, mirror: mirror, log: log, changed: make(chan struct{}, 1), changedForEnvs: make(chan struct{}, 1), settings: func() string { return "" }, leads: func() bool { return true }}
	parts.store, err = images.NewStore(ctx, images.Options{
		Media: registry, BaseURL: s.Images.PublishURL, SigningKey: key, StateDir: filepath.Join(s.Store.DataDir, "images"),
		Programs: programs.ForArch, BootsDisk: func(key string) bool { return parts.hasSystem(ctx, key) },
	})
	if err != nil {
		return nil, err
	}
	// The address opens every host's config, so it goes into a private file and not into the log.
	if err := os.WriteFile(filepath.Join(s.Store.DataDir, redirectFile), []byte(parts.store.RedirectURL()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("keep the address for network boot: %w", err)
	}
	perAddress := s.Images.ConnectionsPerAddress
	if perAddress == 0 {
		perAddress = -1 // any number
	}
	parts.server = server.New(server.Options{
		Store: parts.store, Log: log, Registerer: metrics, CertFile: cert.Cert, KeyFile: cert.Key, Alias: parts.alias, MaxPerAddress: perAddress,
	})
	return parts, nil
}

// alias finds the images of infra-envs by the paths of the hub's REST API.
func (p *imageParts) alias(r *http.Request) (string, int) {
	if p.resolver != nil {
		if path, code := p.resolver.Resolve(r); code != 0 {
			return path, code
		}
	}
	if p.catchUp(r.Context()) && p.store.Lookup(r.URL.Path) != nil {
		return r.URL.Path, http.StatusOK
	}
	return "", 0
}

// catchUpEvery is how often a follower looks at most for what the leader has put.
const catchUpEvery = time.Second

// catchUp has a follower take over what the leader has put, and reports whether it looked.
func (p *imageParts) catchUp(ctx context.Context) bool {
	now, last := time.Now().UnixNano(), p.caughtUp.Load()
	if p.leads() || now-last < int64(catchUpEvery) || !p.caughtUp.CompareAndSwap(last, now) {
		return false
	}
	if err := p.store.CatchUp(ctx); err != nil && ctx.Err() == nil {
		p.log.Error(err, "cannot take over the images of the leader")
	}
	return true
}

// followLeader looks every ten seconds, so that what the leader revokes is revoked
// here, too. It ends when this replica leads.
func (p *imageParts) followLeader(ctx context.Context) {
	ticker := time.NewTicker(revokeEvery)
	defer ticker.Stop()
	for !p.leads() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			p.catchUp(ctx)
		}
	}
}

// revokeEvery is how long a revoked address may live on in a follower.
const revokeEvery = 10 * time.Second

// redirectFile holds the address of the iPXE script that DHCP servers offer.
const redirectFile = "ipxe-url"

// hasSystem tells whether a host has an operating system that it should start
// when it boots from the network without having been told to.
func (p *imageParts) hasSystem(ctx context.Context, key string) bool {
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

// openMedia opens the folder of base images, and prepares its downloads.
func openMedia(ctx context.Context, s configuration) (*media.Registry, *media.Mirror, error) {
	dir := s.Images.BaseImage
	if s.Images.BaseImageList != "" {
		if dir == "" {
			dir = filepath.Join(s.Store.DataDir, "base")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, fmt.Errorf("folder of base images: %w; with a list, --base-image must be a folder", err)
		}
	}
	registry, err := media.Open(ctx, dir, media.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("base images: %w", err)
	}
	if s.Images.BaseImageList == "" {
		return registry, nil, nil
	}
	// A list that cannot be read is a mistake of the operator, to be seen at once.
	if _, err := media.ReadList(s.Images.BaseImageList); err != nil {
		return nil, nil, err
	}
	return registry, &media.Mirror{File: s.Images.BaseImageList, Dir: dir, Registry: registry}, nil
}

// noPrograms as a setting keeps the host programs out of the images.
const noPrograms = "none"

// newHostPrograms makes the archives of the host programs, nil for none.
func newHostPrograms(s configuration) (*hostprograms.Archives, error) {
	dir := s.LiveSystem.HostPrograms
	if dir == noPrograms || s.LiveSystem.AgentImage != "" {
		return nil, nil
	}
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the folder of the host programs: %w", err)
		}
		if !hostprograms.Present(filepath.Dir(self)) {
			return nil, nil
		}
		dir = filepath.Dir(self)
	}
	archives, err := hostprograms.Open(dir, filepath.Join(s.Store.DataDir, "programs"))
	if err != nil {
		return nil, err
	}
	if s.LiveSystem.HostPrograms != "" && archives.Architectures() == 0 {
		return nil, fmt.Errorf("--host-programs %s holds no programs: put ironflow-agent and ironflow-step there, or those of other machines into folders like aarch64", dir)
	}
	return archives, nil
}

// architectures lists those that there is a base for.
func (p *imageParts) architectures() []string {
	var arches []string
	for _, b := range p.media.List() {
		if !slices.Contains(arches, b.Arch) {
			arches = append(arches, b.Arch)
		}
	}
	return arches
}

// ImageRead implements observe.ImageReads.
func (p *imageParts) ImageRead(key types.NamespacedName) policy.ImageRead {
	read, known := p.store.Progress(key.String())
	return policy.ImageRead{Known: known, Percent: int(read.Percent), Last: read.LastRead}
}

// serve answers BMCs, and registers new base media, until ctx ends.
func (p *imageParts) serve(ctx context.Context, plain, tls string) error {
	var listeners []server.Listener
	for _, l := range []struct {
		addr string
		tls  bool
	}{{plain, false}, {tls, true}} {
		if l.addr == "" || l.addr == "0" {
			continue
		}
		listener, err := listen(ctx, l.addr)
		if err != nil {
			return fmt.Errorf("image server: %w", err)
		}
		listeners = append(listeners, server.Listener{Listener: listener, TLS: l.tls})
	}
	p.door.opened.Store(true)
	go p.followBases(ctx)
	go p.followLeader(ctx)
	return p.server.Serve(ctx, listeners)
}

// followBases looks for new base media, and downloads those of the list, now and
// every minute until ctx ends.
func (p *imageParts) followBases(ctx context.Context) {
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	for before := p.state(); ; {
		err := p.lookForBases(ctx)
		if err != nil && ctx.Err() == nil {
			p.log.Error(err, "cannot get all base images")
		}
		if now := p.state(); now != before {
			before = now
			p.tellChange()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// state stands for everything but a host's own settings that images are made of.
func (p *imageParts) state() string {
	sum := sha256.New()
	for _, b := range p.media.List() {
		nmstatectl, _ := b.Nmstatectl()
		fmt.Fprintf(sum, "%q %q %q %q %t\n", b.Path, b.State(), b.Arch, b.Version, nmstatectl)
	}
	fmt.Fprintln(sum, p.settings())
	return string(sum.Sum(nil))
}

// tellChange has all images compared, and the networks of InfraEnvs judged; one word is
// enough until it is heard.
func (p *imageParts) tellChange() {
	for _, to := range []chan struct{}{p.changed, p.changedForEnvs} {
		select {
		case to <- struct{}{}:
		default:
		}
	}
}

func (p *imageParts) lookForBases(ctx context.Context) error {
	if p.mirror != nil {
		return p.mirror.Sync(ctx)
	}
	return p.media.Rescan(ctx)
}

// listen opens a TCP listener; a taken port is a sentence that says what to do.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address or stop what uses it", addr, err)
	}
	return l, nil
}
