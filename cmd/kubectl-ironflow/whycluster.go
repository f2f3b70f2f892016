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
		if out.waits = rule.waits; rule.waits == "" {
			out.reason = what
		}
		switch {
		case rule.reason == agentv1.ReasonAgentIsNotApproved:
			out.next = approval(a)
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
	switch c := agentv1.FindCondition(a.Status.Conditions, agentv1.ConditionRequirementsMet); {
	case c != nil && c.Reason == agentv1.ReasonAgentIsReady && a.Spec.ClusterDeploymentName != nil:
		out.waits, out.who = "its cluster to begin the installation", "who can end what the cluster waits for"
		out.next = fmt.Sprintf("kubectl ironflow why cluster %s -n %s", a.Spec.ClusterDeploymentName.Name, cmp.Or(a.Spec.ClusterDeploymentName.Namespace, a.Namespace))
	case a.Status.Progress != nil && a.Status.Progress.CurrentStage != "":
		out.waits, out.who = "the end of: "+a.Status.Progress.CurrentStage, byItself
	case a.Status.DebugInfo.StateInfo != "":
		out.reason, out.who = a.Status.DebugInfo.StateInfo, byItself
	default:
		out.waits, out.who = "the hub's first look at it", byItself
	}
	return out
}

// agentRules say of conditions that are not True who ends that, most urgent first.
var agentRules = []struct {
	condition, reason string
	// waits is what it waits for, where that says more than the message.
	waits, who, next string
}{
	{agentv1.ConditionSpecSynced, agentv1.ReasonInputError, "", aPerson, "correct the spec of the Agent"},
	{agentv1.ConditionSpecSynced, agentv1.ReasonBackendError, "", triedAgain, "see that the hub runs"},
	{agentv1.ConditionConnected, agentv1.ReasonAgentIsDisconnected, "", aPerson, "see that the machine is on, and that it reaches the hub"},
	{agentv1.ConditionConnected, agentv1.ReasonNotAvailable, "", aPerson, ""},
	{agentv1.ConditionInstalled, agentv1.ReasonInstallationFailed, "", aPerson, "remove the cause, then have the host installed again"},
	{agentv1.ConditionBound, agentv1.ReasonUnbindingPendingUserAction, "", aPerson, "boot the machine into its live image"},
	{agentv1.ConditionBound, agentv1.ReasonUnbound, "a cluster to belong to", aPerson, "set spec.clusterDeploymentName"},
	{agentv1.ConditionValidated, agentv1.ReasonValidationsFailing, "", aPerson, ""},
	{agentv1.ConditionValidated, agentv1.ReasonValidationsUserPending, "", aPerson, ""},
	{agentv1.ConditionRequirementsMet, agentv1.ReasonAgentIsNotApproved, "its approval", aPerson, ""},
}

// failingChecks are the checks that fail, in a sentence each.
func failingChecks(a *agentv1.Agent) string {
	n := checksNode(a.Status.ValidationsInfo, func(v agentv1.ValidationResult) check { return check{v.ID, v.Status, v.Message} })
	var texts []string
	for _, c := range n.Children {
		var text strings.Builder
		text.WriteString(c.Title)
		for _, todo := range c.Children {
			if todo.Title != "" {
				text.WriteString("; " + todo.Title)
			}
		}
		texts = append(texts, text.String())
	}
	return strings.Join(texts, "\n")
}

// approval is the command that approves a host.
func approval(a *agentv1.Agent) string {
	return fmt.Sprintf("kubectl patch agent %s -n %s --type merge -p '{\"spec\":{\"approved\":true}}'", a.Name, a.Namespace)
}
