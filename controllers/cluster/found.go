package cluster

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// found shows what the hub has found out of the cluster: its checks, the networks and addresses in use, its
// hosts, what its operators say and how the last preparation went.
func found(status *hiveextv1.AgentClusterInstallStatus, c *wire.Cluster, now metav1.Time) {
	status.ValidationsInfo = nil
	if c.ValidationsInfo != "" && json.Unmarshal([]byte(c.ValidationsInfo), &status.ValidationsInfo) != nil {
		status.ValidationsInfo = nil
	}
	status.ConnectivityMajorityGroups = c.ConnectivityMajorityGroups
	status.MachineNetwork, status.APIVIPs, status.IngressVIPs = nil, nil, nil
	for _, n := range c.MachineNetworks {
		status.MachineNetwork = append(status.MachineNetwork, hiveextv1.MachineNetworkEntry{CIDR: string(n.CIDR)})
	}
	for _, v := range c.APIVIPs {
		status.APIVIPs = append(status.APIVIPs, string(v.IP))
	}
	for _, v := range c.IngressVIPs {
		status.IngressVIPs = append(status.IngressVIPs, string(v.IP))
	}
	status.APIVIP, status.IngressVIP = first(status.APIVIPs), first(status.IngressVIPs)
	status.UserManagedNetworking, status.PlatformType = c.UserManagedNetworking, platformOf(c)
	countHosts(status, c)
	preparation(status, c, now)
	if said := operators(c); said != nil {
		hiveextv1.SetCondition(&status.Conditions, *said, now)
		return
	}
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c hiveextv1.Condition) bool { return c.Type == hiveextv1.ConditionOperatorsAvailable })
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// waitingHosts are the statuses of hosts that are there and not ready.
var waitingHosts = []string{
	wire.HostStatusDiscovering, wire.HostStatusInsufficient, wire.HostStatusPendingForInput, wire.HostStatusDisconnected, wire.HostStatusBinding,
}

// countHosts counts hosts by what they are for; a host without a role of its own counts as the one that it would get.
func countHosts(status *hiveextv1.AgentClusterInstallStatus, c *wire.Cluster) {
	status.ControlPlaneAgentsDiscovered, status.ControlPlaneAgentsReady, status.WorkerAgentsDiscovered, status.WorkerAgentsReady = 0, 0, 0, 0
	for i := range c.Hosts {
		h := &c.Hosts[i]
		role := h.Role
		if role == "" || role == wire.HostRoleAutoAssign {
			role = h.SuggestedRole
		}
		discovered, ready := &status.ControlPlaneAgentsDiscovered, &status.ControlPlaneAgentsReady
		switch role {
		case wire.HostRoleWorker:
			discovered, ready = &status.WorkerAgentsDiscovered, &status.WorkerAgentsReady
		case wire.HostRoleArbiter:
			continue
		case wire.HostRoleMaster, wire.HostRoleBootstrap, wire.HostRoleAutoAssign:
		}
		*discovered++
		if !slices.Contains(waitingHosts, h.Status) {
			*ready++
		}
	}
}

// preparation tells how the last preparation of the installation went.
func preparation(status *hiveextv1.AgentClusterInstallStatus, c *wire.Cluster, now metav1.Time) {
	said := hiveextv1.Condition{Type: hiveextv1.ConditionLastInstallationPreparationFailed, Status: corev1.ConditionFalse, Reason: hiveextv1.ReasonPreparationNever}
	switch last := c.LastInstallationPreparation; last.Status {
	case wire.LastInstallationPreparationStatusFailed:
		said.Status, said.Reason, said.Message = corev1.ConditionTrue, hiveextv1.ReasonPreparationFailed, last.Reason
	case wire.LastInstallationPreparationStatusSuccess:
		said.Reason = hiveextv1.ReasonPreparationNotFailed
	}
	hiveextv1.SetCondition(&status.Conditions, said, now)
}
