package ironic

import (
	"context"
	"time"

	"github.com/go-logr/logr"
)

// WatchOptions are the timings of a Watch; the zero value is the default of each.
type WatchOptions struct {
	FeedBusy   time.Duration // pause between feed reads while hosts of ours are in flight: 1 s
	FeedIdle   time.Duration // the same when none is: 30 s
	InFlight   time.Duration // pause between reads of busy states: 3 s
	Sweep      time.Duration // pause between sweeps: 5 min
	NudgeGap   time.Duration // shortest pause between two reads that nudges cause: 200 ms
	RetryAfter time.Duration // first pause after a failed read, doubled up to FeedIdle: 1 s
	// HeartbeatTimeout is Ironic's own ramdisk_heartbeat_timeout: 300 s. A ramdisk
	// beats at latest every 0.6 of it.
	HeartbeatTimeout time.Duration
	HeartbeatMargin  time.Duration // added before an agent counts as lost: 30 s
	FeedPage         int           // rows of a feed page: 50
	SweepPage        int           // rows of a sweep page: 1000
	Log              logr.Logger
}

// Row is what the watch knows of a node.
type Row struct {
	UUID                 string
	Name                 string
	ProvisionState       ProvisionState
	TargetProvisionState ProvisionState
	PowerState           PowerState
	Maintenance          bool
	Fault                string
	Reservation          string
	ProvisionUpdatedAt   time.Time
	LastError            string

	DeployStep Step      // while the deployment waits for the ramdisk
	Agent      AgentInfo // while the deployment waits for the ramdisk
}

// ChangeKind says what happened to a node.
type ChangeKind int

// The kinds of change.
const (
	Changed   ChangeKind = iota + 1 // a field of the row differs
	Appeared                        // the watch sees the node for the first time
	Vanished                        // Ironic does not list the node any more
	LostAgent                       // the ramdisk has not been heard of for too long
)

// Change is one node's news. Changes of the same node that nobody took yet are
// merged: Row is the newest, Previous the last one that was delivered.
type Change struct {
	Kind     ChangeKind
	UUID     string
	Name     string
	Row      Row // zero for Vanished
	Previous Row // zero for Appeared
}

// Watch finds out which nodes of one Ironic changed.
type Watch struct {
	changes chan Change
}

// NewWatch prepares a watch; Run starts it.
func NewWatch(g *Gateway, o WatchOptions) *Watch { return &Watch{changes: make(chan Change)} }

// Run watches until the context ends; it returns the context's error.
func (w *Watch) Run(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

// Row returns what is known of a node.
func (w *Watch) Row(uuid string) (Row, bool) { return Row{}, false }

// Synced is closed once the first sweep has filled the table.
func (w *Watch) Synced() <-chan struct{} { return nil }

// Expect says that a host of ours starts or ends to be in flight.
func (w *Watch) Expect(uuid string, inFlight bool) {}

// Nudge asks to look now.
func (w *Watch) Nudge() {}

// Changes is where news are delivered.
func (w *Watch) Changes() <-chan Change { return w.changes }

// Err is nil while Ironic answers, and otherwise says why it does not.
func (w *Watch) Err() error { return nil }
