package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/files"
	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/fleet"
	"github.com/ironflow/ironflow/hub/infraenvs"
	"github.com/ironflow/ironflow/hub/inside"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/metrics"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/polls"
	"github.com/ironflow/ironflow/hub/reports"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/sources"
	sourcefiles "github.com/ironflow/ironflow/hub/sources/files"
	"github.com/ironflow/ironflow/hub/sources/pointer"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Options say how a hub works. Store, Files and Keys are required.
type Options struct {
	// Store keeps the records.
	Store store.Store
	// Files keeps collected logs.
	Files filestore.Store
	// Sources make the Ignition of clusters; none at all means files of no folder, and
	// pointers for hosts that join a cluster.
	Sources sources.Set
	// Inside is put into clusters whose end is told from inside; the zero value is put into none.
	Inside inside.Program
	// Keys seal what sources made; required.
	Keys seal.Keys
	// TokenKey signs agent tokens. The zero key makes none, for hubs without authentication.
	TokenKey auth.Key
	// Log may be nil.
	Log *slog.Logger
	// ImageURLs says where the live image of an infra-env is served, for hosts that
	// have the token; nil when there is no image server.
	ImageURLs func(env wire.InfraEnv, token string) (ImageURLs, error)
	// Images of an installation. None has a default: hosts run only what somebody has named, by full references.
	Images instructions.Images
	// Requirements of clusters with a release; an empty table means [validations.OpenShift].
	Requirements validations.Table
	// Operators are those that clusters of OpenShift can get beside their release; an empty
	// table means [operators.Builtin].
	Operators operators.Table
	// Checks change the validations.
	Checks Checks
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Timers have defaults, see [Timers].
	Timers Timers
	// Reclaim tells that agents run inside installed clusters: a host that leaves one is
	// booted back into its live image by them. It needs ImageURLs.
	Reclaim bool
	// NodeZero is set where the hub runs on one of the hosts that it installs.
	NodeZero NodeZero
	// MaxLogBytes bounds one log archive; zero means the protocol's 262,144,000.
	MaxLogBytes int64
}

// maxLogBytes is the protocol's limit of a log archive.
const maxLogBytes = 262_144_000

// Hub is the application core. Its methods are those of its parts; all are safe
// for concurrent use.
type Hub struct {
	store   store.Store
	units   *settle.Units
	metrics *metrics.Metrics

	*hosts
	*fromAgents
	*toAgents
	*clusterRegistry
	*infraEnvRegistry
	*fileFolder
	*events
	*monitor
}

// The parts, under names that are not seen from outside.
type (
	hosts            = fleet.Fleet
	fromAgents       = reports.Reports
	toAgents         = polls.Answerer
	clusterRegistry  = clusters.Registry
	infraEnvRegistry = infraenvs.Registry
	fileFolder       = files.Folder
)

// New checks the options and returns a hub. It owns neither of the
// stores: both have to outlive it.
func New(o Options) (*Hub, error) {
	if o.Store == nil || o.Files == nil || o.Keys.IsZero() {
		return nil, errors.New("hub: a store of records, one of files, and a key to seal with are required")
	}
	if err := errors.Join(o.Images.Check(), o.Inside.Check()); err != nil {
		return nil, fmt.Errorf("hub: %w", err)
	}
	known := metrics.New(usageOf(o.Files))
	o.Store = store.Sealed(known.Counted(o.Store), o.Keys)
	cache, signs := &snapshots.Cache{}, &polls.CheckIns{}
	o.Store.Watch(cache.Forget)
	units := o.units(cache, signs)
	units.Start()
	o.Store.Watch(units.Forget)
	folder := files.New(units, o.Files, cmp.Or(o.MaxLogBytes, maxLogBytes))
	machines := fleet.New(units)
	environments := infraenvs.New(units, cache, o.TokenKey, o.ImageURLs)
	environments.AskLost(func(ctx context.Context, id string) (bool, error) {
		return machines.Lost(ctx, fleet.Record{InfraEnvID: id})
	})
	answerer := polls.New(units, cache, signs, environments.BootArtifacts)
	return &Hub{
		store:            o.Store,
		units:            units,
		metrics:          known,
		hosts:            machines,
		fromAgents:       reports.New(units, answerer),
		toAgents:         answerer,
		clusterRegistry:  clusters.NewRegistry(units),
		infraEnvRegistry: environments,
		fileFolder:       folder,
		events:           &events{units},
		monitor:          &monitor{units, signs, known.Looked},
	}, nil
}

// usageOf tells how full the file system with the files is; nil where it is not this machine's.
func usageOf(files filestore.Store) func() (float64, error) {
	folder, ok := files.(interface{ Usage() (float64, error) })
	if !ok {
		return nil
	}
	return folder.Usage
}

// Metrics are the figures of this replica by the protocol's names.
func (h *Hub) Metrics() *metrics.Metrics { return h.metrics }

// OwnSources are those that need no other program: files of the folder, which may be nil,
// by default, and pointers.
func OwnSources(folder *os.Root) sources.Set {
	return sources.Set{Default: sources.Files, All: map[sources.Name]sources.Source{
		sources.Files: sourcefiles.Source{Root: folder}, sources.Pointer: pointer.Source{},
	}}
}

// units puts together what all parts work with.
func (o Options) units(cache *snapshots.Cache, signs *polls.CheckIns) *settle.Units {
	units := &settle.Units{
		Units: &unit.Units{Store: o.Store, Log: o.Log, Now: o.Now, Heard: signs.Heard, Changed: cache.Forget},
		Rules: evaluate.Rules{
			Timers: o.Timers.WithDefaults(), Needs: o.Requirements, Checks: o.Checks, Images: o.Images, Operators: o.Operators,
			NodeZero: o.NodeZero,
			Reclaim:  o.Reclaim && o.ImageURLs != nil, // without its live image, a host cannot be booted into it
		},
		Sources: o.Sources, Keys: o.Keys, Inside: o.Inside,
	}
	units.Inside.ByBootstrap, units.Inside.Leaves = o.Images.Controller != "", o.NodeZero.MAC != ""
	if len(o.Requirements) == 0 {
		units.Rules.Needs = validations.OpenShift
	}
	if len(o.Operators.Operators) == 0 {
		units.Rules.Operators = operators.Builtin()
	}
	if len(o.Sources.All) == 0 {
		units.Sources = OwnSources(nil)
	}
	if o.Log == nil {
		units.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		units.Now = time.Now
	}
	return units
}

// Reseal seals anew what was sealed with an earlier one of the keys, which can go then.
func (h *Hub) Reseal(ctx context.Context) error { return h.units.Reseal(ctx) }

// BehindFor reports whether the hub would not get through what the host reports of a step before agents give up, and
// does without it. Existing agents report the end of a step once.
func (h *Hub) BehindFor(ctx context.Context, key store.HostKey) bool {
	return h.units.Behind() && h.OnlyRepeats(ctx, key)
}

// Admit lets a host register, or tells it to come later; hasWaited tells that it was told so before.
func (h *Hub) Admit(hasWaited bool) error { return h.units.Admit(hasWaited) }

// Later tells an agent to come later, at a moment of its own.
func (h *Hub) Later() error { return h.units.Later() }

// Ready reports whether the hub can serve: its store answers.
func (h *Hub) Ready(ctx context.Context) error {
	return h.store.View(ctx, func(*store.Reader) error { return nil })
}
