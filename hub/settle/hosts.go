package settle

import (
	"net/http"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// hostFacts gathers what the host machine decides on, with the host's cluster.
func (w *Work) hostFacts(h *store.Host) (hostmachine.Facts, validations.HostOutcome, *store.Cluster, error) {
	c, err := w.ClusterOf(h)
	if err != nil {
		return hostmachine.Facts{}, validations.HostOutcome{}, nil, err
	}
	var common *validations.ClusterFacts
	if c != nil {
		g, err := w.group(c)
		if err != nil {
			return hostmachine.Facts{}, validations.HostOutcome{}, nil, err
		}
		common = g.Facts
	}
	facts := w.Facts(h)
	outcome := validations.Host(w.HostInput(h, c, facts, common))
	all := w.HostFacts(h, c, facts, outcome)
	if c != nil && h.API.Status == wire.HostStatusInstallingPendingUserAction {
		g, err := w.group(c)
		if err != nil {
			return hostmachine.Facts{}, validations.HostOutcome{}, nil, err
		}
		all.ClusterWithoutHost = evaluate.GoesOnWithout(c, g.Members, h.Key())
	}
	return all, outcome, c, nil
}

// Trigger asks the host machine and applies its decision. A reason, when
// given, becomes the status text.
func (w *Work) Trigger(h *store.Host, trigger, reason string) error {
	facts, _, _, err := w.hostFacts(h)
	if err != nil {
		return err
	}
	from := h.API.Status
	if from == "" {
		from = hostmachine.New
	}
	decision, err := hostmachine.Machine.Decide(trigger, from, facts)
	if err != nil {
		return err
	}
	return w.applyHost(h, decision, reason)
}

// RefreshHost looks at the host again and reports whether its status changed.
func (w *Work) RefreshHost(h *store.Host) (bool, error) {
	facts, outcome, c, err := w.hostFacts(h)
	if err != nil {
		return false, err
	}
	if err := w.noteValidations(h, outcome); err != nil {
		return false, err
	}
	decision, err := hostmachine.Machine.Decide(hostmachine.Refresh, h.API.Status, facts)
	if err != nil {
		return false, err
	}
	reason := ""
	switch decision.To {
	case wire.HostStatusInsufficient, wire.HostStatusPendingForInput, wire.HostStatusInsufficientUnbound:
		reason = strings.Join(outcome.Failures, "; ")
	}
	if decision.To == wire.HostStatusKnown {
		reason = evaluate.WaitingFor(h, c)
	}
	return decision.Changed, w.applyHost(h, decision, reason)
}

// applyHost makes the decision true: effects first, then status, text and event.
func (w *Work) applyHost(h *store.Host, d rules.Decision, reason string) error {
	for _, effect := range d.Effects {
		if err := w.hostEffect(h, effect); err != nil {
			return err
		}
	}
	info := d.Info
	if reason != "" && info != "" {
		info = d.Info + ": " + reason
	}
	if !d.Changed {
		// A status that is kept may have a new reason, but no rule without a text speaks.
		if info != "" && info != h.API.StatusInfo && d.To != wire.HostStatusInstallingInProgress {
			h.API.StatusInfo = info
			w.Touch(h, store.ChangedStatus)
		}
		return nil
	}
	from := h.API.Status
	h.API.Status, h.API.StatusInfo, h.API.StatusUpdatedAt = d.To, info, w.At()
	w.enteredStatus(h, reason)
	w.Touch(h, store.ChangedStatus)
	severity := severityOf(d.To)
	err := w.HostEvent(h, "host_status_updated", severity, d.To+" ("+info+")",
		unit.Props{"src_status": from, "new_status": d.To, "info": info, "severity": severity})
	if err != nil {
		return err
	}
	return w.announce(h)
}

// enteredStatus keeps the facts that come with a new status.
func (w *Work) enteredStatus(h *store.Host, reason string) {
	switch h.API.Status {
	case wire.HostStatusError, wire.HostStatusCancelled:
		h.Reason = h.API.StatusInfo
		if reason != "" {
			h.Reason = reason
		}
		if h.API.LogsInfo == "" {
			h.API.LogsInfo, h.API.LogsStartedAt = wire.LogsStateRequested, w.At()
		}
	case wire.HostStatusInstalling:
		h.Attempts++
		h.Reason, h.Signing = "", store.Signing{}
		h.API.Progress = nil
		h.API.LogsInfo, h.API.LogsStartedAt, h.API.LogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
	case wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster:
		h.Reason = ""
	case wire.HostStatusResettingPendingUserAction:
		h.Signing = store.Signing{}
	}
}

func (w *Work) hostEffect(h *store.Host, effect string) error {
	switch effect {
	case hostmachine.ClearDiscovery:
		ClearDiscovery(&h.API)
	case hostmachine.ClearBinding:
		ClearBinding(&h.API)
	case hostmachine.ResetPreparation:
		c, err := w.ClusterOf(h)
		if err != nil || c == nil {
			return err
		}
		c.API.LastInstallationPreparation = wire.LastInstallationPreparation{}
		w.TouchCluster(c)
		if err := w.Want(prepareJob, c.API.ID); err != nil {
			return err
		}
	case hostmachine.SetConnectionFlag, hostmachine.ClearConnectionFlag:
		h.API.ConnectionTimedOut = effect == hostmachine.SetConnectionFlag
	case hostmachine.SetStageFlag, hostmachine.ClearStageFlag:
		if h.API.Progress != nil {
			h.API.Progress.StageTimedOut = effect == hostmachine.SetStageFlag
		}
	case hostmachine.RestartStageClock:
		if h.API.Progress != nil {
			h.API.Progress.StageStartedAt, h.API.Progress.StageUpdatedAt = w.At(), w.At()
		}
	case hostmachine.LogsTimeout:
		h.API.LogsInfo = wire.LogsStateTimeout
	}
	w.Touch(h, store.ChangedHost)
	if effect == hostmachine.SetStageFlag {
		return w.stageTimedOut(h)
	}
	return nil
}

// stageTimedOut says that the host's stage takes too long.
func (w *Work) stageTimedOut(h *store.Host) error {
	p := unit.Props{"stage": h.Stage()}
	if h.API.Progress != nil {
		p["minutes"] = minutes(w.Now, h.API.Progress.StageStartedAt)
	}
	return w.HostEvent(h, "host_stage_timed_out", wire.EventSeverityWarning, "stage "+string(h.Stage())+" takes longer than usual", p)
}

// minutes is how long something has taken so far.
func minutes(now time.Time, since wire.DateTime) int64 {
	return int64(now.Sub(since.Time) / time.Minute)
}

// ClearDiscovery forgets what the agent's last life found out. The addresses
// stay, so that the host is still found by them.
func ClearDiscovery(h *wire.Host) {
	h.Inventory, h.Connectivity, h.ImagesStatus, h.DisksInfo, h.NTPSources = "", "", "", "", ""
	h.Progress, h.Bootstrap = nil, false
	h.LogsInfo, h.LogsStartedAt, h.LogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
	h.ConnectionTimedOut, h.MediaStatus = false, nil
}

// ClearBinding forgets what the host was in its cluster.
func ClearBinding(h *wire.Host) {
	h.ClusterID, h.MachineConfigPoolName = nil, ""
	h.FreeAddresses, h.APIVIPConnectivity, h.TangConnectivity, h.DomainNameResolutions = "", "", "", ""
	h.InstallationDiskID, h.InstallationDiskPath = "", ""
	h.Role, h.SuggestedRole, h.Kind = wire.HostRoleAutoAssign, "", wire.HostKindHost
	h.ProgressStages = nil
}

func severityOf(status string) string {
	switch status {
	case wire.HostStatusError:
		return wire.EventSeverityError
	case wire.HostStatusInsufficient, wire.HostStatusInsufficientUnbound, wire.HostStatusDisconnected, wire.HostStatusDisconnectedUnbound,
		wire.HostStatusPreparingFailed, wire.HostStatusInstallingPendingUserAction, wire.HostStatusCancelled:
		return wire.EventSeverityWarning
	}
	return wire.EventSeverityInfo
}

// TryTrigger does nothing when the host's status has no use for the trigger:
// an agent may be late.
func (w *Work) TryTrigger(h *store.Host, trigger, reason string) error {
	if err := w.Trigger(h, trigger, reason); err != nil && apierror.Code(err) != http.StatusConflict {
		return err
	}
	return nil
}
