package link

import (
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// forget ends this controller's care for a host whose label was removed, and does no
// more: the machine runs what it runs, its spec and its Agent stay, and it stays
// detached. A pause of ours goes, or the host could not even be deleted. A label is no wish to have a machine wiped.
func forget(host *metal3v1.BareMetalHost) Plan {
	delete(host.Annotations, names.DeployOwner)
	unpause(host)
	dropFinalizer(host)
	return Plan{}
}

// release lets a BareMetalHost go that is being deleted. A detached machine keeps
// running and keeps its Agent, unless the host says that both are to go with it; any
// other machine is about to be wiped, and its Agent goes. The Node of a machine that is wiped
// leaves its cluster first.
func release(in Input, host *metal3v1.BareMetalHost, linked bool) Plan {
	if !linked {
		return Plan{}
	}
	_, remove := host.Annotations[names.BMACRemove]
	unpause(host)
	if remove {
		if plan, waits := leave(in, host); waits {
			return plan
		}
		removeOwned(host, names.Detached)
	}
	_, detached := host.Annotations[names.Detached]
	if remove && !detached && inUse(host) {
		// The host controller cleans it now; the Agent tells of what runs until then.
		return Plan{Says: no(ReasonRemoving, "the machine is cleaned, because the host is being deleted and has the annotation "+names.BMACRemove+
			"; its Agent goes afterwards. "+ofItsNode(host))}
	}
	dropFinalizer(host)
	return Plan{DeleteAgent: linkedAgent(in) && !detached}
}

// inUse reports whether something of a deployment is on the machine, or on its way.
func inUse(host *metal3v1.BareMetalHost) bool {
	switch host.Status.Provisioning.State {
	case metal3v1.StateProvisioning, metal3v1.StateProvisioned, metal3v1.StateDeprovisioning:
		return true
	default:
		return false
	}
}
