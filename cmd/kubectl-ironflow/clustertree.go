package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/cluster/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// describeCluster gathers the tree of a cluster from its resources alone. What cannot be read is said in its place.
func describeCluster(ctx context.Context, cl client.Client, namespace, name string) (render.Node, error) {
	c, err := findCluster(ctx, cl, namespace, name)
	if err != nil {
		return render.Node{}, err
	}
	return clusterTree(c, gatherHosts(ctx, cl, namespace, c), time.Now()), nil
}

// clusterTree draws a cluster; it is pure.
func clusterTree(c cluster, hosts clusterHosts, now time.Time) render.Node {
	root := render.Node{Title: clusterTitle(c)}
	if c.install == nil {
		root.Children = []render.Node{
			render.Leaff("state: nobody installs it: no AgentClusterInstall names it in spec.clusterDeploymentRef"), hosts.node(now),
		}
		return root
	}
	status := &c.install.Status
	root.Children = []render.Node{
		render.Leaf("state", clusterState(status)),
		standingNode(status.Conditions),
		render.Leaf("API", strings.Join(status.APIVIPs, ", ")),
		render.Leaf("ingress", strings.Join(status.IngressVIPs, ", ")),
		checksNode(status.ValidationsInfo, func(v hiveextv1.ValidationResult) check { return check{v.ID, v.Status, v.Message} }),
		hosts.node(now),
		nodesNode(status.Conditions, hosts),
		operatorsNode(status.Conditions),
		kubeconfigNode(c),
		clusterConditions(status.Conditions),
	}
	return root
}

func clusterTitle(c cluster) string {
	switch {
	case c.deployment == nil:
		return "AgentClusterInstall/" + c.install.Name + ": ClusterDeployment " + c.install.Spec.ClusterDeploymentRef.Name + " is not there"
	case c.deployment.Spec.BaseDomain == "":
		return "ClusterDeployment/" + c.deployment.Name
	}
	return "ClusterDeployment/" + c.deployment.Name + ": " + c.deployment.Spec.ClusterName + "." + c.deployment.Spec.BaseDomain
}

func clusterState(status *hiveextv1.AgentClusterInstallStatus) string {
	state := cmp.Or(status.DebugInfo.State, "not registered at the hub yet")
	if p := status.Progress; p != nil && p.TotalPercentage > 0 {
		state += fmt.Sprintf(" (%d%%)", p.TotalPercentage)
	}
	return state
}

// nextStep separates in a message what a person has to do.
const nextStep = "Next: "

// standingNode is what the cluster waits for and who can end it, or how it ended.
func standingNode(conditions []hiveextv1.Condition) render.Node {
	c := view.Standing(conditions)
	if c == nil {
		return render.Leaff("waiting for: Ironflow's first look at it")
	}
	if w, waits := view.ParseWait(c.Message); waits {
		return render.Node{Title: "waiting for: " + w.For, Children: []render.Node{render.Leaf("who ends it", w.Ends)}}
	}
	what, todo := splitNext(c.Message)
	key := map[string]string{hiveextv1.ConditionReady: "ready", hiveextv1.ConditionStalled: "failed", hiveextv1.ConditionReconciling: "in progress"}[c.Type]
	return render.Node{Title: key + ": " + strings.TrimSuffix(what, "."), Children: []render.Node{render.Leaf("next", todo)}}
}

// check is the outcome of one of the hub's checks, of a cluster or of a host.
type check struct{ id, status, message string }

// checksNode lists the checks that fail, each with what to do; empty when none does.
func checksNode[T any](all map[string][]T, read func(T) check) render.Node {
	n := render.Node{Title: "checks that fail"}
	for _, category := range slices.Sorted(maps.Keys(all)) {
		for _, v := range all[category] {
			c := read(v)
			if c.status != "failure" && c.status != "error" {
				continue
			}
			what, todo := splitCheck(c.message)
			n.Children = append(n.Children, render.Node{Title: c.id + ": " + what, Children: []render.Node{render.Leaf("next", todo)}})
		}
	}
	if len(n.Children) == 0 {
		return render.Node{}
	}
	return n
}

// splitCheck parts a check's message into what is wrong and what to do: the checks say both in one sentence.
func splitCheck(message string) (what, todo string) {
	if i := strings.LastIndex(message, "; "); i >= 0 {
		return message[:i], message[i+len("; "):]
	}
	return message, ""
}

// nodesNode counts the hosts that somebody inside the cluster has seen.
func nodesNode(conditions []hiveextv1.Condition, hosts clusterHosts) render.Node {
	if c := hiveextv1.FindCondition(conditions, hiveextv1.ConditionCompleted); c != nil && c.Reason == hiveextv1.ReasonHostsInstalled {
		return render.Leaff("nodes: nobody inside the cluster tells of them")
	}
	joined, done := hosts.at("Joined"), hosts.at("Done")
	if joined+done == 0 {
		return render.Node{}
	}
	return render.Leaff("nodes: %d of %d hosts have joined, %d are done", joined+done, len(hosts.agents), done)
}

// operatorsNode lists the operators that are not available.
func operatorsNode(conditions []hiveextv1.Condition) render.Node {
	c := hiveextv1.FindCondition(conditions, hiveextv1.ConditionOperatorsAvailable)
	if c == nil {
		return render.Node{}
	}
	sum, rest, _ := strings.Cut(c.Message, "\n")
	n := render.Node{Title: "operators: " + strings.Replace(sum, " operators are available", " are available", 1)}
	for line := range strings.Lines(rest) {
		n.Children = append(n.Children, render.Node{Title: strings.TrimSpace(line)})
	}
	return n
}

// kubeconfigNode names the Secret; it reads none.
func kubeconfigNode(c cluster) render.Node {
	name, err := c.kubeconfigSecret()
	if err != nil {
		return render.Node{}
	}
	return render.Leaff("kubeconfig: Secret/%s, printed by kubectl ironflow kubeconfig %s", name, c.name())
}

// clusterConditions are those of the contract; what the others say is in the tree already.
func clusterConditions(conditions []hiveextv1.Condition) render.Node {
	n := render.Node{Title: "conditions"}
	for _, c := range conditions {
		if slices.Contains([]string{hiveextv1.ConditionReady, hiveextv1.ConditionReconciling, hiveextv1.ConditionStalled, hiveextv1.ConditionOperatorsAvailable}, c.Type) {
			continue
		}
		message := c.Message
		if c.Status == corev1.ConditionTrue && c.Type != hiveextv1.ConditionFailed && c.Type != hiveextv1.ConditionLastInstallationPreparationFailed {
			message = "" // nothing is asked of anybody
		}
		n.Children = append(n.Children, conditionLine(c.Type, string(c.Status), c.Reason, message))
	}
	if len(n.Children) == 0 {
		return render.Node{}
	}
	return n
}
