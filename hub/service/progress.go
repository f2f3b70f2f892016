package service

import (
	"context"
	"regexp"
	"slices"
	"strconv"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Progress takes a stage that an installation has reached. A stage below the
// present one, or that the host's role does not have, is refused with 409; the
// same stage again is welcome.
func (h *Hub) Progress(ctx context.Context, key store.HostKey, p wire.HostProgress) error {
	return h.update(ctx, func(w *work) error {
		host, err := w.host(key)
		if err != nil {
			return err
		}
		if host.ClusterID() == "" {
			return badRequest("host %s belongs to no cluster and cannot be installing", HostName(host))
		}
		return w.progress(host, p.CurrentStage, firstLine(p.ProgressInfo))
	})
}

func (w *work) progress(host *store.Host, stage wire.HostStage, info string) error {
	if stage == wire.HostStageFailed {
		return w.failedStage(host, info)
	}
	if slices.Contains([]string{wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster}, host.API.Status) {
		return nil // late news of what is done
	}
	if !slices.Contains(hostmachine.Installing, host.API.Status) {
		return conflict("host %s is %s; it reports stages only while it is being installed", HostName(host), host.API.Status)
	}
	percent, err := w.checkStage(host, stage)
	if err != nil {
		return err
	}
	old := host.API.Progress
	if old != nil && old.CurrentStage == stage && old.ProgressInfo == info {
		return nil
	}
	next := wire.HostProgressInfo{CurrentStage: stage, ProgressInfo: info, InstallationPercentage: percent, StageUpdatedAt: w.at(), StageStartedAt: w.at()}
	if old != nil && old.CurrentStage == stage {
		next.StageStartedAt = old.StageStartedAt
	}
	host.API.Progress = &next
	host.API.StageStartedAt, host.API.StageUpdatedAt = next.StageStartedAt, next.StageUpdatedAt
	w.touch(host, ChangedProgress)
	if err := w.trigger(host, hostmachine.ProgressChanged, ""); err != nil {
		return err
	}
	if old != nil && old.CurrentStage == stage {
		return nil
	}
	return w.hostEvent(host, "host_install_progress_updated", wire.EventSeverityInfo, "reached stage "+string(stage), props{"stage": stage})
}

// failedStage takes the installer's own word that it has failed.
func (w *work) failedStage(host *store.Host, info string) error {
	if !slices.Contains(hostmachine.Installing, host.API.Status) {
		if host.API.Status == wire.HostStatusError {
			return nil
		}
		return conflict("host %s is %s; it cannot fail to be installed", HostName(host), host.API.Status)
	}
	return w.trigger(host, hostmachine.InstallationFailed, info)
}

// checkStage returns the percentage of a stage that may come next.
func (w *work) checkStage(host *store.Host, stage wire.HostStage) (int64, error) {
	c, err := w.clusterOf(host)
	if err != nil {
		return 0, err
	}
	stages := hostmachine.Stages(host.API.Role, host.API.Bootstrap, singleNode(c))
	index := slices.Index(stages, stage)
	if index < 0 {
		return 0, conflict("stage %q does not exist for host %s with role %s", stage, HostName(host), host.API.Role)
	}
	if present := slices.Index(stages, host.Stage()); index < present {
		return 0, conflict("host %s cannot go back from stage %q to %q", HostName(host), host.Stage(), stage)
	}
	return int64(100 * (index + 1) / len(stages)), nil
}

var percentForm = regexp.MustCompile(`(\d{1,3})\s?%`)

// stagePercent reads how far the stage is, 0 to 100; -1 when it does not say.
func stagePercent(p *wire.HostProgressInfo) int {
	if p == nil {
		return -1
	}
	m := percentForm.FindStringSubmatch(p.ProgressInfo)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(m[1])
	if err != nil || n > 100 {
		return -1
	}
	return n
}
