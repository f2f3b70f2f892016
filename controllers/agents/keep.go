package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// mostInventory bounds the copy of an inventory, in bytes: all annotations of an object
// together may have 256 KiB. A larger one is left out, and the host comes back without it.
const mostInventory = 128 << 10

// copies are the annotations that are copies of the status.
var copies = []string{names.AgentState, names.AgentRole, names.AgentInventory, names.AgentStage, names.SeenIn}

// keep writes to the Agent itself what brings its host back where neither the hub nor the
// Agent has its status any more, as after a move to another cluster or a restore from a backup.
// Only a host that would be installed again needs it. Others come back by themselves.
func (r *reconciler) keep(ctx context.Context, agent *agentv1.Agent, env *agentv1.InfraEnv, view service.HostView) error {
	want := agent.DeepCopy()
	for _, key := range copies {
		delete(want.Annotations, key)
	}
	if _, _, lasting := hostmachine.Recovered(view.Status); lasting {
		copyStatus(want, view)
	}
	own(want, env)
	if equality.Semantic.DeepEqual(agent.ObjectMeta, want.ObjectMeta) {
		return nil
	}
	err := r.Client.Patch(ctx, want, client.MergeFromWithOptions(agent.DeepCopy(), client.MergeFromWithOptimisticLock{}))
	if reconcile.IsConflict(err) {
		return reconcile.WaitFor(lookAgain, "a fresh copy of the Agent")
	}
	if err != nil {
		return fmt.Errorf("keep the status in annotations: %w", err)
	}
	return nil
}

// copyStatus writes the annotations of a host that is to be known again.
func copyStatus(agent *agentv1.Agent, view service.HostView) {
	status := &agent.Status
	said := map[string]string{names.AgentState: status.DebugInfo.State, names.AgentRole: status.Role, names.SeenIn: view.EnvBirth}
	if p := status.Progress; p != nil {
		said[names.AgentStage] = p.CurrentStage
	}
	if found := text(reported(&status.Inventory)); len(status.Inventory.Interfaces) > 0 && len(found) <= mostInventory {
		said[names.AgentInventory] = found
	}
	for key, value := range said {
		if value != "" {
			metav1.SetMetaDataAnnotation(&agent.ObjectMeta, key, value)
		}
	}
}

// own makes the InfraEnv the owner. One that was made anew, in another cluster or from a backup,
// has another UID, and the Agent would be taken for one whose owner is gone, and be removed.
func own(agent *agentv1.Agent, env *agentv1.InfraEnv) {
	is := func(o metav1.OwnerReference) bool { return o.Kind == "InfraEnv" && o.Name == env.Name }
	at := slices.IndexFunc(agent.OwnerReferences, is)
	if at < 0 {
		agent.OwnerReferences = append(agent.OwnerReferences, ownedBy(env))
		return
	}
	agent.OwnerReferences[at].UID = env.UID
}

// ownedBy is the reference of an Agent to its InfraEnv.
func ownedBy(env *agentv1.InfraEnv) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: agentv1.GroupVersion.String(), Kind: "InfraEnv", Name: env.Name, UID: env.UID}
}

// lastState is the status in the hub that the Agent showed last.
func lastState(agent *agentv1.Agent) string {
	return cmp.Or(agent.Status.DebugInfo.State, agent.Annotations[names.AgentState])
}

// shown is the status that the Agent showed last, from the annotations where it is lost.
func shown(agent *agentv1.Agent) *agentv1.AgentStatus {
	if agent.Status.DebugInfo.State != "" {
		return &agent.Status
	}
	status := agent.Status.DeepCopy()
	status.DebugInfo.State, status.Role = agent.Annotations[names.AgentState], agent.Annotations[names.AgentRole]
	if stage := agent.Annotations[names.AgentStage]; stage != "" {
		status.Progress = &agentv1.HostProgressInfo{CurrentStage: stage}
	}
	var found wire.Inventory
	if json.Unmarshal([]byte(agent.Annotations[names.AgentInventory]), &found) == nil {
		status.Inventory = inventory(text(found))
	}
	status.InstallationDiskID = cmp.Or(status.InstallationDiskID, agent.Spec.InstallationDiskID)
	return status
}
