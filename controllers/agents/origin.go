package agents

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
)

// origin notes on the Agent whose live image its host has registered from, before the status tells the addresses of the
// machine: any machine can say that it has those of a BareMetalHost. It tells whether anything was written, which wakes us.
func (r *reconciler) origin(ctx context.Context, agent *agentv1.Agent, view service.HostView) (written bool, err error) {
	want := agent.DeepCopy()
	registeredFrom(want, view)
	if maps.Equal(agent.Annotations, want.Annotations) {
		return false, nil
	}
	err = r.Client.Patch(ctx, want, client.MergeFromWithOptions(agent.DeepCopy(), client.MergeFromWithOptimisticLock{}))
	if reconcile.IsConflict(err) {
		return true, reconcile.WaitFor(lookAgain, "a fresh copy of the Agent")
	}
	if err != nil {
		return true, fmt.Errorf("note whose live image the host has registered from: %w", err)
	}
	return true, nil
}

// registeredFrom writes the annotation. What nobody knows, as of a record that was lost, leaves what was known.
func registeredFrom(agent *agentv1.Agent, view service.HostView) {
	switch {
	case view.Machine != "":
		metav1.SetMetaDataAnnotation(&agent.ObjectMeta, names.ImageOf, view.Machine)
	case view.Shared:
		metav1.SetMetaDataAnnotation(&agent.ObjectMeta, names.ImageOf, names.ImageOfAll)
	}
}
