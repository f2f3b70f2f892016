package link

import (
	"encoding/json"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// mostStatus bounds the copy of a status, in bytes: all annotations of an object together may
// have 256 KiB. The hardware is left out of a larger one: HardwareData has it, too.
const mostStatus = 192 << 10

// pause keeps everybody off a host that is detached, with its status in an annotation, as it is
// then: whoever makes the host anew elsewhere, from a backup or by a move, knows by it what runs
// on the machine, and neither inspects nor installs it. Before the host is detached, the status
// would say that it is not.
func pause(in Input, host *metal3v1.BareMetalHost) {
	if !in.Pause || !ours(host, names.Detached) || host.Status.OperationalStatus != metal3v1.OperationalStatusDetached {
		unpause(host)
		return
	}
	if status, ok := copied(host.Status); ok {
		annotate(host, names.Status, status)
		annotate(host, names.Paused, Owner)
	}
}

// copied is the status as text; false for one that no annotation can hold.
func copied(status metal3v1.BareMetalHostStatus) (string, bool) {
	raw, err := json.Marshal(status)
	if err == nil && len(raw) > mostStatus {
		status.HardwareDetails = nil
		raw, err = json.Marshal(status)
	}
	return string(raw), err == nil && len(raw) <= mostStatus
}

// unpause ends a pause of ours. The copy of the status is of no use beside the status itself.
func unpause(host *metal3v1.BareMetalHost) {
	if !ours(host, names.Paused) {
		return
	}
	delete(host.Annotations, names.Paused)
	if host.Status.Provisioning.State != "" {
		delete(host.Annotations, names.Status)
	}
}

// arrived reports a host that this controller has paused where it came from: it has no status
// here yet, but the annotation that tells it.
func arrived(host *metal3v1.BareMetalHost) bool {
	_, told := host.Annotations[names.Status]
	return host.Status.Provisioning.State == "" && told && ours(host, names.Paused)
}
