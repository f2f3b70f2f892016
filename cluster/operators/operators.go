// Package operators judges how far the cluster's own parts are: ClusterOperators and
// OLM's ClusterServiceVersions where these kinds exist, and in a plain Kubernetes nodes,
// pods of the system and the API of each control-plane host. It decides and asks nobody.
package operators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/nodes"
	"github.com/ironflow/ironflow/hub/wire"
)

// Names of the parts of a plain Kubernetes, as monitored operators of a hub.
const (
	Nodes = "nodes"
	Pods  = "system-pods"
	API   = "api"
)

// Plain are the parts of a plain Kubernetes.
var Plain = []string{Nodes, Pods, API}

// Version is the ClusterVersion's name as a monitored operator.
const Version = "cvo"

// State is what the cluster has.
type State struct {
	Hosts []facts.Host
	Nodes map[string]facts.Node
	// Operators are by name; nil when the cluster has no such kind.
	Operators map[string]facts.Operator
	// Subscriptions and Services are by namespace/name.
	Subscriptions map[string]facts.Subscription
	Services      map[string]facts.Service
	// Pods are those of the system.
	Pods map[string]facts.Pod
	// API says for each control-plane node why its API does not answer; empty when it does.
	// A node that was not asked is missing.
	API map[string]string
}

// OpenShift tells that the cluster has operators to wait for: by its kinds, or, before
// these are there, by what the hub wants to hear of.
func OpenShift(s State, wanted []facts.Monitored) bool {
	return s.Operators != nil || slices.ContainsFunc(wanted, func(m facts.Monitored) bool {
		return m.Type == wire.OperatorTypeBuiltin && !slices.Contains(Plain, m.Name)
	})
}

// Reports are what the hub wants to hear and has not heard.
func Reports(s State, c facts.Cluster, now time.Time) []wire.OperatorMonitorReport {
	var out []wire.OperatorMonitorReport
	for _, m := range c.Operators {
		r, known := report(s, c, m, now)
		if known && (r.Status != m.Status || r.StatusInfo != m.Info || r.Version != m.Version) {
			out = append(out, r)
		}
	}
	return out
}

func report(s State, c facts.Cluster, m facts.Monitored, now time.Time) (wire.OperatorMonitorReport, bool) {
	r := wire.OperatorMonitorReport{Name: m.Name, Version: m.Version}
	switch {
	case m.Type == wire.OperatorTypeOlm:
		r.Status, r.StatusInfo, r.Version = service(s, c, m, now)
	case slices.Contains(Plain, m.Name) && s.Operators == nil:
		if r.StatusInfo = waits(s, m.Name); r.StatusInfo == "" {
			r.Status = wire.OperatorStatusAvailable
		} else {
			r.Status = wire.OperatorStatusProgressing
		}
	default:
		o, ok := s.Operators[m.Name]
		if !ok {
			return r, false
		}
		r.Status, r.StatusInfo, r.Version = clusterOperator(o), o.Message, cmp.Or(o.Version, m.Version)
	}
	r.StatusInfo = short(r.StatusInfo)
	return r, r.Status != ""
}

func clusterOperator(o facts.Operator) wire.OperatorStatus {
	switch {
	case o.Available && !o.Degraded:
		return wire.OperatorStatusAvailable
	case o.Degraded && !o.Progressing:
		return wire.OperatorStatusFailed
	default:
		return wire.OperatorStatusProgressing
	}
}

// csvStages are those in which operators of OLM have their time.
var csvStages = []wire.FinalizingStage{wire.FinalizingStageWaitingForOlmOperatorsCsvInitialization, wire.FinalizingStageWaitingForOlmOperatorsCsv}

// service is the state of an operator of OLM. One that takes longer than the hub gives
// it has failed; one that is there after all is available.
func service(s State, c facts.Cluster, m facts.Monitored, now time.Time) (wire.OperatorStatus, string, string) {
	csv, found := Service(s, m)
	late := m.Timeout > 0 && slices.Contains(csvStages, c.Stage) && now.Sub(c.Since) > m.Timeout
	switch {
	case found && csv.Phase == "Succeeded":
		return wire.OperatorStatusAvailable, csv.Message, csv.Version
	case found && csv.Phase == "Failed":
		return wire.OperatorStatusFailed, csv.Message, csv.Version
	case late:
		return wire.OperatorStatusFailed, fmt.Sprintf("not up after %s: %s", m.Timeout, cmp.Or(csv.Message, "its subscription has installed nothing")), cmp.Or(csv.Version, m.Version)
	case found:
		return wire.OperatorStatusProgressing, csv.Message, csv.Version
	default:
		return "", "", ""
	}
}

// Service is the ClusterServiceVersion of an operator, by its subscription.
func Service(s State, m facts.Monitored) (facts.Service, bool) {
	sub, ok := s.Subscriptions[m.Namespace+"/"+cmp.Or(m.Subscription, m.Name)]
	if !ok || sub.Installed == "" {
		return facts.Service{}, false
	}
	csv, ok := s.Services[m.Namespace+"/"+sub.Installed]
	return csv, ok
}

// Waits is what a plain Kubernetes still waits for; empty when it is up.
func Waits(s State) string {
	var out []string
	for _, name := range Plain {
		if text := waits(s, name); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, "; ")
}

// failed are the statuses of hosts that are not waited for.
var failed = []string{wire.HostStatusError, wire.HostStatusCancelled}

func waits(s State, part string) string {
	var names []string
	text := ""
	switch part {
	case Nodes:
		text = "nodes that are not Ready"
		for _, h := range s.Hosts {
			if n, ok := nodes.Of(h, s.Hosts, s.Nodes); !slices.Contains(failed, h.Status) && (!ok || !n.Ready) {
				names = append(names, cmp.Or(h.Name, h.ID))
			}
		}
		if len(s.Hosts) == 0 {
			return "the hub has no hosts of this cluster"
		}
	case Pods:
		text = "pods of the system that are not ready"
		if len(s.Pods) == 0 {
			return "there are no pods of the system"
		}
		for name, p := range s.Pods {
			if !p.Ready {
				names = append(names, strings.TrimSpace(name+" "+p.Waiting))
			}
		}
	case API:
		text = "control-plane hosts whose API does not answer"
		for _, h := range s.Hosts {
			if h.Role != wire.HostRoleMaster && h.Role != wire.HostRoleBootstrap || slices.Contains(failed, h.Status) {
				continue
			}
			n, _ := nodes.Of(h, s.Hosts, s.Nodes)
			if why, asked := s.API[n.Name]; !asked || why != "" {
				names = append(names, strings.TrimSpace(cmp.Or(h.Name, h.ID)+" "+why))
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("%d %s: %s", len(names), text, short(strings.Join(names, ", ")))
}

// maxInfo bounds what an operator says of itself, in bytes; the hub keeps 4 KiB.
const maxInfo = 1 << 10

func short(text string) string {
	if len(text) <= maxInfo {
		return text
	}
	return strings.ToValidUTF8(text[:maxInfo], "") + " …"
}
