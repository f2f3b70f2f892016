package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/cluster/view"
)

// clusterWhy is why a cluster is where it is; it is pure.
func clusterWhy(c cluster) answer {
	if c.install == nil {
		return answer{
			title: "ClusterDeployment/" + c.deployment.Name, state: "nobody installs it", waits: "an AgentClusterInstall that names it in spec.clusterDeploymentRef",
			who: aPerson, next: "create the AgentClusterInstall, or leave the cluster to who has made the ClusterDeployment",
		}
	}
	status := &c.install.Status
	a := answer{title: "AgentClusterInstall/" + c.install.Name, state: clusterState(status)}
	stands := view.Standing(status.Conditions)
	if stands == nil {
		a.waits, a.who = "Ironflow's first look at it", "Ironflow, if it runs with the hub and watches this namespace"
		return a
	}
	if w, waits := view.ParseWait(stands.Message); waits {
		a.waits, a.who = w.For, w.Ends
		return a
	}
	what, todo := splitNext(stands.Message)
	switch stands.Type {
	case hiveextv1.ConditionReady:
		a.waits = "nothing: " + strings.ToLower(what[:min(1, len(what))]) + what[min(1, len(what)):]
	case hiveextv1.ConditionStalled:
		a.reason, a.who, a.next = what, aPerson, todo
	default:
		a.waits, a.who, a.next = what, byItself, todo
	}
	return a
}

// agentWhy is why a host that has registered is where it is; it is pure. The first condition that keeps it is the answer.
func agentWhy(a *agentv1.Agent, now time.Time) answer {
	out := answer{title: "Agent/" + a.Name + " (" + agentName(a) + ")", state: cmp.Or(a.Status.DebugInfo.State, "not known to the hub yet")}
	if at := stageLine(a.Status.Progress, now); at != "" {
		out.state += ", " + at
	}
	for _, rule := range agentRules {
		c := agentv1.FindCondition(a.Status.Conditions, rule.condition)
		if c == nil || c.Status == corev1.ConditionTrue || rule.reason != "" && c.Reason != rule.reason {
			continue
		}
		what, todo := splitNext(c.Message)
		out.who, out.next = rule.who, cmp.Or(todo, rule.next)
		if rule.waits {
			out.waits = what
		} else {
			out.reason = what
		}
		switch {
		case rule.reason == agentv1.ReasonAgentIsNotApproved:
			out.waits, out.next = "its approval", approval(a)
		case rule.condition == agentv1.ConditionValidated:
			if failing := failingChecks(a); failing != "" {
				out.reason = failing
			}
		}
		return out
	}
	if c := agentv1.FindCondition(a.Status.Conditions, agentv1.ConditionInstalled); c != nil && c.Status == corev1.ConditionTrue {
		out.waits = "nothing: it is installed"
		return out
	}
	out.waits, out.who = cmp.Or(a.Status.DebugInfo.StateInfo, "the hub's first look at it"), byItself
	return out
}

// agentRules say of conditions that are not True who ends that, most urgent first.
var agentRules = []struct {
	condition, reason string
	waits             bool
	who, next         string
}{
	{agentv1.ConditionSpecSynced, agentv1.ReasonInputError, false, aPerson, "correct the spec of the Agent"},
	{agentv1.ConditionSpecSynced, agentv1.ReasonBackendError, false, triedAgain, "see that the hub runs"},
	{agentv1.ConditionConnected, agentv1.ReasonAgentIsDisconnected, false, aPerson, "see that the machine is on, and that it reaches the hub"},
	{agentv1.ConditionConnected, agentv1.ReasonNotAvailable, false, aPerson, ""},
	{agentv1.ConditionInstalled, agentv1.ReasonInstallationFailed, false, aPerson, "remove the cause, then have the host installed again"},
	{agentv1.ConditionBound, agentv1.ReasonUnbindingPendingUserAction, false, aPerson, "boot the machine into its live image"},
	{agentv1.ConditionBound, agentv1.ReasonUnbound, true, aPerson, "set spec.clusterDeploymentName"},
	{agentv1.ConditionValidated, agentv1.ReasonValidationsFailing, false, aPerson, ""},
	{agentv1.ConditionValidated, agentv1.ReasonValidationsUserPending, false, aPerson, ""},
	{agentv1.ConditionRequirementsMet, agentv1.ReasonAgentIsNotApproved, true, aPerson, ""},
}

// failingChecks are the checks that fail, in a sentence each.
func failingChecks(a *agentv1.Agent) string {
	n := checksNode(a.Status.ValidationsInfo, func(v agentv1.ValidationResult) check { return check{v.ID, v.Status, v.Message} })
	var texts []string
	for _, c := range n.Children {
		text := c.Title
		for _, todo := range c.Children {
			if todo.Title != "" {
				text += "; " + todo.Title
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

// approval is the command that approves a host.
func approval(a *agentv1.Agent) string {
	return fmt.Sprintf("kubectl patch agent %s -n %s --type merge -p '{\"spec\":{\"approved\":true}}'", a.Name, a.Namespace)
}
