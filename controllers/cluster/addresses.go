package cluster

import (
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/envurl"
	"github.com/ironflow/ironflow/hub/wire"
)

// debugInfo is the hub's own state of a cluster, and where the hub has more of it: its
// events, and its logs once some of them are there.
func debugInfo(c *wire.Cluster, publicURL string) hiveextv1.DebugInfo {
	info := hiveextv1.DebugInfo{State: c.Status, StateInfo: c.StatusInfo}
	if publicURL == "" || c.ID == "" {
		return info
	}
	api := envurl.API(publicURL)
	info.EventsURL = envurl.ClusterEvents(api, c.ID)
	if !c.ControllerLogsCollectedAt.IsZero() || hasLogs(c) {
		info.LogsURL = envurl.Logs(api, c.ID, "")
	}
	return info
}

func hasLogs(c *wire.Cluster) bool {
	for i := range c.Hosts {
		if !c.Hosts[i].LogsCollectedAt.IsZero() {
			return true
		}
	}
	return false
}
