package agentlabels

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// queue is where wake-ups go.
type queue = workqueue.TypedRateLimitingInterface[ctrlreconcile.Request]

var (
	forConcerns = builder.WithPredicates(concerns)
	ofSpecs     = builder.WithPredicates(predicate.GenerationChangedPredicate{})
)

// counter writes the status of AgentClassifications.
type counter struct {
	reconcile.Reconciler[*agentv1.AgentClassification]
}

func newCounter(c client.Client) *counter {
	out := &counter{}
	out.Reconciler = reconcile.Reconciler[*agentv1.AgentClassification]{
		Client: c,
		New:    func() *agentv1.AgentClassification { return &agentv1.AgentClassification{} },
		Steps:  []reconcile.Step[*agentv1.AgentClassification]{out.count},
	}
	return out
}

// count counts the Agents with the label, and those for which the query failed.
func (c *counter) count(ctx context.Context, obj *agentv1.AgentClassification) error {
	verdict := agentv1.Condition{Type: agentv1.ConditionQueryErrors, Status: corev1.ConditionFalse, Reason: agentv1.ReasonNoQueryErrors, Message: "the query works for all Agents"}
	defer func() { agentv1.SetCondition(&obj.Status.Conditions, verdict, metav1.Now()) }()
	obj.Status.MatchedCount, obj.Status.ErrorCount = 0, 0
	bad := func(err error) {
		verdict.Status, verdict.Reason, verdict.Message = corev1.ConditionTrue, agentv1.ReasonHasQueryErrors, err.Error()
	}
	key, value, err := labelOf(obj)
	if err != nil {
		bad(fmt.Errorf("%w; create another AgentClassification, since this cannot change", err))
		return nil
	}
	if _, err := compile(obj.Spec.Query); err != nil {
		bad(err)
	}
	var list agentv1.AgentList
	if err := c.Client.List(ctx, &list, client.InNamespace(obj.Namespace), client.HasLabels{key}); err != nil {
		return err
	}
	for i := range list.Items {
		switch list.Items[i].Labels[key] {
		case value:
			obj.Status.MatchedCount++
		case errorValue(value):
			obj.Status.ErrorCount++
			if obj.Status.ErrorCount == 1 {
				bad(firstError(ctx, obj, &list.Items[i]))
			}
		}
	}
	return nil
}

// firstError says for an Agent why the query failed.
func firstError(ctx context.Context, obj *agentv1.AgentClassification, agent *agentv1.Agent) error {
	inventory, err := document(&agent.Status.Inventory)
	if err == nil {
		_, err = matches(ctx, obj.Spec.Query, inventory)
	}
	if err == nil {
		return fmt.Errorf("the query failed for Agent %s; it is looked at again", agent.Name)
	}
	return fmt.Errorf("for Agent %s: %w", agent.Name, err)
}

// wake wakes the classifications whose labels differ between two states of an Agent; a
// second one that is nil has none.
func (c *counter) wake(ctx context.Context, q queue, before, after client.Object) {
	had, has := classified(before), classified(after)
	if maps.Equal(had, has) {
		return
	}
	var list agentv1.AgentClassificationList
	if err := c.Client.List(ctx, &list, client.InNamespace(before.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list AgentClassifications", "namespace", before.GetNamespace())
		return
	}
	for i := range list.Items {
		if key, _, err := labelOf(&list.Items[i]); err == nil && had[key] != has[key] {
			q.Add(ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
}
