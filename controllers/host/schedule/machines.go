package schedule

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/ironic"
)

// nodeIndex indexes hosts by the id of their node.
const nodeIndex = "ironflow.node"

func indexNode(object client.Object) []string {
	h, is := object.(*metal3.BareMetalHost)
	if !is || h.Status.Provisioning.ID == "" {
		return nil
	}
	return []string{h.Status.Provisioning.ID}
}

// hostsOfNode finds the hosts of a node: those that have its id, and the one of its name,
// which may not have stored the id yet. Somebody may have given the node another name.
func (s *Scheduler) hostsOfNode(ctx context.Context, c ironic.Change) []types.NamespacedName {
	var keys []types.NamespacedName
	named, ours := hostOfNode(c)
	if ours {
		keys = append(keys, named)
	}
	var hosts metal3.BareMetalHostList
	if err := s.options.Hosts.List(ctx, &hosts, client.MatchingFields{nodeIndex: c.UUID}, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list hosts of a node", "node", c.UUID)
	}
	for i := range hosts.Items {
		if key := client.ObjectKeyFromObject(&hosts.Items[i]); key != named {
			keys = append(keys, key)
		}
	}
	return keys
}

// doubles finds the hosts of the same machine as one that is new, gone or
// another than before.
func (s *Scheduler) doubles(ctx context.Context, object client.Object) []kreconcile.Request {
	h, is := object.(*metal3.BareMetalHost)
	if !is {
		return nil
	}
	others, err := resources.MayBeDoubles(ctx, s.options.Hosts, h)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list hosts of a machine", "host", client.ObjectKeyFromObject(h))
		return nil
	}
	var requests []kreconcile.Request
	for _, other := range others {
		if nodespec.SameMachine(h, other) != "" || nodespec.FoundOn(other, h) {
			requests = append(requests, kreconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)})
		}
	}
	return requests
}
