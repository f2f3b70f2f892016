package waitfor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Result is how a run ended.
type Result struct {
	Outcome Outcome
	// Reason says why, and what to do next.
	Reason string
}

// handedOver are the stages of a bootstrap host that the control plane does without.
var handedOver = []wire.HostStage{
	wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
}

// Judge tells whether the cluster is at its end, good or bad.
func Judge(c *wire.Cluster, goal Goal) (Result, bool) {
	switch c.Status {
	case wire.ClusterStatusInstalled:
		return Result{Complete, fmt.Sprintf("cluster %s is installed", c.Name)}, true
	case wire.ClusterStatusAddingHosts:
		return judgeJoining(c)
	case wire.ClusterStatusError:
		return Result{Failed, fmt.Sprintf("cluster %s failed: %s. %s", c.Name, c.StatusInfo, sentences(Reasons(c)))}, true
	case wire.ClusterStatusCancelled:
		return Result{Failed, fmt.Sprintf("the installation of cluster %s was cancelled", c.Name)}, true
	}
	if goal != BootstrapComplete {
		return Result{}, false
	}
	if c.Status == wire.ClusterStatusFinalizing {
		return Result{Complete, fmt.Sprintf("the control plane of cluster %s runs without the bootstrap host", c.Name)}, true
	}
	for i := range c.Hosts {
		h := &c.Hosts[i]
		if h.Bootstrap && h.Progress != nil && slices.Contains(handedOver, h.Progress.CurrentStage) {
			return Result{Complete, fmt.Sprintf("bootstrap host %s has handed over: %s", hostName(h), h.Progress.CurrentStage)}, true
		}
	}
	return Result{}, false
}

// judgeJoining tells whether the hosts that join a running cluster are at their end: that the cluster is
// installed says nothing of them. Such a host is done, for its hub, when it reboots into its disk.
func judgeJoining(c *wire.Cluster) (Result, bool) {
	done := 0
	for i := range c.Hosts {
		h := &c.Hosts[i]
		switch h.Status {
		case wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster:
			done++
		case wire.HostStatusError, wire.HostStatusCancelled:
			return Result{Failed, fmt.Sprintf("host %s does not join cluster %s: it is %s: %s", hostName(h), c.Name, h.Status, h.StatusInfo)}, true
		}
	}
	if done == 0 || done < len(c.Hosts) {
		return Result{}, false
	}
	return Result{Complete, fmt.Sprintf("cluster %s is installed, and its hosts here are: %d of %d", c.Name, done, len(c.Hosts))}, true
}

// hostName is what people call the host.
func hostName(h *wire.Host) string {
	var inventory struct {
		Hostname string `json:"hostname"`
	}
	if h.RequestedHostname == "" && h.Inventory != "" {
		_ = json.Unmarshal([]byte(h.Inventory), &inventory) // without it, the id says which
	}
	return cmp.Or(h.RequestedHostname, inventory.Hostname, h.ID)
}

// Changes are the lines that tell a cluster from what it was before, nil for nothing.
func Changes(before, now *wire.Cluster) []Line {
	var out []Line
	if before == nil {
		before = &wire.Cluster{}
	}
	if before.Status != now.Status || before.StatusInfo != now.StatusInfo || percent(before) != percent(now) {
		out = append(out, Line{Kind: KindCluster, Cluster: now.Name, Status: now.Status, Percent: new(percent(now)), Text: now.StatusInfo})
	}
	failing := failed(before.ValidationsInfo)
	for _, message := range failed(now.ValidationsInfo) {
		if !slices.Contains(failing, message) {
			out = append(out, Line{Kind: KindValidation, Cluster: now.Name, Text: message})
		}
	}
	known := map[string]*wire.Host{}
	for i := range before.Hosts {
		known[before.Hosts[i].ID] = &before.Hosts[i]
	}
	for i := range now.Hosts {
		h := &now.Hosts[i]
		was := known[h.ID]
		if was == nil {
			was = &wire.Host{}
		}
		out = append(out, hostChanges(now.Name, was, h)...)
		delete(known, h.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(known)) {
		out = append(out, Line{Kind: KindHost, Cluster: now.Name, Host: hostName(known[id]), Text: "the host is gone from the cluster"})
	}
	return out
}

func percent(c *wire.Cluster) int64 {
	if c.Progress == nil {
		return 0
	}
	return c.Progress.TotalPercentage
}

func hostChanges(cluster string, was, now *wire.Host) []Line {
	var out []Line
	stage, detail, done := progress(now)
	oldStage, oldDetail, oldDone := progress(was)
	if was.Status != now.Status || stage != oldStage || detail != oldDetail || done != oldDone || was.Role != now.Role {
		out = append(out, Line{
			Kind: KindHost, Cluster: cluster, Host: hostName(now), Role: string(now.Role), Bootstrap: now.Bootstrap,
			Status: now.Status, Stage: stage, Percent: new(done), Text: cmp.Or(detail, now.StatusInfo),
		})
	}
	failing := failed(was.ValidationsInfo)
	for _, message := range failed(now.ValidationsInfo) {
		if !slices.Contains(failing, message) {
			out = append(out, Line{Kind: KindValidation, Cluster: cluster, Host: hostName(now), Text: message})
		}
	}
	return out
}

func progress(h *wire.Host) (stage, detail string, percent int64) {
	if h.Progress == nil {
		return "", "", 0
	}
	return string(h.Progress.CurrentStage), h.Progress.ProgressInfo, h.Progress.InstallationPercentage
}

// failed are the messages of validations that fail or cannot be decided, in order.
func failed(text string) []string {
	var all map[string][]struct {
		ID      string `json:"id"`
		Status  string `json:"status"`
		Message string `json:"message"`
	}
	if text == "" || json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	var out []string
	for _, category := range slices.Sorted(maps.Keys(all)) {
		for _, v := range all[category] {
			if v.Status == "failure" || v.Status == "error" {
				out = append(out, v.ID+": "+v.Message)
			}
		}
	}
	return out
}

// Reasons say what a cluster waits for, hosts first, as far as the hub tells.
func Reasons(c *wire.Cluster) []string {
	var out []string
	for i := range c.Hosts {
		h := &c.Hosts[i]
		name := hostName(h)
		for _, message := range failed(h.ValidationsInfo) {
			out = append(out, fmt.Sprintf("host %s: %s", name, message))
		}
		stage, _, _ := progress(h)
		switch {
		case h.Status == wire.HostStatusDisconnected:
			out = append(out, fmt.Sprintf("host %s has not been heard of for a while: look at its console", name))
		case h.Status == wire.HostStatusInstallingPendingUserAction, h.Status == wire.HostStatusError:
			out = append(out, fmt.Sprintf("host %s is %s: %s", name, h.Status, h.StatusInfo))
		case c.Status == wire.ClusterStatusAddingHosts && stage == "":
			out = append(out, fmt.Sprintf("host %s is %s: %s", name, h.Status, h.StatusInfo))
		case h.Progress != nil && h.Progress.StageTimedOut:
			out = append(out, fmt.Sprintf("host %s takes longer than usual at %q", name, stage))
		case stage != "" && stage != string(wire.HostStageDone):
			out = append(out, fmt.Sprintf("host %s is at %q", name, stage))
		}
	}
	for _, message := range failed(c.ValidationsInfo) {
		out = append(out, "cluster: "+message)
	}
	if p := c.LastInstallationPreparation; p.Status == "failed" {
		out = append(out, "its preparation failed: "+p.Reason)
	}
	for _, o := range c.MonitoredOperators {
		if o.Status != "" && o.Status != wire.OperatorStatusAvailable {
			out = append(out, fmt.Sprintf("operator %s is %s: %s", o.Name, o.Status, o.StatusInfo))
		}
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("cluster %s is %s: %s", c.Name, c.Status, c.StatusInfo))
	}
	return out
}

// reasons are those of what is known.
func reasons(s *seen) string {
	switch {
	case s.down != nil && s.text != "":
		return "The cluster says: " + s.text
	case s.down != nil:
		return "The hub does not answer: " + s.down.Error()
	case s.cluster == nil && s.said != "":
		return "The hub has no cluster yet. The last that it was told: " + s.said
	case s.cluster != nil && len(s.cluster.Hosts) == 0 && s.said != "": // nobody else says what is missing
		return "The hub says: " + sentences(Reasons(s.cluster)) + ". The last that it was told: " + s.said
	case s.cluster == nil:
		return "The hub has no cluster yet: look at agent-register-cluster.service on the rendezvous host"
	}
	return "The hub says: " + sentences(Reasons(s.cluster))
}

func sentences(list []string) string { return strings.Join(list, "; ") }
