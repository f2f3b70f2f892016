package service

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/checkins"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Options say how a hub works. Store and Files are required.
type Options struct {
	// Store keeps the records.
	Store store.Store
	// Files is the folder for logs; nothing outside of it is touched.
	Files *os.Root
	// Ignition gives hosts their configuration; nil means minimal ones.
	Ignition ignition.Source
	// TokenKey signs agent tokens. The zero key makes none, for hubs without authentication.
	TokenKey auth.Key
	// Log may be nil.
	Log *slog.Logger
	// ImageURLs says where the live image of an infra-env is served, for hosts that
	// have the token; nil when there is no image server.
	ImageURLs func(env wire.InfraEnv, token string) (ImageURLs, error)
	// Images of an installation; Installer and Controller have defaults.
	Images instructions.Images
	// Requirements of clusters with a release; an empty table means [validations.OpenShift].
	Requirements validations.Table
	// Checks change the validations.
	Checks Checks
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Timers have defaults, see [Timers].
	Timers Timers
	// MaxLogBytes bounds one log archive; zero means the protocol's 262,144,000.
	MaxLogBytes int64
}

// Checks change the validations of hosts and clusters.
type Checks struct {
	// DisabledHost and DisabledCluster are ids of checks that are not run.
	DisabledHost, DisabledCluster []string
	// AgentImage is the only agent that hosts may run; empty accepts any.
	AgentImage string
}

// Hub is the application core. All methods are safe for concurrent use.
type Hub struct {
	store    store.Store
	files    *os.Root
	ignition ignition.Source
	key      auth.Key
	log      *slog.Logger
	images   instructions.Images
	needs    validations.Table
	checks   Checks
	now      func() time.Time
	timers   Timers
	maxLog   int64
	// crowd are the hosts that poll, hurried those of them that are on their way to an installation.
	crowd, hurried crowd
	// checkIns are the hosts' signs of life; cache is what polls are answered from.
	checkIns checkins.Book
	cache    snapshots.Cache
	seed     maphash.Seed
	// units is held by units of work, alone by those that others kept from being stored.
	units sync.RWMutex
	// started is when agents could first reach this hub; until then nobody could be heard.
	started atomic.Pointer[time.Time]

	imageURLs func(env wire.InfraEnv, token string) (ImageURLs, error)
}

// defaultImage names our own agent, which installs without any container; a
// hub's address of it is set by its operator.
const defaultImage = "ironflow/ironflow-agent:latest"

// maxLogBytes is the protocol's limit of a log archive.
const maxLogBytes = 262_144_000

// New checks the options and returns a hub. It owns neither the store nor the
// folder: both have to outlive it.
func New(o Options) (*Hub, error) {
	if o.Store == nil || o.Files == nil {
		return nil, errors.New("hub: a store and a folder for files are required")
	}
	h := &Hub{
		store: o.Store, files: o.Files, ignition: o.Ignition, key: o.TokenKey, log: o.Log, images: o.Images,
		needs: validations.OpenShift, checks: o.Checks, now: o.Now, timers: o.Timers.withDefaults(), maxLog: cmp.Or(o.MaxLogBytes, maxLogBytes),
		imageURLs: o.ImageURLs,
		seed:      maphash.MakeSeed(),
	}
	if len(o.Requirements) > 0 {
		h.needs = o.Requirements
	}
	if h.ignition == nil {
		h.ignition = ignition.Directory{}
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.now == nil {
		h.now = time.Now
	}
	h.store.Watch(h.cache.Forget)
	h.start()
	h.images.Installer = cmp.Or(h.images.Installer, defaultImage)
	h.images.Controller = cmp.Or(h.images.Controller, defaultImage)
	return h, nil
}

// start notes that the hub can be reached from now on.
func (h *Hub) start() {
	now := h.now()
	h.started.Store(&now)
}

// Ready reports whether the hub can serve: its store answers.
func (h *Hub) Ready(ctx context.Context) error {
	return h.store.View(ctx, func(*store.Reader) error { return nil })
}
