package agents

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAddressesOfAHost: they name what they are for, and hold no token.
func TestAddressesOfAHost(t *testing.T) {
	const api = "https://hub.example:8090/api/assisted-install/v2"
	const envEvents = api + "/events?api_key=secret&infra_env_id=7f"
	for name, tc := range map[string]struct {
		events string
		host   wire.Host
		want   agentv1.DebugInfo
	}{
		"no logs yet": {envEvents, wire.Host{ID: "h1", InfraEnvID: "7f", ClusterID: new("c1")}, agentv1.DebugInfo{EventsURL: api + "/events?host_id=h1&infra_env_id=7f"}},
		"logs": {
			envEvents,
			wire.Host{ID: "h1", InfraEnvID: "7f", ClusterID: new("c1"), LogsCollectedAt: wire.At(time.Now())},
			agentv1.DebugInfo{EventsURL: api + "/events?host_id=h1&infra_env_id=7f", LogsURL: api + "/clusters/c1/logs?host_id=h1&logs_type=host"},
		},
		"logs, no cluster":  {envEvents, wire.Host{ID: "h1", InfraEnvID: "7f", LogsCollectedAt: wire.At(time.Now())}, agentv1.DebugInfo{EventsURL: api + "/events?host_id=h1&infra_env_id=7f"}},
		"the hub is hidden": {"", wire.Host{ID: "h1", InfraEnvID: "7f"}, agentv1.DebugInfo{}},
	} {
		t.Run(name, func(t *testing.T) {
			status := agentv1.AgentStatus{DebugInfo: agentv1.DebugInfo{EventsURL: "https://old.example", LogsURL: "https://old.example"}}
			showAddresses(&status, tc.events, &tc.host)
			NewWithT(t).Expect(status.DebugInfo).To(Equal(tc.want))
		})
	}
}
