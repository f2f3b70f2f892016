package reports

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/polls"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// Exit codes of step replies that mean something to the hub.
const (
	exitAlreadyRunning = 125
	exitMediaLost      = 256
)

// alreadyRunning is in the error of an install step that was sent twice.
const alreadyRunning = `the container name "assisted-installer" is already in use`

// maxReason bounds what is kept of a foreign error text, in bytes.
const maxReason = 1000

// Reports takes what agents report. All methods are safe for concurrent use.
type Reports struct {
	units *settle.Units
	polls *polls.Answerer
	seed  maphash.Seed
	// inventories are those under way.
	inventories unit.Repeated[struct{}]
}

// New makes the taker of reports; replies that are known to change nothing are
// remembered in the snapshots for polls.
func New(units *settle.Units, answerer *polls.Answerer) *Reports {
	return &Reports{units: units, polls: answerer, seed: maphash.MakeSeed()}
}

// Reply takes the result of a step. A failed step never fails the call: what it
// means is in the host's status. Output that cannot be read is refused with 400. An
// inventory that comes again meanwhile waits for the first, which goes on when its caller leaves.
func (r *Reports) Reply(ctx context.Context, key store.HostKey, reply wire.StepReply) error {
	digest := r.digest(reply)
	if reply.ExitCode == 0 && r.polls.Tells(ctx, key, reply.StepType, digest) {
		return nil // it says again what is known
	}
	if reply.ExitCode != 0 || reply.StepType != wire.StepTypeInventory {
		return r.store(ctx, key, reply, digest)
	}
	_, err := r.inventories.Do(ctx, fmt.Sprint(key, digest), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, r.store(ctx, key, reply, digest)
	})
	return err
}

// store takes a result that may change something.
func (r *Reports) store(ctx context.Context, key store.HostKey, reply wire.StepReply, digest uint64) error {
	var made uint64
	var known bool
	err := r.units.Update(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		if reply.ExitCode != 0 {
			return failedStep(w, host, reply)
		}
		if !evaluate.MediaConnected(host) {
			host.API.MediaStatus = new(wire.HostMediaStatusConnected)
			w.Touch(host, store.ChangedHost)
		}
		before, err := needsOf(w, host, reply.StepType)
		if err != nil {
			return err
		}
		if err := output(w, host, reply); err != nil {
			return err
		}
		made, known, err = result(w, host, reply.StepType, before)
		return err
	})
	if err == nil && known {
		r.polls.Told(key, reply.StepType, digest, made)
	}
	return err
}

// needsOf are the requirements that an inventory is judged by; no other step asks for them.
func needsOf(w *settle.Work, host *store.Host, step wire.StepType) (validations.Requirements, error) {
	if step != wire.StepTypeInventory {
		return validations.Requirements{}, nil
	}
	c, err := w.ClusterOf(host)
	return w.NeedsOf(c, w.Facts(host)), err
}

// result is what has become of a reply, which was judged by those requirements; false where the same reply may
// become something else, or where it was not taken.
func result(w *settle.Work, host *store.Host, step wire.StepType, before validations.Requirements) (made uint64, known bool, err error) {
	var c *store.Cluster
	if step == wire.StepTypeInventory {
		needs, err := needsOf(w, host, step)
		if err != nil || unit.Text(needs) != unit.Text(before) || !host.InventoryAt.Equal(w.Now) {
			return 0, false, err
		}
	}
	if step == wire.StepTypeVerifyVIPs {
		if c, err = w.ClusterOf(host); err != nil {
			return 0, false, err
		}
	}
	made, known = polls.Result(step, host, c, before)
	return made, known, nil
}

// digest tells replies apart. It is seeded, so that no host can make two alike.
func (r *Reports) digest(reply wire.StepReply) uint64 { return maphash.String(r.seed, reply.Output) }

// failedStep handles a reply with an exit code.
func failedStep(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	reason := FirstLine(reply.Error)
	w.Log("a step failed on the host", "host", host.API.ID, "step", reply.StepType, "code", reply.ExitCode, "error", reason)
	switch {
	case reply.StepType == wire.StepTypeInstall && reply.ExitCode == exitAlreadyRunning && strings.Contains(reply.Error, alreadyRunning):
		return nil
	case reply.ExitCode == exitMediaLost:
		return mediaLost(w, host)
	case reply.StepType == wire.StepTypeInstall:
		return w.TryTrigger(host, hostmachine.InstallationFailed, reason)
	case reply.StepType == wire.StepTypeDownloadBootArtifacts || reply.StepType == wire.StepTypeRebootForReclaim:
		return w.TryTrigger(host, hostmachine.ReclaimFailed, reason)
	case reply.StepType == wire.StepTypeTangConnectivityCheck:
		host.API.TangConnectivity = reason
		w.Touch(host, store.ChangedHost)
	case reply.StepType == wire.StepTypeContainerImageAvailability || reply.StepType == wire.StepTypeInstallationDiskSpeedCheck:
		if err := output(w, host, reply); err != nil && apierror.Code(err) != 400 {
			return err
		}
	}
	return nil
}

// mediaLost notes that the host cannot read its boot medium any more.
func mediaLost(w *settle.Work, host *store.Host) error {
	host.API.MediaStatus = new(wire.HostMediaStatusDisconnected)
	w.Touch(host, store.ChangedHost)
	if err := w.HostEvent(host, "host_media_disconnected", wire.EventSeverityError, "it cannot read its boot medium any more", nil); err != nil {
		return err
	}
	return w.TryTrigger(host, hostmachine.MediaDisconnect, "")
}

// output stores what a step found. Step types that carry nothing are accepted.
func output(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	handle, ok := outputs[reply.StepType]
	if !ok {
		return nil
	}
	return handle(w, host, reply)
}

var outputs = map[wire.StepType]func(*settle.Work, *store.Host, wire.StepReply) error{
	wire.StepTypeInventory:         storeInventory,
	wire.StepTypeConnectivityCheck: report[wire.ConnectivityReport](func(h *wire.Host) *string { return &h.Connectivity }),
	wire.StepTypeFreeNetworkAddresses: report[wire.FreeNetworksAddresses](func(h *wire.Host) *string {
		return &h.FreeAddresses
	}),
	wire.StepTypeAPIVIPConnectivityCheck: report[wire.APIVIPConnectivityResponse](func(h *wire.Host) *string {
		return &h.APIVIPConnectivity
	}),
	wire.StepTypeTangConnectivityCheck:      report[wire.TangConnectivityResponse](func(h *wire.Host) *string { return &h.TangConnectivity }),
	wire.StepTypeDomainResolution:           report[wire.DomainResolutionResponse](func(h *wire.Host) *string { return &h.DomainNameResolutions }),
	wire.StepTypeNTPSynchronizer:            storeTimeSources,
	wire.StepTypeInstallationDiskSpeedCheck: storeDiskSpeed,
	wire.StepTypeContainerImageAvailability: storeImages,
	wire.StepTypeVerifyVIPs:                 storeVIPs,
	wire.StepTypeDHCPLeaseAllocate:          storeLeases,
	wire.StepTypeUpgradeAgent:               tellUpgrade,
	wire.StepTypeDownloadBootArtifacts: func(w *settle.Work, host *store.Host, _ wire.StepReply) error {
		return w.TryTrigger(host, hostmachine.RebootingForReclaim, "")
	},
}

// report stores the output as the model T writes it, so that members that the
// protocol does not know are not kept.
func report[T any](field func(*wire.Host) *string) func(*settle.Work, *store.Host, wire.StepReply) error {
	return func(w *settle.Work, host *store.Host, reply wire.StepReply) error {
		var v T
		if err := decode(reply, &v); err != nil {
			return err
		}
		if text := unit.Text(v); text != *field(&host.API) {
			*field(&host.API) = text
			w.Touch(host, store.ChangedHost)
		}
		return nil
	}
}

func decode(reply wire.StepReply, into any) error {
	if most := longest(reply.StepType); len(reply.Output) > most {
		return apierror.BadRequest("the output of step %s has %d bytes, more than %d", reply.StepType, len(reply.Output), most)
	}
	if err := json.Unmarshal([]byte(reply.Output), into); err != nil {
		return apierror.BadRequest("the output of step %s is not what the protocol says: %v", reply.StepType, err)
	}
	return nil
}

func storeTimeSources(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	var found wire.NTPSynchronizationResponse
	if err := decode(reply, &found); err != nil {
		return err
	}
	if text := unit.Text(found.NTPSources); text != host.API.NTPSources {
		host.API.NTPSources = text
		w.Touch(host, store.ChangedHost)
	}
	return nil
}

// storeDiskSpeed keeps a measurement by disk. No output means that a measurement is still
// running. One that went wrong is one, too: of the disk that the host was told to measure,
// where it does not say.
func storeDiskSpeed(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	if reply.Output == "" && reply.ExitCode == 0 {
		return nil
	}
	var found wire.DiskSpeedCheckResponse
	if err := decode(reply, &found); err != nil && reply.ExitCode == 0 {
		return err
	}
	if reply.ExitCode != 0 {
		found.Path = cmp.Or(found.Path, instructions.BootDevice(&host.API))
	}
	infos := map[string]wire.DiskInfo{}
	if host.API.DisksInfo != "" && json.Unmarshal([]byte(host.API.DisksInfo), &infos) != nil {
		infos = map[string]wire.DiskInfo{}
	}
	inventory := evaluate.Inventory(host)
	if inventory == nil {
		return nil // it has registered anew since it was asked, and tells first which disks it has
	}
	if validations.FindDisk(inventory, found.Path) == nil {
		return apierror.BadRequest("the host has no disk %.100q whose speed was asked for", found.Path)
	}
	infos[found.Path] = wire.DiskInfo{
		ID: found.Path, Path: found.Path,
		DiskSpeed: &wire.DiskSpeed{ExitCode: reply.ExitCode, SpeedMs: found.IoSyncDuration, Tested: true},
	}
	host.API.DisksInfo = unit.Text(infos)
	w.Touch(host, store.ChangedHost)
	return tellSlowDisk(w, host, reply, found)
}

// tellSlowDisk says that the disk is slower than an installation needs it.
func tellSlowDisk(w *settle.Work, host *store.Host, reply wire.StepReply, found wire.DiskSpeedCheckResponse) error {
	c, err := w.ClusterOf(host)
	if err != nil || c == nil || reply.ExitCode != 0 {
		return err
	}
	limit := w.NeedsOf(c, w.Facts(host)).DiskSpeedMs
	if limit == 0 || found.IoSyncDuration <= limit {
		return nil
	}
	return w.HostEvent(host, "disk_speed_slower_than_supported", wire.EventSeverityWarning,
		fmt.Sprintf("a sync of disk %s takes %d ms; at most %d ms are supported", found.Path, found.IoSyncDuration, limit),
		unit.Props{"host_disk": found.Path, "fdatasync_duration": found.IoSyncDuration})
}

// tellUpgrade says what became of the wanted agent's image; no result means that a
// pull is still running.
func tellUpgrade(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	var found wire.UpgradeAgentResponse
	if err := decode(reply, &found); err != nil {
		return err
	}
	p := unit.Props{"agent_image": found.AgentImage}
	switch asked := found.AgentImage == w.Checks.AgentImage; found.Result {
	case wire.UpgradeAgentResultSuccess:
		if !asked { // it was not told to get that one, or is not any more
			return nil
		}
		return w.HostEvent(host, "upgrade_agent_finished", wire.EventSeverityInfo, "it has the agent "+found.AgentImage+" and restarts with it", p)
	case wire.UpgradeAgentResultFailure:
		if !asked || host.AgentFailed == found.AgentImage { // it is told again every minute
			return nil
		}
		host.AgentFailed = found.AgentImage
		w.Touch(host, store.ChangedHost)
		return w.HostEvent(host, "upgrade_agent_failed", wire.EventSeverityError, "it cannot get the agent "+found.AgentImage, p)
	case "":
		return nil
	}
	return apierror.BadRequest("the output of step %s has the result %.40q; want success or failure", reply.StepType, found.Result)
}

// storeImages keeps the results by image. No output means that a check is still running.
func storeImages(w *settle.Work, host *store.Host, reply wire.StepReply) error {
	if reply.Output == "" && reply.ExitCode == 0 {
		return nil
	}
	var found wire.ContainerImageAvailabilityResponse
	if err := decode(reply, &found); err != nil {
		return err
	}
	if len(found.Images) > maxImages {
		return apierror.BadRequest("the host reports %d images, and is asked for at most %d", len(found.Images), maxImages)
	}
	status := evaluate.ImageResults(host)
	if status == nil {
		status = map[string]wire.ContainerImageAvailability{}
	}
	var changed []wire.ContainerImageAvailability
	for _, image := range found.Images {
		if len(image.Name) > maxImageName {
			return apierror.BadRequest("an image's name has %d bytes, more than %d", len(image.Name), maxImageName)
		}
		old, known := status[image.Name]
		image = lastResult(old, image)
		if !known || old.Result != image.Result {
			status[image.Name] = image
			changed = append(changed, image)
		}
	}
	if len(status) > maxImages { // some are of clusters that it was in before
		now := map[string]wire.ContainerImageAvailability{}
		for _, image := range found.Images {
			now[image.Name] = status[image.Name]
		}
		status = now
	}
	if err := tellImages(w, host, changed); err != nil {
		return err
	}
	host.API.ImagesStatus = unit.Text(status)
	w.Touch(host, store.ChangedHost)
	return nil
}

// tellImages says which images the host could pull, or could not, of those that it was asked for: the names of others are
// its own invention, as many as it likes.
func tellImages(w *settle.Work, host *store.Host, changed []wire.ContainerImageAvailability) error {
	c, err := w.ClusterOf(host)
	if err != nil {
		return err
	}
	asked := w.ImagesOf(c).ToCheck()
	for _, image := range changed {
		if !slices.Contains(asked, image.Name) {
			continue
		}
		if err := tellImage(w, host, image); err != nil {
			return err
		}
	}
	return nil
}

// tellImage says that the host could pull an image, or could not.
func tellImage(w *settle.Work, host *store.Host, image wire.ContainerImageAvailability) error {
	severity := wire.EventSeverityInfo
	if image.Result == wire.ContainerImageAvailabilityResultFailure {
		severity = wire.EventSeverityWarning
	}
	return w.HostEvent(host, "image_status_updated", severity, "image "+image.Name+": "+string(image.Result), unit.Props{
		"image_status": image.Name, "result": image.Result,
		"info": fmt.Sprintf("%.0f bytes in %.1f s, %.1f MB/s", image.SizeBytes, image.Time, image.DownloadRate),
	})
}

// lastResult is the result of a check with the figures of the first pull that succeeded:
// whoever looks for an image that is there already pulls nothing, and has none.
func lastResult(old, found wire.ContainerImageAvailability) wire.ContainerImageAvailability {
	if old.SizeBytes > 0 || old.Time > 0 || old.DownloadRate > 0 {
		found.SizeBytes, found.Time, found.DownloadRate = old.SizeBytes, old.Time, old.DownloadRate
	} else if found.Result == wire.ContainerImageAvailabilityResultFailure {
		found.SizeBytes, found.Time, found.DownloadRate = 0, 0, 0
	}
	return found
}

// FirstLine is what people are shown of an error: agents put the reason first.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxReason {
		line = strings.ToValidUTF8(line[:maxReason], "") + "…"
	}
	return line
}
