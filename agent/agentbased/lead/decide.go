// Package lead leads an agent-based installation on the rendezvous host: it starts the
// installation of the cluster once all hosts are there ([Cluster]), or that of the one host
// that joins a running cluster ([Node]), and finds the infra-env for the agent ([InfraEnv]).
// All of it may be killed and run again at any moment: what to do next is decided from what
// the hub says, each time anew.
package lead

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/hub/wire"
)

// Required is how many hosts of each role the cluster has.
type Required struct{ Masters, Workers, Arbiters int }

// All is how many hosts that are.
func (r Required) All() int { return r.Masters + r.Workers + r.Arbiters }

func (r Required) String() string {
	words := []string{fmt.Sprintf("%d of the control plane", r.Masters)}
	if r.Workers > 0 {
		words = append(words, fmt.Sprintf("%d workers", r.Workers))
	}
	if r.Arbiters > 0 {
		words = append(words, fmt.Sprintf("%d arbiters", r.Arbiters))
	}
	return strings.Join(words, ", ")
}

// step is what to do about a cluster or a host.
type step struct {
	// install asks the hub to start the installation; done ends the program.
	install, done bool
	// failed says that there will be no cluster without a person.
	failed  bool
	message messages.ID
	args    []string
}

// decideCluster decides on the cluster as the hub has it.
func decideCluster(required Required, c wire.Cluster) step {
	switch c.Status {
	case wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts:
		return step{done: true, message: messages.StartInstalled}
	case wire.ClusterStatusError, wire.ClusterStatusCancelled:
		return step{failed: true, message: messages.StartEnded, args: []string{state(c.Status, c.StatusInfo)}}
	case wire.ClusterStatusInstallingPendingUserAction:
		return step{message: messages.StartPersonWanted, args: []string{waitingInWords(c)}}
	case wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing:
		return step{message: messages.StartInstalling, args: []string{progress(c)}}
	}
	known := count(c.Hosts, wire.HostStatusKnown)
	switch {
	case len(c.Hosts) > required.All() && known >= required.All():
		return step{message: messages.StartHostsTooMany, args: []string{hostsInWords(required, c.Hosts)}}
	case known != required.All():
		return step{message: messages.StartHostsMissing, args: []string{hostsInWords(required, c.Hosts)}}
	case c.Status != wire.ClusterStatusReady:
		return step{message: messages.StartClusterNotReady, args: []string{state(c.Status, c.StatusInfo)}}
	default:
		return step{install: true, message: messages.StartInstalling, args: []string{"all hosts are ready"}}
	}
}

// decideNode decides on the host that joins a running cluster.
func decideNode(h wire.Host) step {
	words := state(h.Status, h.StatusInfo)
	switch h.Status {
	case wire.HostStatusKnown:
		return step{install: true, message: messages.AddNodeInstalling, args: []string{"it is ready"}}
	case wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster:
		return step{done: true, message: messages.AddNodeInstalling, args: []string{words}}
	case wire.HostStatusError, wire.HostStatusCancelled:
		return step{failed: true, message: messages.AddNodeEnded, args: []string{words}}
	case wire.HostStatusInstallingPendingUserAction: // its stage would say nothing of what to do
		return step{message: messages.AddNodePersonWanted, args: []string{words}}
	case wire.HostStatusPreparingForInstallation, wire.HostStatusPreparingSuccessful, wire.HostStatusInstalling, wire.HostStatusInstallingInProgress:
		if h.Progress != nil && h.Progress.CurrentStage != "" {
			words = string(h.Progress.CurrentStage)
		}
		return step{message: messages.AddNodeInstalling, args: []string{words}}
	default:
		return step{message: messages.AddNodeWaiting, args: []string{words}}
	}
}

// shown is how many hosts are told about one by one: the screen has 24 lines.
const shown = 8

// hostsInWords says which hosts are there and what is wrong with those that are not ready.
func hostsInWords(required Required, hosts []wire.Host) string {
	known := count(hosts, wire.HostStatusKnown)
	text := fmt.Sprintf("%d of %d hosts are ready (%s)", known, required.All(), required)
	if n := len(hosts) - known; n > 0 {
		text += fmt.Sprintf(", %d are not validated", n)
	}
	if missing := required.All() - len(hosts); missing > 0 {
		text += fmt.Sprintf(", %d have not registered", missing)
	}
	if len(hosts) > required.All() {
		text += fmt.Sprintf(", %d are too many", len(hosts)-required.All())
	}
	told := 0
	for _, h := range hosts {
		if h.Status == wire.HostStatusKnown && len(hosts) <= required.All() {
			continue
		}
		if told++; told > shown {
			return text + "\n  and others"
		}
		text += "\n  " + about(h)
	}
	return text
}

// about is the host's name with its state.
func about(h wire.Host) string {
	return cmp.Or(h.RequestedHostname, h.ID) + ": " + state(h.Status, h.StatusInfo)
}

// waitingInWords says which hosts a person has to look at.
func waitingInWords(c wire.Cluster) string {
	text, told := state(c.Status, c.StatusInfo), 0
	for _, h := range c.Hosts {
		if h.Status != wire.HostStatusInstallingPendingUserAction {
			continue
		}
		if told++; told > shown {
			return text + "\n  and others"
		}
		text += "\n  " + about(h)
	}
	return text
}

func count(hosts []wire.Host, status string) (n int) {
	for _, h := range hosts {
		if h.Status == status {
			n++
		}
	}
	return n
}

// state is a status with the hub's sentence about it.
func state(status, info string) string {
	if info == "" {
		return status
	}
	return status + " (" + strings.TrimSuffix(info, ".") + ")"
}

func progress(c wire.Cluster) string {
	text := c.Status
	if c.Progress != nil && c.Progress.TotalPercentage > 0 {
		text += fmt.Sprintf(" %d%%", c.Progress.TotalPercentage)
	}
	if done := count(c.Hosts, wire.HostStatusInstalled); done > 0 {
		text += fmt.Sprintf(", %d of %d hosts are installed", done, len(c.Hosts))
	}
	return text
}
