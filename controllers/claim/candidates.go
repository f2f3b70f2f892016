package claim

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Candidates returns the hosts that a claim may be given, best first: those of
// its failure domain, then the others, each in an order of the claim's own, so
// that claims do not all reach for the same host. admitted are the namespaces
// whose policies serve the claim. An error is a selector that cannot be read.
func Candidates(c *metal3.HostClaim, hosts []*metal3.BareMetalHost, admitted []string) ([]*metal3.BareMetalHost, error) {
	selector, err := selectorOf(c.Spec.HostSelector)
	if err != nil {
		return nil, err
	}
	var list []*metal3.BareMetalHost
	for _, h := range hosts {
		if inReach(c, h, admitted) && free(h) && selector.Matches(labels.Set(h.Labels)) {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, func(a, b *metal3.BareMetalHost) int {
		return cmp.Or(
			cmp.Compare(distance(c, a), distance(c, b)),
			cmp.Compare(lot(c, a), lot(c, b)),
			cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name),
		)
	})
	return list, nil
}

// inReach reports whether a host's namespace serves the claim, and is the one
// that the claim asks for, if it asks.
func inReach(c *metal3.HostClaim, h *metal3.BareMetalHost, admitted []string) bool {
	if want := c.Spec.HostSelector.InNamespace; want != "" && want != h.Namespace {
		return false
	}
	return slices.Contains(admitted, h.Namespace)
}

// free reports whether a host can be given away.
func free(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return h.Spec.ConsumerRef == nil && h.DeletionTimestamp.IsZero() && !untouchable(h) &&
		(state == metal3.StateAvailable || state == metal3.StateReady) && h.Status.ErrorMessage == "" &&
		h.Status.OperationalStatus != metal3.OperationalStatusDetached &&
		// Somebody else has asked for something without a consumerRef.
		deployowner.Of(h) == deployowner.Nobody
}

// untouchable reports annotations that keep everybody off a host.
func untouchable(h *metal3.BareMetalHost) bool { return keptOff(h) != "" }

// keptOff names the annotation that keeps everybody off a host, or Ironic; empty for none.
func keptOff(h *metal3.BareMetalHost) string {
	if key := reconcile.KeptOff(h); key != "" {
		return key
	}
	if _, there := h.Annotations[names.Detached]; there {
		return names.Detached
	}
	return ""
}

// distance is 0 in the claim's failure domain (or when it has none), else 1.
func distance(c *metal3.HostClaim, h *metal3.BareMetalHost) int {
	if c.Spec.FailureDomain == "" || h.Labels[names.FailureDomain] == c.Spec.FailureDomain {
		return 0
	}
	return 1
}

// lot draws a number for a claim and a host that is always the same.
func lot(c *metal3.HostClaim, h *metal3.BareMetalHost) uint64 {
	sum := fnv.New64a()
	fmt.Fprintf(sum, "%s/%s", c.UID, h.UID)
	return sum.Sum64()
}
