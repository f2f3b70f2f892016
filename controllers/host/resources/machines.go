package resources

import (
	"context"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// MachineIndex indexes hosts by what tells their machines.
const MachineIndex = "ironflow.machine"

// IndexMachines returns what a host is found by in [MachineIndex].
func IndexMachines(object client.Object) []string {
	h, is := object.(*metal3.BareMetalHost)
	if !is {
		return nil
	}
	return nodespec.MachineKeys(h)
}

// Neighbours are the other hosts, of all namespaces, that have something in common with a
// host that tells machines. They are the cache's own: not to be changed.
func Neighbours(ctx context.Context, cache client.Reader, h *metal3.BareMetalHost) ([]*metal3.BareMetalHost, error) {
	var list []*metal3.BareMetalHost
	seen := map[client.ObjectKey]bool{client.ObjectKeyFromObject(h): true}
	for _, key := range nodespec.MachineKeys(h) {
		var hosts metal3.BareMetalHostList
		if err := cache.List(ctx, &hosts, client.MatchingFields{MachineIndex: key}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("look for other hosts of the same machine: %w", err)
		}
		for i := range hosts.Items {
			other := &hosts.Items[i]
			if name := client.ObjectKeyFromObject(other); !seen[name] {
				seen[name] = true
				list = append(list, other)
			}
		}
	}
	return list, nil
}
