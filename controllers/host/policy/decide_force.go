package policy

import (
	"encoding/json"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// ForcedReboots names the reboot annotations that count whatever the host is doing,
// sorted.
func ForcedReboots(h *metal3.BareMetalHost) []string {
	var forced []string
	for _, key := range rebootAnnotations(h) {
		var args metal3.RebootAnnotationArguments
		if json.Unmarshal([]byte(h.Annotations[key]), &args) == nil && args.Force {
			forced = append(forced, key)
		}
	}
	return forced
}

// abandon ends an operation that waits for the machine, so that its node can be
// removed or the machine switched off; it reports whether there is one. An Ironic
// that cannot abort a deployment is asked to tear it down.
func abandon(o *Observed, d *Decision) bool {
	end := ironic.TargetAbort
	switch o.Node.ProvisionState {
	case ironic.StateInspectWait, ironic.StateCleanWait, ironic.StateServiceWait:
	case ironic.StateDeployWait:
		if o.AbortRefused {
			end = ironic.TargetDeleted
		}
	default:
		return false
	}
	target(o, d, end)
	return true
}
