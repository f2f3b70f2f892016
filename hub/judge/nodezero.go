package judge

import (
	"slices"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// NodeZero is the host that the hub runs on, of an installation without a hub outside. The
// hub ends with it, so it is the bootstrap host and leaves its live system last. The zero
// value means that the hub runs elsewhere.
type NodeZero struct {
	// InfraEnvID is the id of the only infra-env, which was known before the hub; empty for
	// any number of infra-envs.
	InfraEnvID string
	// MAC is a hardware address of the host, in lower case; empty for none of the hosts.
	MAC string
}

// Is tells that the host is node zero.
func (n NodeZero) Is(h *store.Host) bool { return n.MAC != "" && slices.Contains(h.MACs, n.MAC) }

// Waits tells that the host is about to be installed, but not ordered to begin yet: the hub
// runs on it, and other hosts of its cluster need the hub. c may be nil.
func Waits(h *store.Host, c *store.Cluster) bool {
	return h.Last && h.API.Status == wire.HostStatusInstalling && c != nil && !instructions.IsDayTwo(&c.API)
}

// MayLeave tells that node zero may be installed, as far as the other host is concerned: it
// needs the hub no more. A host that has failed is waited for by nobody. Where somebody
// inside the cluster reports, hosts of the control plane have to be in it: the one that
// leaves joins a cluster that runs.
func MayLeave(other *store.Host, c *store.Cluster) bool {
	switch {
	case slices.Contains([]string{wire.HostStatusError, wire.HostStatusCancelled}, other.API.Status), IsUp(other.API.Status):
		return true
	case !slices.Contains(hostmachine.Installing, other.API.Status):
		return false
	case c.Supervised && other.API.Role == wire.HostRoleMaster:
		return slices.Contains([]wire.HostStage{wire.HostStageJoined, wire.HostStageDone}, other.Stage())
	}
	return PastReboot(other.Stage())
}
