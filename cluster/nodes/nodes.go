// Package nodes decides what the hub is told of the cluster's nodes, and which labels
// and taints they get. [Plan] is a pure function. All of its memory is the hub's stage
// of each host: a node gets its labels and taints before its host is reported Done, labels
// until the cluster is installed, and nothing afterwards, so that later changes by people stay.
package nodes

import (
	"maps"
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/hub/wire"
)

// Report tells the hub where a host is.
type Report struct {
	Host  facts.Host
	Stage wire.HostStage
}

// Patch changes a node.
type Patch struct {
	Node facts.Node
	// Host is the id of the host whose node it is.
	Host string
	// Labels are to be added.
	Labels map[string]string
	// Taints replace those of the node when Retaint is set.
	Taints  []facts.Taint
	Retaint bool
}

// Options say what the cluster is.
type Options struct {
	// Plain tells that nobody else gives nodes their roles.
	Plain bool
	// SchedulableMasters tells that control-plane nodes take any work. They do so, too, where no
	// host is a worker: nobody else would.
	SchedulableMasters bool
	// ComingUp tells that the cluster is still being installed. A host that somebody else has
	// told the hub to be Done then, as a bootstrap host does, gets its labels, too.
	ComingUp bool
	// Refused are the ids of hosts whose node's labels the API server will not have;
	// they do not keep the host from its end.
	Refused map[string]bool
}

// Roles in labels and taints of nodes.
const (
	roleLabel    = "node-role.kubernetes.io/"
	controlPlane = roleLabel + "control-plane"
	master       = roleLabel + "master"
	noSchedule   = "NoSchedule"
)

// underWay are the stages between the restart and the end.
var underWay = []wire.HostStage{wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined}

// installing are the statuses in which the hub takes stages.
var installing = []string{wire.HostStatusInstalling, wire.HostStatusInstallingInProgress, wire.HostStatusInstallingPendingUserAction}

// Plan says what to change and to report, for hosts whose installed system runs. A
// node of the name of a host that is not that far is an earlier one, and says nothing;
// nor does one whose kubelet is silent, which a host that is installed once more has left.
func Plan(hosts []facts.Host, nodes map[string]facts.Node, o Options) (patches []Patch, reports []Report) {
	o.SchedulableMasters = o.SchedulableMasters || !slices.ContainsFunc(hosts, func(h facts.Host) bool { return h.Role == wire.HostRoleWorker })
	for _, h := range hosts {
		told := o.ComingUp && h.Status == wire.HostStatusInstalled
		if !told && (!slices.Contains(installing, h.Status) || !slices.Contains(underWay, h.Stage)) {
			continue
		}
		node, ok := Of(h, hosts, nodes)
		if !ok || node.Silent {
			continue
		}
		if told {
			if p, due := patch(h, node, Options{}); due && !o.Refused[h.ID] {
				patches = append(patches, p)
			}
			continue
		}
		if h.Stage != wire.HostStageJoined {
			reports = append(reports, Report{h, wire.HostStageJoined})
			h.Stage = wire.HostStageJoined
		}
		if p, due := patch(h, node, o); due && !o.Refused[h.ID] {
			patches = append(patches, p)
			continue
		}
		if node.Ready {
			reports = append(reports, Report{h, wire.HostStageDone})
		}
	}
	return patches, reports
}

// Of returns a host's node: the one of its name, else the one that alone has one of
// its addresses, if no other host is called so.
func Of(h facts.Host, hosts []facts.Host, nodes map[string]facts.Node) (facts.Node, bool) {
	if n, ok := nodes[h.Name]; ok && h.Name != "" {
		return n, true
	}
	var found []string
	for name, n := range nodes {
		named := slices.ContainsFunc(hosts, func(other facts.Host) bool { return other.Name == name })
		if !named && slices.ContainsFunc(n.Addresses, func(a netip.Addr) bool { return slices.Contains(h.Addresses, a) }) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return facts.Node{}, false
	}
	return nodes[found[0]], true
}

// patch is what a node lacks.
func patch(h facts.Host, node facts.Node, o Options) (Patch, bool) {
	p := Patch{Node: node, Host: h.ID, Labels: map[string]string{}}
	wanted := maps.Clone(h.Labels)
	if wanted == nil {
		wanted = map[string]string{}
	}
	if o.Plain {
		if role := roleOf(h.Role); role != "" {
			wanted[role] = ""
		}
		p.Taints, p.Retaint = taints(h.Role, node.Taints, o.SchedulableMasters)
	}
	for k, v := range wanted {
		if have, ok := node.Labels[k]; !ok || have != v {
			p.Labels[k] = v
		}
	}
	return p, len(p.Labels) > 0 || p.Retaint
}

func roleOf(role wire.HostRole) string {
	switch role {
	case wire.HostRoleMaster, wire.HostRoleBootstrap:
		return controlPlane
	case wire.HostRoleArbiter, wire.HostRoleWorker:
		return roleLabel + string(role)
	default:
		return ""
	}
}

// taints are those that a node of a plain cluster should have, and whether they differ:
// a control plane that takes no other work says so, and so does an arbiter.
func taints(role wire.HostRole, have []facts.Taint, schedulable bool) ([]facts.Taint, bool) {
	var want []facts.Taint
	for _, t := range have {
		if schedulable && t.Effect == noSchedule && (t.Key == controlPlane || t.Key == master) {
			continue
		}
		want = append(want, t)
	}
	key := roleOf(role)
	if key == controlPlane && !schedulable || role == wire.HostRoleArbiter {
		if !slices.ContainsFunc(want, func(t facts.Taint) bool { return t.Key == key && t.Effect == noSchedule }) {
			want = append(want, facts.Taint{Key: key, Effect: noSchedule})
		}
	}
	return want, !slices.Equal(keys(want), keys(have))
}

func keys(list []facts.Taint) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.Key + "=" + t.Value + ":" + t.Effect
	}
	return out
}
