package reports

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// Progress takes a stage that an installation has reached. A stage below the
// present one, or that the host's role does not have, is refused with 409; the
// same stage again is welcome.
func (r *Reports) Progress(ctx context.Context, key store.HostKey, p wire.HostProgress) error {
	return r.units.Update(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		if host.ClusterID() == "" {
			return apierror.BadRequest("host %s belongs to no cluster and cannot be installing", evaluate.HostName(host))
		}
		return Stage(w, host, p.CurrentStage, FirstLine(p.ProgressInfo))
	})
}

// Stage takes a stage of a host that is being installed; info is what is said of it.
func Stage(w *settle.Work, host *store.Host, stage wire.HostStage, info string) error {
	if stage == wire.HostStageFailed {
		return failedStage(w, host, info)
	}
	if slices.Contains([]string{wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster}, host.API.Status) {
		return nil // late news of what is done
	}
	if !slices.Contains(hostmachine.Installing, host.API.Status) {
		return apierror.Conflict("host %s is %s; it reports stages only while it is being installed", evaluate.HostName(host), host.API.Status)
	}
	percent, err := checkStage(w, host, stage)
	if err != nil {
		return err
	}
	old := host.API.Progress
	if old != nil && old.CurrentStage == stage && old.ProgressInfo == info {
		return nil
	}
	next := wire.HostProgressInfo{CurrentStage: stage, ProgressInfo: info, InstallationPercentage: percent, StageUpdatedAt: w.At(), StageStartedAt: w.At()}
	if old != nil && old.CurrentStage == stage {
		next.StageStartedAt = old.StageStartedAt
	}
	host.API.Progress = &next
	host.API.StageStartedAt, host.API.StageUpdatedAt = next.StageStartedAt, next.StageUpdatedAt
	w.Touch(host, store.ChangedProgress)
	if err := w.Trigger(host, hostmachine.ProgressChanged, ""); err != nil {
		return err
	}
	if old != nil && old.CurrentStage == stage {
		return nil
	}
	return w.HostEvent(host, "host_install_progress_updated", wire.EventSeverityInfo, "reached stage "+string(stage), unit.Props{"event": stage})
}

// failedStage takes the installer's own word that it has failed.
func failedStage(w *settle.Work, host *store.Host, info string) error {
	if !slices.Contains(hostmachine.Installing, host.API.Status) {
		if host.API.Status == wire.HostStatusError {
			return nil
		}
		return apierror.Conflict("host %s is %s; it cannot fail to be installed", evaluate.HostName(host), host.API.Status)
	}
	return w.Trigger(host, hostmachine.InstallationFailed, info)
}

// checkStage returns the percentage of a stage that may come next.
func checkStage(w *settle.Work, host *store.Host, stage wire.HostStage) (int64, error) {
	c, err := w.ClusterOf(host)
	if err != nil {
		return 0, err
	}
	stages := evaluate.Stages(c, host)
	index := slices.Index(stages, stage)
	if index < 0 {
		return 0, apierror.Conflict("stage %q does not exist for host %s with role %s", stage, evaluate.HostName(host), host.API.Role)
	}
	if present := slices.Index(stages, host.Stage()); index < present {
		return 0, apierror.Conflict("host %s cannot go back from stage %q to %q", evaluate.HostName(host), host.Stage(), stage)
	}
	return int64(100 * (index + 1) / len(stages)), nil
}
