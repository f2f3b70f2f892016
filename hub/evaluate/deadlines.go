package evaluate

import (
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// polling are the statuses in which an agent is expected to poll.
var polling = slices.Concat([]string{
	wire.HostStatusDiscovering, wire.HostStatusKnown, wire.HostStatusInsufficient, wire.HostStatusPendingForInput,
	wire.HostStatusDiscoveringUnbound, wire.HostStatusKnownUnbound, wire.HostStatusInsufficientUnbound, wire.HostStatusBinding, wire.HostStatusUnbinding,
	wire.HostStatusPreparingFailed, wire.HostStatusInstalling, wire.HostStatusInstallingInProgress,
}, hostmachine.Preparing)

// HostDeadline is when time alone may change the host: the moment at which a limit is
// over, or zero, and how long the host may be silent, or zero where nobody waits for
// its polls. A limit that is over already has been looked at. c is nil for an unbound host.
func (e Evaluator) HostDeadline(h *store.Host, c *store.Cluster) (due time.Time, patience time.Duration) {
	flagged := h.API.ConnectionTimedOut && slices.Contains(hostmachine.Installing, h.API.Status) // its silence is known
	if slices.Contains(polling, h.API.Status) && !PastReboot(h.Stage()) && !flagged {
		patience = e.Timers.Silence(h.API.Bootstrap)
	}
	switch status := h.API.Status; status {
	case wire.HostStatusPreparingForInstallation:
		due = e.over(h.API.StatusUpdatedAt, e.Timers.Prepare)
	case wire.HostStatusInstalling:
		if !Waits(h, c) {
			due = e.over(h.API.StatusUpdatedAt, hostmachine.InstallingLimit)
		}
	case wire.HostStatusInstallingInProgress:
		due = e.stageOver(h, c)
	case wire.HostStatusInstallingPendingUserAction:
		due = e.over(h.API.StatusUpdatedAt, hostmachine.UserActionLimit)
	case wire.HostStatusReclaiming, wire.HostStatusReclaimingRebooting:
		due = e.over(h.API.StatusUpdatedAt, hostmachine.ReclaimLimit)
	case wire.HostStatusError, wire.HostStatusCancelled:
		if waitsForLogs(h) {
			due = e.over(h.API.LogsStartedAt, e.Timers.Logs)
		}
	}
	if c != nil && instructions.IsDayTwo(&c.API) && slices.Contains(hostmachine.Installing, h.API.Status) {
		due = first(due, e.over(h.API.StatusUpdatedAt, hostmachine.JoiningLimit))
	}
	if e.Twin(h) != "" {
		due = first(due, h.Twin.SeenAt.Add(TwinTime))
	}
	return due, patience
}

// stageOver is when the host's stage has taken too long.
func (e Evaluator) stageOver(h *store.Host, c *store.Cluster) time.Time {
	p := h.API.Progress
	if p == nil || c == nil {
		return time.Time{}
	}
	since := p.StageStartedAt
	if hostmachine.ReportsProgress(p.CurrentStage) {
		since = p.StageUpdatedAt
	}
	return e.over(since, e.Timers.StageLimit(p.CurrentStage, SingleNode(c)))
}

// ClusterDeadline is when time alone may change the cluster; zero for never. One that
// is ready and has never been prepared waits for hosts or people, which come with
// calls of their own.
func (e Evaluator) ClusterDeadline(c *store.Cluster) time.Time {
	since := c.API.StatusUpdatedAt
	switch c.API.Status {
	case wire.ClusterStatusReady:
		if c.PreparedAt.IsZero() {
			return time.Time{}
		}
		return e.ahead(c.PreparedAt.Add(e.RepeatAfter(c.Preparations)))
	case wire.ClusterStatusPreparingForInstallation:
		return e.over(since, e.Timers.Prepare+clusterExtra)
	case wire.ClusterStatusInstalling, wire.ClusterStatusInstallingPendingUserAction:
		return e.over(since, clustermachine.InstallationLimit)
	case wire.ClusterStatusFinalizing:
		return first(e.finalizingOver(c), first(e.over(since, clustermachine.FinalizingLimit), e.over(since, clustermachine.InstallationLimit)))
	case wire.ClusterStatusError, wire.ClusterStatusCancelled:
		return e.clusterLogsOver(c)
	}
	return time.Time{}
}

// over is when the time since then counts as longer than the limit, see [Evaluator.ageOf].
func (e Evaluator) over(since wire.DateTime, limit time.Duration) time.Time {
	if since.IsZero() || limit <= 0 {
		return time.Time{}
	}
	at := since.Add(limit)
	if grace := e.Started.Add(e.Timers.Silence(true)); since.Before(e.Started) && at.Before(grace) {
		at = grace
	}
	return e.ahead(at)
}

// ahead leaves out what is over.
func (e Evaluator) ahead(at time.Time) time.Time {
	if at.Before(e.Now) {
		return time.Time{}
	}
	return at
}

// first is the earlier one of two moments; zero is none.
func first(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
