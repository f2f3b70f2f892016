package agents

import (
	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/envurl"
	"github.com/ironflow/ironflow/hub/wire"
)

// showAddresses writes where the hub has more of a host: its events, and its logs once
// there are some and it has a cluster. Where the hub is, the address of its environment's
// events shows.
func showAddresses(status *agentv1.AgentStatus, envEvents string, h *wire.Host) {
	status.DebugInfo.EventsURL, status.DebugInfo.LogsURL = "", ""
	if envEvents == "" {
		return
	}
	api := envurl.APIOf(envEvents)
	status.DebugInfo.EventsURL = envurl.HostEvents(api, h.InfraEnvID, h.ID)
	if cluster := h.ClusterID; cluster != nil && *cluster != "" && !h.LogsCollectedAt.IsZero() {
		status.DebugInfo.LogsURL = envurl.Logs(api, *cluster, h.ID)
	}
}
