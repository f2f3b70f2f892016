package agents

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// project writes the hub's record of a host into the Agent's status. Values that
// did not change keep their times, so that an unchanged record means an
// unchanged status. synced is why the hub did not take the spec, if so.
func project(status *agentv1.AgentStatus, h *wire.Host, approved bool, synced error, now metav1.Time) {
	status.Bootstrap = h.Bootstrap
	status.Role = role(h)
	status.Kind = h.Kind
	status.InstallationDiskID = h.InstallationDiskID
	status.DebugInfo.State, status.DebugInfo.StateInfo = h.Status, h.StatusInfo
	status.Progress = progress(h)
	status.NtpSources = ntpSources(h.NTPSources)
	status.ValidationsInfo = validations(h.ValidationsInfo)
	found := inventory(h.Inventory)
	found.ReportTime = status.Inventory.ReportTime
	if !equality.Semantic.DeepEqual(found, status.Inventory) {
		found.ReportTime = &now
		status.Inventory = found
	}
	setConditions(status, conditions(h, approved, synced), now)
}

func setConditions(status *agentv1.AgentStatus, list []agentv1.Condition, now metav1.Time) {
	for _, c := range list {
		agentv1.SetCondition(&status.Conditions, c, now)
	}
}

func role(h *wire.Host) string {
	if h.Role == "" || h.Role == wire.HostRoleAutoAssign {
		return string(h.SuggestedRole)
	}
	return string(h.Role)
}

func progress(h *wire.Host) *agentv1.HostProgressInfo {
	p := h.Progress
	if p == nil || p.CurrentStage == "" {
		return nil
	}
	out := &agentv1.HostProgressInfo{
		CurrentStage: string(p.CurrentStage), ProgressInfo: p.ProgressInfo, InstallationPercentage: p.InstallationPercentage,
		StageStartTime: seconds(p.StageStartedAt), StageUpdateTime: seconds(p.StageUpdatedAt),
	}
	for _, s := range h.ProgressStages {
		out.ProgressStages = append(out.ProgressStages, string(s))
	}
	return out
}

// seconds cuts a time to what the API server keeps; nil when it is unset.
func seconds(t wire.DateTime) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	out := metav1.NewTime(t.Time).Rfc3339Copy()
	return &out
}

func ntpSources(raw string) []agentv1.HostNTPSource {
	var in []wire.NTPSource
	if raw == "" || json.Unmarshal([]byte(raw), &in) != nil {
		return nil
	}
	var out []agentv1.HostNTPSource
	for _, s := range in {
		out = append(out, agentv1.HostNTPSource{SourceName: s.SourceName, SourceState: string(s.SourceState)})
	}
	return out
}

func validations(raw string) map[string][]agentv1.ValidationResult {
	var out map[string][]agentv1.ValidationResult
	if raw == "" || json.Unmarshal([]byte(raw), &out) != nil {
		return nil
	}
	return out
}
