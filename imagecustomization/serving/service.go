// Package serving is the image server of one process: base images that are looked for and downloaded, the images that were put into its store, and the
// server that BMCs and machines read both from. It puts no image itself. One replica does that, the one that leads; the others take over what it has put
// and what it has revoked. The main type is [Service].
package serving

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/server"
)

// Options are what a service is made of.
type Options struct {
	Media *media.Registry
	// Mirror downloads base images; nil without a list of them.
	Mirror *media.Mirror
	Store  *images.Store
	// CertFile and KeyFile are for TLS.
	CertFile, KeyFile string
	// MaxPerAddress limits the connections of one address; negative is any number.
	MaxPerAddress int
	Registerer    prometheus.Registerer
	Log           logr.Logger
}

// Service is the image server of a process. Fields are set before [Service.Serve].
type Service struct {
	Media *media.Registry
	Store *images.Store
	// Resolver finds the images of infra-envs by the paths of the hub's REST API; nil without a hub.
	Resolver *hubpaths.Resolver
	// Settings stands for what is read anew for each image that is put together; when it is another than before, all images are to be compared.
	Settings func() string
	// Leads tells that this replica puts the images; others follow it.
	Leads func() bool
	// Changed tells the controller of images that they are to be compared with base images and settings, ChangedForEnvs that of InfraEnvs. Each has room for one word.
	Changed, ChangedForEnvs chan struct{}

	mirror *media.Mirror
	server *server.Server
	// caughtUp is when a follower last looked, in Unix nanoseconds.
	caughtUp atomic.Int64
	log      logr.Logger
}

// New makes a service that leads, for now.
func New(o Options) *Service {
	s := &Service{
		Media: o.Media, Store: o.Store, Settings: func() string { return "" }, Leads: func() bool { return true },
		Changed: make(chan struct{}, 1), ChangedForEnvs: make(chan struct{}, 1), mirror: o.Mirror, log: o.Log,
	}
	s.server = server.New(server.Options{
		Store: o.Store, Log: o.Log, Registerer: o.Registerer, CertFile: o.CertFile, KeyFile: o.KeyFile, Alias: s.alias, MaxPerAddress: o.MaxPerAddress,
	})
	return s
}

// Serve answers BMCs, looks for base images and follows the leader until ctx ends.
func (s *Service) Serve(ctx context.Context, listeners []server.Listener) error {
	go s.FollowBases(ctx)
	go s.followLeader(ctx)
	return s.server.Serve(ctx, listeners)
}

// Architectures lists those that there is a base image for.
func (s *Service) Architectures() []string {
	var arches []string
	for _, b := range s.Media.List() {
		if !slices.Contains(arches, b.Arch) {
			arches = append(arches, b.Arch)
		}
	}
	return arches
}

// alias finds the images of infra-envs by the paths of the hub's REST API, and what the leader has put since this replica last looked.
func (s *Service) alias(r *http.Request) (string, int) {
	if s.Resolver != nil {
		if path, code := s.Resolver.Resolve(r); code != 0 {
			return path, code
		}
	}
	if s.catchUp(r.Context()) && s.Store.Lookup(r.URL.Path) != nil {
		return r.URL.Path, http.StatusOK
	}
	return "", 0
}

const (
	// catchUpEvery is how often a follower looks at most for what the leader has put.
	catchUpEvery = time.Second
	// revokeEvery is how long a revoked address may live on in a follower.
	revokeEvery = 10 * time.Second
)

// catchUp has a follower take over what the leader has put, and reports whether it looked.
func (s *Service) catchUp(ctx context.Context) bool {
	now, last := time.Now().UnixNano(), s.caughtUp.Load()
	if s.Leads() || now-last < int64(catchUpEvery) || !s.caughtUp.CompareAndSwap(last, now) {
		return false
	}
	if err := s.Store.CatchUp(ctx); err != nil && ctx.Err() == nil {
		s.log.Error(err, "cannot take over the images of the leader")
	}
	return true
}

// followLeader looks every ten seconds, so that what the leader revokes is revoked here, too. It ends when this replica leads.
func (s *Service) followLeader(ctx context.Context) {
	ticker := time.NewTicker(revokeEvery)
	defer ticker.Stop()
	for !s.Leads() {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.catchUp(ctx)
		}
	}
}
