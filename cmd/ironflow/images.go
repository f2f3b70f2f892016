package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/imagecustomization/base"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

// rescan is how often the folder of base images is looked at for new media.
const rescan = time.Minute

// imageParts are the live images and their server.
type imageParts struct {
	bases  *base.Registry
	store  *images.Store
	server *server.Server
	log    logr.Logger
}

func newImages(ctx context.Context, s settings, cert pki.Files, metrics prometheus.Registerer, log logr.Logger) (*imageParts, error) {
	bases, err := base.Open(ctx, s.baseImage, base.Options{})
	if err != nil {
		return nil, fmt.Errorf("base images: %w", err)
	}
	key, err := signingKey(s.dataDir, "image.key")
	if err != nil {
		return nil, fmt.Errorf("image signing key: %w", err)
	}
	store, err := images.NewStore(ctx, images.Options{
		Bases: bases, BaseURL: s.imagesURL, SigningKey: key, StateDir: filepath.Join(s.dataDir, "images"),
	})
	if err != nil {
		return nil, err
	}
	return &imageParts{
		bases: bases, store: store, log: log,
		server: server.New(server.Options{Store: store, Log: log, Registerer: metrics, CertFile: cert.Cert, KeyFile: cert.Key}),
	}, nil
}

// architectures lists those that there is a base for.
func (p *imageParts) architectures() []string {
	var arches []string
	for _, b := range p.bases.List() {
		if !slices.Contains(arches, b.Arch) {
			arches = append(arches, b.Arch)
		}
	}
	return arches
}

// ImageRead implements host.ImageReads.
func (p *imageParts) ImageRead(key types.NamespacedName) host.ImageRead {
	read, known := p.store.Progress(key.String())
	return host.ImageRead{Known: known, Percent: int(read.Percent), Last: read.LastRead}
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
	go p.rescanBases(ctx)
	return p.server.Serve(ctx, listeners)
}

func (p *imageParts) rescanBases(ctx context.Context) {
	ticker := time.NewTicker(rescan)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := p.bases.Rescan(ctx); err != nil {
				p.log.Error(err, "cannot look for base images")
			}
		}
	}
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
