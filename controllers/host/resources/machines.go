package resources

import (
	"context"
	"fmt"
	"slices"

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

// MayBeDoubles are the other hosts, of all namespaces, that may be of a host's machine. They
// are the cache's own: not to be changed.
func MayBeDoubles(ctx context.Context, cache client.Reader, h *metal3.BareMetalHost) ([]*metal3.BareMetalHost, error) {
	var list []*metal3.BareMetalHost
	seen := map[client.ObjectKey]bool{client.ObjectKeyFromObject(h): true}
	for _, key := range nodespec.DoubleKeys(h) {
		hosts, err := hostsOfKey(ctx, cache, key, 0)
		if err != nil {
			return nil, err
		}
		for i := range hosts {
			if name := client.ObjectKeyFromObject(&hosts[i]); !seen[name] {
				seen[name] = true
				list = append(list, &hosts[i])
			}
		}
	}
	return list, nil
}

// Booting finds the other hosts, of all namespaces, that boot from one of some MAC addresses. They
// are the cache's own: not to be changed.
func Booting(ctx context.Context, cache client.Reader, h *metal3.BareMetalHost) func(macs []string) ([]*metal3.BareMetalHost, error) {
	return func(macs []string) ([]*metal3.BareMetalHost, error) {
		var list []*metal3.BareMetalHost
		for _, mac := range macs {
			hosts, err := hostsOfKey(ctx, cache, nodespec.KeyOfBootMAC(mac), 0)
			if err != nil {
				return nil, err
			}
			for i := range hosts {
				if client.ObjectKeyFromObject(&hosts[i]) != client.ObjectKeyFromObject(h) {
					list = append(list, &hosts[i])
				}
			}
		}
		return list, nil
	}
}

// SharedMACs are the MAC addresses of a host's machine, but that which it boots from, that
// others' machines have as well: that of a card by which the system talks to its BMC, as a
// rule. On some makers' machines it is the same on all of a fleet, so two are enough.
func SharedMACs(ctx context.Context, cache client.Reader, h *metal3.BareMetalHost) ([]string, error) {
	var shared []string
	for _, mac := range nodespec.HardwareMACs(h) {
		hosts, err := hostsOfKey(ctx, cache, nodespec.KeyOfMAC(mac), 2)
		if err != nil {
			return nil, err
		}
		others := func(other metal3.BareMetalHost) bool {
			return client.ObjectKeyFromObject(&other) != client.ObjectKeyFromObject(h)
		}
		if slices.ContainsFunc(hosts, others) {
			shared = append(shared, mac)
		}
	}
	return shared, nil
}

// hostsOfKey are the hosts that have a key; limit is how many at most, 0 for all.
func hostsOfKey(ctx context.Context, cache client.Reader, key string, limit int64) ([]metal3.BareMetalHost, error) {
	var hosts metal3.BareMetalHostList
	err := cache.List(ctx, &hosts, client.MatchingFields{MachineIndex: key}, client.Limit(limit), client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("look for other hosts of the same machine: %w", err)
	}
	return hosts.Items, nil
}
