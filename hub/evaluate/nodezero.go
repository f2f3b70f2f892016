package evaluate

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

// maxBegun is how often the installation of a host begins by itself.
const maxBegun = 5

// repeats tells that a host which restarts in its installation is installed from the start
// again: at a site without a hub outside nobody is there to ask for it. With a release, what
// the bootstrap host has in memory is lost with it, and others may have relied on it.
func (n NodeZero) repeats(h *store.Host, c *store.Cluster) bool {
	return n.MAC != "" && c.API.OpenshiftVersion == "" && !instructions.IsDayTwo(&c.API) && h.Attempts < maxBegun
}

// CopyWish is what is to become of the copy of the hub's state on the disk of its host.
type CopyWish int

// What becomes of it.
const (
	// LeaveCopy has it as it is.
	LeaveCopy CopyWish = iota
	// KeepCopy has it written: others are installed by this hub's orders, and one that begins
	// anew would wait for them for ever.
	KeepCopy
	// DropCopy has it taken away: nobody goes on from it any more.
	DropCopy
)

// UnderWay are the statuses of a cluster in which its hosts are being installed.
var UnderWay = []string{wire.ClusterStatusInstalling, wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusFinalizing}

// Copy decides on the copy of the hub's state, and on which host's installation disk it is. It
// is written between the moment when other hosts are told to install themselves, which they do
// to the end and leave, whatever becomes of the hub, and the one in which the hub's own host
// begins to write its disk. Until then all of them begin anew together; from then on the copy is
// behind what the installer writes.
func (n NodeZero) Copy(c *store.Cluster, hosts []*store.Host) (CopyWish, *store.Host) {
	var mine *store.Host
	ordered := false
	for _, h := range hosts {
		switch {
		case !n.Is(h):
			ordered = ordered || slices.Contains(hostmachine.Installing, h.API.Status) || IsUp(h.API.Status)
		case mine != nil:
			return LeaveCopy, nil // somebody says that it is this host
		default:
			mine = h
		}
	}
	switch {
	case mine == nil || c.API.OpenshiftVersion != "" || instructions.IsDayTwo(&c.API):
		return LeaveCopy, nil
	case !slices.Contains(UnderWay, c.API.Status) || PastReboot(mine.Stage()):
		return DropCopy, mine
	case !ordered || mine.API.Status != wire.HostStatusInstalling || mine.Restarted || skipsDiskCheck(mine, Inventory(mine)):
		return LeaveCopy, mine
	}
	return KeepCopy, mine
}
