package host

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// forcedReboots names the reboot annotations that count while Ironic is at work
// on a host, sorted.
func forcedReboots(h *metal3.BareMetalHost) []string {
	var forced []string
	for _, key := range slices.Sorted(maps.Keys(h.Annotations)) {
		if key != names.Reboot && !strings.HasPrefix(key, names.Reboot+"/") {
			continue
		}
		var args metal3.RebootAnnotationArguments
		if json.Unmarshal([]byte(h.Annotations[key]), &args) == nil && args.Force {
			forced = append(forced, key)
		}
	}
	return forced
}

// startOver ends an inspection or deployment that waits for the machine, on
// request of a forced reboot, and reports whether it does. The phase then starts
// the operation anew, with a restart of the machine.
func startOver(o *Observed, d *Decision) bool {
	forced := forcedReboots(o.Host)
	if len(forced) == 0 {
		return false
	}
	target := ironic.TargetDeleted
	if o.Node.ProvisionState == ironic.StateInspectWait {
		target = ironic.TargetAbort
	}
	d.do(Transition{ironic.Transition{Target: target}})
	d.DropAnnotations = forced
	d.event("ForcedReboot", "what the machine was doing ("+string(o.Node.ProvisionState)+") is started over on request of the annotation "+forced[0])
	return true
}

// abandon ends an operation that waits for the machine, so that its node can be
// removed or the machine switched off; it reports whether there is one. An Ironic
// that cannot abort a deployment is asked to tear it down.
func abandon(o *Observed, d *Decision) bool {
	target := ironic.TargetAbort
	switch o.Node.ProvisionState {
	case ironic.StateInspectWait, ironic.StateCleanWait, ironic.StateServiceWait:
	case ironic.StateDeployWait:
		if o.AbortRefused {
			target = ironic.TargetDeleted
		}
	default:
		return false
	}
	d.do(Transition{ironic.Transition{Target: target}})
	return true
}
