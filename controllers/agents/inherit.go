package agents

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// inherit gives the Agent the Node's labels that its InfraEnv has for all of its hosts, as long as the installation has
// not begun: after that, what the spec asks for cannot change. It tells whether anything was written, which wakes us.
func (r *reconciler) inherit(ctx context.Context, agent *agentv1.Agent, env *agentv1.InfraEnv, status string) (written bool, err error) {
	if !slices.Contains(notBegun, status) {
		return false, nil
	}
	want := agent.DeepCopy()
	inherited(want, env)
	if equality.Semantic.DeepEqual(agent.Spec, want.Spec) && maps.Equal(agent.Annotations, want.Annotations) {
		return false, nil
	}
	err = r.Client.Patch(ctx, want, client.MergeFromWithOptions(agent.DeepCopy(), client.MergeFromWithOptimisticLock{}))
	if reconcile.IsConflict(err) {
		return true, reconcile.WaitFor(lookAgain, "a fresh copy of the Agent")
	}
	if err != nil {
		return true, fmt.Errorf("give the Agent the labels of its InfraEnv: %w", err)
	}
	return true, nil
}

// inherited brings labels and annotation of an Agent up to date. A label that somebody else has set stays as it is; which
// of them are the InfraEnv's is in the annotation.
func inherited(agent *agentv1.Agent, env *agentv1.InfraEnv) {
	before := agentv1.KeyList(agent.Annotations[names.InheritedNodeLabels])
	have := maps.Clone(agent.Spec.NodeLabels)
	maps.DeleteFunc(have, func(key, _ string) bool { return slices.Contains(before, key) })
	var ours []string
	for _, key := range agentv1.KeyList(env.Annotations[names.PropagateNodeLabels]) {
		value, labelled := env.Labels[key]
		if _, taken := have[key]; taken || !labelled {
			continue
		}
		if have == nil {
			have = map[string]string{}
		}
		have[key] = value
		ours = append(ours, key)
	}
	agent.Spec.NodeLabels = have
	if len(ours) == 0 {
		delete(agent.Annotations, names.InheritedNodeLabels)
		return
	}
	metav1.SetMetaDataAnnotation(&agent.ObjectMeta, names.InheritedNodeLabels, strings.Join(ours, ","))
}

// agentsOfEnv finds the Agents that inherit of an InfraEnv.
func (r *reconciler) agentsOfEnv(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var list agentv1.AgentList
	if err := r.Client.List(ctx, &list, client.InNamespace(obj.GetNamespace()), client.MatchingLabels{names.InfraEnvLabel: obj.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list the Agents of an InfraEnv", "infraenv", obj.GetName())
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
	}
	return requests
}

// bequeathed lets an InfraEnv through of which its Agents inherit something else than before.
var bequeathed = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false }, // its Agents are looked at anyway
	DeleteFunc:  func(event.DeleteEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		old, now := e.ObjectOld.GetAnnotations()[names.PropagateNodeLabels], e.ObjectNew.GetAnnotations()[names.PropagateNodeLabels]
		return old != now || now != "" && !maps.Equal(e.ObjectOld.GetLabels(), e.ObjectNew.GetLabels())
	},
}
