package service

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// trigger asks the host machine and applies its decision. A reason, when
// given, becomes the status text.
func (w *work) trigger(h *store.Host, trigger, reason string) error {
	facts, _, err := w.hostFacts(h)
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

// refreshHost looks at the host again and reports whether its status changed.
func (w *work) refreshHost(h *store.Host) (bool, error) {
	facts, outcome, err := w.hostFacts(h)
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
		if reason, err = w.waitingFor(h); err != nil {
			return false, err
		}
	}
	return decision.Changed, w.applyHost(h, decision, reason)
}

// applyHost makes the decision true: effects first, then status, text and event.
func (w *work) applyHost(h *store.Host, d rules.Decision, reason string) error {
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
			w.touch(h, ChangedStatus)
		}
		return nil
	}
	from := h.API.Status
	h.API.Status, h.API.StatusInfo, h.API.StatusUpdatedAt = d.To, info, w.at()
	w.enteredStatus(h, reason)
	w.touch(h, ChangedStatus)
	severity := severityOf(d.To)
	return w.hostEvent(h, "host_status_updated", severity, d.To+" ("+info+")",
		props{"src_status": from, "new_status": d.To, "info": info, "severity": severity})
}

// enteredStatus keeps the facts that come with a new status.
func (w *work) enteredStatus(h *store.Host, reason string) {
	switch h.API.Status {
	case wire.HostStatusError, wire.HostStatusCancelled:
		h.Reason = h.API.StatusInfo
		if reason != "" {
			h.Reason = reason
		}
		if h.API.LogsInfo == "" {
			h.API.LogsInfo, h.API.LogsStartedAt = wire.LogsStateRequested, w.at()
		}
	case wire.HostStatusInstalling:
		h.Attempts++
		h.Reason = ""
		h.API.Progress = nil
		h.API.LogsInfo, h.API.LogsStartedAt, h.API.LogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
	case wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster:
		h.Reason = ""
	}
}

func (w *work) hostEffect(h *store.Host, effect string) error {
	switch effect {
	case hostmachine.ClearDiscovery:
		clearDiscovery(&h.API)
	case hostmachine.ClearBinding:
		clearBinding(&h.API)
	case hostmachine.ResetPreparation:
		c, err := w.clusterOf(h)
		if err != nil || c == nil {
			return err
		}
		c.API.LastInstallationPreparation = wire.LastInstallationPreparation{}
		w.touchCluster(c)
	case hostmachine.SetConnectionFlag, hostmachine.ClearConnectionFlag:
		h.API.ConnectionTimedOut = effect == hostmachine.SetConnectionFlag
	case hostmachine.SetStageFlag, hostmachine.ClearStageFlag:
		if h.API.Progress != nil {
			h.API.Progress.StageTimedOut = effect == hostmachine.SetStageFlag
		}
	case hostmachine.RestartStageClock:
		if h.API.Progress != nil {
			h.API.Progress.StageStartedAt, h.API.Progress.StageUpdatedAt = w.at(), w.at()
		}
	case hostmachine.LogsTimeout:
		h.API.LogsInfo = wire.LogsStateTimeout
	}
	w.touch(h, ChangedHost)
	if effect == hostmachine.SetStageFlag {
		return w.hostEvent(h, "host_stage_timed_out", wire.EventSeverityWarning, "stage "+string(h.Stage())+" takes longer than usual", props{"stage": h.Stage()})
	}
	return nil
}

// clearDiscovery forgets what the agent's last life found out. The addresses
// stay, so that the host is still found by them.
func clearDiscovery(h *wire.Host) {
	h.Inventory, h.Connectivity, h.ImagesStatus, h.DisksInfo, h.NTPSources = "", "", "", "", ""
	h.Progress, h.Bootstrap = nil, false
	h.LogsInfo, h.LogsStartedAt, h.LogsCollectedAt = "", wire.DateTime{}, wire.DateTime{}
	h.ConnectionTimedOut, h.MediaStatus = false, nil
}

func clearBinding(h *wire.Host) {
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

// waitingFor says what a host that is ready waits for, and who can end it.
func (w *work) waitingFor(h *store.Host) (string, error) {
	c, err := w.clusterOf(h)
	if err != nil || c == nil {
		return "", err
	}
	switch {
	case c.AutoInstall && !h.Approved:
		return "waiting for approval; approve the host", nil
	case c.Hold:
		return "the installation is on hold; release the cluster", nil
	case slices.Contains([]string{wire.ClusterStatusInsufficient, wire.ClusterStatusPendingForInput}, c.API.Status):
		return "waiting for cluster " + c.API.Name + ": " + c.API.StatusInfo, nil
	case !c.AutoInstall:
		return "waiting for the installation of cluster " + c.API.Name + " to be started", nil
	case c.API.LastInstallationPreparation.Status == wire.LastInstallationPreparationStatusFailed:
		return "the installation could not be prepared, the hub tries again: " + c.API.LastInstallationPreparation.Reason, nil
	}
	return "", nil
}

// mustJSON encodes values of the protocol, which cannot fail to encode.
func mustJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
