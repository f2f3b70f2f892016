package main

import (
	"fmt"
	"slices"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// keeper is an annotation of hosts on which nobody acts while it is there.
type keeper struct{ annotation, says string }

var (
	// byHand keep everybody off a host.
	byHand = []keeper{{names.Paused, "it is paused"}, {names.Hold, "it is on hold"}}
	// keepers keep Ironic off, too.
	keepers = append(slices.Clip(byHand), keeper{names.Detached, "it is detached from Ironic"})
)

// keptOff says why nobody acts on a host; empty while somebody does.
func keptOff(h *metal3v1.BareMetalHost, by []keeper) string {
	for _, k := range by {
		if _, has := h.Annotations[k.annotation]; has {
			return k.says
		}
	}
	return ""
}

// keptOffEnds is what to do about it.
func keptOffEnds(h *metal3v1.BareMetalHost) string {
	for _, k := range keepers {
		if _, has := h.Annotations[k.annotation]; !has {
			continue
		}
		if k.annotation == names.Hold {
			return fmt.Sprintf("remove the annotation %s: kubectl ironflow release %s -n %s", names.Hold, h.Name, h.Namespace)
		}
		return fmt.Sprintf("remove the annotation %s: kubectl annotate bmh -n %s %s %s-", k.annotation, h.Namespace, h.Name, k.annotation)
	}
	return ""
}
