package evaluate

import (
	"cmp"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Timers are the hub's patience. The zero value of each means the protocol's.
type Timers struct {
	// Monitor is the least pause between two looks at who is due; 1 s.
	Monitor time.Duration
	// Renewal is how often a replica says that it lives; 5 s. One that has not for
	// three renewals is gone.
	Renewal time.Duration
	// Disconnected is how long a host may be silent; 3 min, a bootstrap host 2 min more.
	Disconnected time.Duration
	// Prepare bounds the last checks before an installation; 17 min for a host, 18 for a cluster.
	Prepare time.Duration
	// Repeat is the pause before an installation that could not be prepared is tried again by itself; 60 s.
	Repeat time.Duration
	// Logs is how long the hub waits for logs of a failed host; 10 min.
	Logs time.Duration
	// DiskCheck and Images bound a measurement of a disk and pulls of images on the host; 8 and 16 min.
	DiskCheck, Images time.Duration
	// KeepEvents is how long events stay on the timeline; 30 days.
	KeepEvents time.Duration
	// Stages overrides the limits of single stages.
	Stages map[wire.HostStage]time.Duration
	// Finalizing overrides the limits of single stages in which a cluster comes up.
	Finalizing map[wire.FinalizingStage]time.Duration
	// Soft turns hard limits of installations into flags and events.
	Soft bool
}

// WithDefaults fills in what is not set.
func (t Timers) WithDefaults() Timers {
	t.Monitor = cmp.Or(t.Monitor, time.Second)
	t.Disconnected = cmp.Or(t.Disconnected, 3*time.Minute)
	t.Prepare = cmp.Or(t.Prepare, 17*time.Minute)
	t.Repeat = cmp.Or(t.Repeat, time.Minute)
	t.Logs = cmp.Or(t.Logs, 10*time.Minute)
	t.DiskCheck, t.Images = cmp.Or(t.DiskCheck, 8*time.Minute), cmp.Or(t.Images, 16*time.Minute)
	t.KeepEvents = cmp.Or(t.KeepEvents, 30*24*time.Hour)
	return t
}

const (
	bootstrapExtra = 2 * time.Minute
	clusterExtra   = time.Minute
)

// stageLimits are the protocol's limits; stages that are not named get an hour.
var stageLimits = map[wire.HostStage]time.Duration{
	wire.HostStageStartingInstallation:      30 * time.Minute,
	wire.HostStageWritingImageToDisk:        30 * time.Minute,
	wire.HostStageCopyingRegistryDataToDisk: 90 * time.Minute,
	wire.HostStageRebooting:                 40 * time.Minute,
	wire.HostStageWaitingForIgnition:        24 * time.Hour,
	wire.HostStageDone:                      0,
	"":                                      0,
}

// StageLimit is how long a host may be at the stage of its installation; zero for ever.
func (t Timers) StageLimit(stage wire.HostStage, singleNode bool) time.Duration {
	if own, ok := t.Stages[stage]; ok {
		return own
	}
	limit, ok := stageLimits[stage]
	switch {
	case !ok:
		return time.Hour
	case singleNode && stage == wire.HostStageRebooting:
		return 2 * limit
	}
	return limit
}

// Silence is how long the agent of a host may be silent.
func (t Timers) Silence(bootstrap bool) time.Duration {
	if bootstrap {
		return t.Disconnected + bootstrapExtra
	}
	return t.Disconnected
}
