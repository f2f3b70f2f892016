package service

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// inventoryOf reads the host's inventory; nil when there is none that can be read.
func inventoryOf(h *store.Host) *wire.Inventory {
	if h.API.Inventory == "" {
		return nil
	}
	inventory := &wire.Inventory{}
	if json.Unmarshal([]byte(h.API.Inventory), inventory) != nil {
		return nil
	}
	return inventory
}

// HostName is the name that a person knows the host by: the wanted one, its
// own, or its id.
func HostName(h *store.Host) string {
	if name := validations.Hostname(&h.API, inventoryOf(h)); name != "" {
		return name
	}
	return h.API.ID
}

// connected tells whether the agent polls. From the reboot on nobody expects it to.
func (w *work) connected(h *store.Host) bool {
	return pastReboot(h.Stage()) || w.silentFor(h) <= w.hub.timers.silence(h.API.Bootstrap)
}

// silentFor is how long the agent could have polled and did not: while the hub
// was away, nobody could.
func (w *work) silentFor(h *store.Host) time.Duration {
	return w.hub.silent(h.API.CheckedInAt.Time, w.now)
}

// silent is how long a host could have polled since then and did not.
func (h *Hub) silent(since, now time.Time) time.Duration {
	if started := *h.started.Load(); since.Before(started) {
		since = started
	}
	return now.Sub(since)
}

// pastReboot tells that the live image, and the agent with it, is gone.
func pastReboot(stage wire.HostStage) bool {
	return slices.Contains([]wire.HostStage{
		wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
	}, stage)
}

func mediaConnected(h *store.Host) bool {
	return h.API.MediaStatus == nil || *h.API.MediaStatus != wire.HostMediaStatusDisconnected
}

// hostFacts gathers what the host machine decides on.
func (w *work) hostFacts(h *store.Host) (hostmachine.Facts, validations.HostOutcome, error) {
	c, err := w.clusterOf(h)
	if err != nil {
		return hostmachine.Facts{}, validations.HostOutcome{}, err
	}
	outcome, err := w.validate(h, c)
	if err != nil {
		return hostmachine.Facts{}, outcome, err
	}
	f := hostmachine.Facts{
		Connected: w.connected(h), MediaConnected: mediaConnected(h),
		HasInventory: outcome.HasInventory, MinimumHardware: outcome.MinimumHardware, NetworkDefined: outcome.NetworkDefined,
		OtherValidations: outcome.Others, MinimumPool: outcome.MinimumHardware && outcome.Others,
		RoleValid: h.API.Role != "" && h.API.Role != wire.HostRoleAutoAssign,
		Stage:     h.Stage(), InState: w.ageOf(h.API.StatusUpdatedAt),
		PrepareTimeout: w.hub.timers.Prepare, SoftTimeouts: w.hub.timers.Soft,
		ConnectionFlag: h.API.ConnectionTimedOut, LogsTimedOut: w.logsTimedOut(h),
	}
	if p := h.API.Progress; p != nil {
		f.InStage, f.SinceUpdate, f.StageFlag = w.ageOf(p.StageStartedAt), w.ageOf(p.StageUpdatedAt), p.StageTimedOut
	}
	if c != nil {
		f.Bound, f.DayTwo, f.ClusterStatus = true, instructions.IsDayTwo(&c.API), c.API.Status
		f.StageTimeout = w.hub.timers.stage(f.Stage, singleNode(c))
		f.DiskSpeed, f.Images = w.diskCheck(h, c), w.imageCheck(h)
		f.ClusterWithoutHost = !singleNode(c) && h.API.Role == wire.HostRoleWorker
	}
	return f, outcome, nil
}

func (w *work) needs(h *store.Host, c *store.Cluster) validations.Requirements {
	if c == nil {
		return validations.Minimal
	}
	return w.hub.needs.For(c.API.OpenshiftVersion, w.facts(h).RequirementRole(), singleNode(c))
}

func singleNode(c *store.Cluster) bool { return c.Masters == 1 && c.Workers == 0 && c.Arbiters == 0 }

func (w *work) diskCheck(h *store.Host, c *store.Cluster) hostmachine.Check {
	ms, measured := validations.DiskSpeed(&h.API)
	limit := w.needs(h, c).DiskSpeedMs
	switch {
	case skipsDiskCheck(h):
		return hostmachine.Passed
	case !measured:
		return hostmachine.Unknown
	case limit > 0 && ms > limit:
		return hostmachine.Failed
	}
	return hostmachine.Passed
}

// skipsDiskCheck tells that the disk must not be written before the
// installation: it holds partitions to keep, or the running system.
func skipsDiskCheck(h *store.Host) bool {
	if strings.Contains(h.API.InstallerArgs, "--save-part") {
		return true
	}
	inventory := inventoryOf(h)
	return inventory != nil && inventory.Boot != nil && inventory.Boot.DeviceType == wire.BootDeviceTypePersistent
}

func (w *work) imageCheck(h *store.Host) hostmachine.Check {
	status := imagesOf(h)
	check := hostmachine.Passed
	for _, image := range w.imagesFor(h).ToCheck() {
		switch result, known := status[image]; {
		case !known:
			check = hostmachine.Unknown
		case result.Result == wire.ContainerImageAvailabilityResultFailure:
			return hostmachine.Failed
		}
	}
	return check
}

func imagesOf(h *store.Host) map[string]wire.ContainerImageAvailability {
	status := map[string]wire.ContainerImageAvailability{}
	if h.API.ImagesStatus != "" && json.Unmarshal([]byte(h.API.ImagesStatus), &status) != nil {
		return nil
	}
	return status
}

// imagesFor are the images of the host's cluster; the release is the cluster's own.
func (w *work) imagesFor(h *store.Host) instructions.Images {
	images := w.hub.images
	if c := w.clusters[h.ClusterID()]; c != nil && c.API.OcpReleaseImage != "" {
		images.Release = c.API.OcpReleaseImage
	}
	return images
}

func (w *work) logsTimedOut(h *store.Host) bool {
	waiting := h.API.LogsInfo == wire.LogsStateRequested || h.API.LogsInfo == wire.LogsStateCollecting
	return waiting && w.ageOf(h.API.LogsStartedAt) > w.hub.timers.Logs
}

// ageOf is the time that counts against a limit; an unset time has no age. What
// began before the hub's start has none either, until every living agent has had
// the time to tell what it did while the hub was away.
func (w *work) ageOf(t wire.DateTime) time.Duration {
	started := *w.hub.started.Load()
	if t.IsZero() || t.Before(started) && w.now.Sub(started) <= w.hub.timers.silence(true) {
		return 0
	}
	return w.now.Sub(t.Time)
}
