package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/wire"
)

// headcount is what the Agents of a cluster's hosts tell, and how many hosts it is to have.
type headcount struct{ required, there, unsynced, approved int }

// heads counts the Agents of a cluster that is ready, which is when it matters; nil for another.
func (r *reconciler) heads(ctx context.Context, aci *hiveextv1.AgentClusterInstall, cd *hivev1.ClusterDeployment, record *wire.Cluster) (*headcount, error) {
	if record.Status != wire.ClusterStatusReady {
		return nil, nil //nolint:nilnil // nothing to say is an answer
	}
	var list agentv1.AgentList
	if err := r.Client.List(ctx, &list, client.MatchingFields{memberIndex: client.ObjectKeyFromObject(cd).String()}); err != nil {
		return nil, fmt.Errorf("list the Agents of cluster %s: %w", cd.Name, err)
	}
	out := &headcount{required: aci.Spec.ProvisionRequirements.Total(), there: len(list.Items)}
	for i := range list.Items {
		agent := &list.Items[i]
		if agent.Spec.Approved {
			out.approved++
		}
		if !synced(agent) {
			out.unsynced++
		}
	}
	return out, nil
}

// memberOf is the ClusterDeployment in an Agent's spec; nothing for an Agent that is going.
func memberOf(agent *agentv1.Agent) types.NamespacedName {
	ref := agent.Spec.ClusterDeploymentName
	if ref == nil || !agent.DeletionTimestamp.IsZero() {
		return types.NamespacedName{}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// memberIndex finds Agents by memberOf: the Agents of a whole fleet, with their inventories, are much to copy.
const memberIndex = "clusters.members"

func membersIndexed(obj client.Object) []string {
	agent, ok := obj.(*agentv1.Agent)
	if !ok || memberOf(agent).Name == "" {
		return nil
	}
	return []string{memberOf(agent).String()}
}

func synced(agent *agentv1.Agent) bool {
	c := agentv1.FindCondition(agent.Status.Conditions, agentv1.ConditionSpecSynced)
	return c != nil && c.Status == corev1.ConditionTrue
}

// verdict is whether a ready cluster has all that its installation begins with.
func (h *headcount) verdict(ready string) (verdict, string) {
	no := func(reason, format string, args ...any) (verdict, string) {
		return verdict{corev1.ConditionFalse, reason}, fmt.Sprintf(format, args...)
	}
	switch {
	case h.there < h.required:
		return no(hiveextv1.ReasonInsufficientAgents, "%d of %d Agents are there; bind more by spec.clusterDeploymentName", h.there, h.required)
	case h.unsynced > 0:
		return no(hiveextv1.ReasonUnsyncedAgents, "%d of %d Agents have settings that the hub has not taken; their condition SpecSynced says which", h.unsynced, h.there)
	case h.approved < h.required:
		return no(hiveextv1.ReasonUnapprovedAgents, "%d of %d Agents are approved; approve them by spec.approved", h.approved, h.required)
	}
	return isReady, ready
}

// counting passes on what changes a headcount.
var counting = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return true },
	GenericFunc: func(event.GenericEvent) bool { return false },
	DeleteFunc:  func(event.DeleteEvent) bool { return true },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*agentv1.Agent)
		after, both := e.ObjectNew.(*agentv1.Agent)
		return ok && both && (memberOf(before) != memberOf(after) || before.Spec.Approved != after.Spec.Approved || synced(before) != synced(after))
	},
}

// unavailableKinds are those that tell nothing while the hub has no record of the cluster.
var unavailableKinds = []string{
	hiveextv1.ConditionRequirementsMet, hiveextv1.ConditionValidated, hiveextv1.ConditionCompleted, hiveextv1.ConditionFailed, hiveextv1.ConditionStopped,
}

// absent tells of a cluster that the hub has no record of. What was known before stays.
func absent(status *hiveextv1.AgentClusterInstallStatus, now metav1.Time) {
	if status.DebugInfo.State != "" {
		return
	}
	for _, kind := range unavailableKinds {
		hiveextv1.SetCondition(&status.Conditions, hiveextv1.Condition{
			Type: kind, Status: corev1.ConditionUnknown, Reason: hiveextv1.ReasonNotAvailable, Message: "The hub has no record of the cluster yet; the condition SpecSynced says why",
		}, now)
	}
}

// platformOf is the record's platform in the words of the kind.
func platformOf(c *wire.Cluster) hiveextv1.PlatformType {
	if c.Platform == nil {
		return ""
	}
	for word, kind := range platforms {
		if kind == c.Platform.Type {
			return word
		}
	}
	return ""
}
