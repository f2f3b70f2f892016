package cluster

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAddressesOfACluster: its events from the beginning, its logs once some are there.
func TestAddressesOfACluster(t *testing.T) {
	const api = "https://hub.example:8090/api/assisted-install/v2"
	told := wire.At(time.Now())
	for name, tc := range map[string]struct {
		public string
		record wire.Cluster
		want   hiveextv1.DebugInfo
	}{
		"no logs yet": {"https://hub.example:8090/", wire.Cluster{ID: "c1", Status: "ready"}, hiveextv1.DebugInfo{State: "ready", EventsURL: api + "/events?cluster_id=c1"}},
		"logs of a host": {
			"https://hub.example:8090",
			wire.Cluster{ID: "c1", Hosts: []wire.Host{{}, {LogsCollectedAt: told}}},
			hiveextv1.DebugInfo{EventsURL: api + "/events?cluster_id=c1", LogsURL: api + "/clusters/c1/logs"},
		},
		"logs of the cluster": {
			"https://hub.example:8090",
			wire.Cluster{ID: "c1", ControllerLogsCollectedAt: told},
			hiveextv1.DebugInfo{EventsURL: api + "/events?cluster_id=c1", LogsURL: api + "/clusters/c1/logs"},
		},
		"the hub is hidden": {"", wire.Cluster{ID: "c1", StatusInfo: "as it is"}, hiveextv1.DebugInfo{StateInfo: "as it is"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(debugInfo(&tc.record, tc.public)).To(Equal(tc.want))
		})
	}
}
