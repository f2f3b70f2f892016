package link

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// Deprovision is what an Agent shows of its machine's Node, which is to leave its cluster because the
// BareMetalHost is being deleted with the annotation that asks for it. The zero value is for any other Agent, and for
// one whose Node is gone.
type Deprovision struct {
	// Info says which Node of which cluster, and how far it is; nil for none.
	Info *agentv1.AgentDeprovisionInfo
	// Failed is why the Node may still be in its cluster, when nothing more is tried; empty otherwise.
	Failed string
}

// deprovision is what the Agent shows of what the host's annotations say of its Node.
func deprovision(in Input, host *metal3v1.BareMetalHost) Deprovision {
	said := host.Annotations[names.BMACDrainStatus]
	if host.DeletionTimestamp.IsZero() || !linkedAgent(in) || in.Agent.Spec.ClusterDeploymentName == nil || said == "" || said == drained {
		return Deprovision{}
	}
	ref := in.Agent.Spec.ClusterDeploymentName
	out := Deprovision{Info: &agentv1.AgentDeprovisionInfo{
		ClusterName: ref.Name, ClusterNamespace: ref.Namespace, Message: said,
		NodeName: strings.ToLower(cmp.Or(in.Agent.Spec.Hostname, in.Agent.Status.Inventory.Hostname)),
	}}
	if left(host) {
		out.Failed = ofItsNode(host)
	}
	return out
}

// showDeprovision writes it into the Agent's status, whose other parts are another controller's.
func (r *Reconciler) showDeprovision(ctx context.Context, agent *agentv1.Agent, d Deprovision) error {
	want := agent.DeepCopy()
	want.Status.DeprovisionInfo = d.Info
	if d.Failed == "" {
		want.Status.Conditions = slices.DeleteFunc(want.Status.Conditions, func(c agentv1.Condition) bool { return c.Type == agentv1.ConditionCleanup })
	} else {
		agentv1.SetCondition(&want.Status.Conditions, agentv1.Condition{
			Type: agentv1.ConditionCleanup, Status: "False", Reason: agentv1.ReasonCleanupFailed, Message: d.Failed,
		}, metav1.Now())
	}
	if equality.Semantic.DeepEqual(agent.Status, want.Status) {
		return nil
	}
	lock := client.MergeFromWithOptions(agent, client.MergeFromWithOptimisticLock{})
	if err := r.Client.Status().Patch(ctx, want, lock); err != nil {
		return fmt.Errorf("show on agent %s what becomes of its Node: %w", agent.Name, err)
	}
	return nil
}
