package bmc

import (
	"maps"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
)

// readAnnotations are those of hosts that a pass reads.
var readAnnotations = []string{names.Paused, names.Hold, names.Probe, names.PreflightOverride}

// readOf is a host with nothing but what a pass depends on. A pass gets this, and a host
// wakes the controller when this differs: what is not here can be read by none, and what
// is here is missed by none.
func readOf(h *metal3.BareMetalHost) *metal3.BareMetalHost {
	read := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name, UID: h.UID, DeletionTimestamp: h.DeletionTimestamp},
		Spec:       h.Spec,
	}
	for _, key := range readAnnotations {
		if value, there := h.Annotations[key]; there {
			metav1.SetMetaDataAnnotation(&read.ObjectMeta, key, value)
		}
	}
	from, to := &h.Status, &read.Status
	to.Provisioning.State, to.Provisioning.RAID = busy(from.Provisioning.State), from.Provisioning.RAID
	// A new version of the Secret shows as the one that the host controller has tried.
	to.TriedCredentials.Version = from.TriedCredentials.Version
	if found := from.HardwareDetails; found != nil && found.CPU.Arch != "" { // which live image it boots
		to.HardwareDetails = &metal3.HardwareDetails{CPU: metal3.CPU{Arch: found.CPU.Arch}}
	}
	// On the way to rest much changes that says only: not yet.
	if since := rested(h); !since.IsZero() {
		to.Provisioning.State, to.OperationalStatus = from.Provisioning.State, from.OperationalStatus
		to.Conditions = []metav1.Condition{{Type: metal3.ProgressingCondition, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(since)}}
	}
	return read
}

// busy is the phase of a host that is not at rest. All are one for a pass but those in
// which a BMC is not asked.
func busy(state metal3.ProvisioningState) metal3.ProvisioningState {
	switch state {
	case metal3.StateNone, metal3.StateUnmanaged, metal3.StatePreparing:
		return state
	default:
		return metal3.StateRegistering
	}
}

// otherToRead lets those updates of hosts through that a pass depends on.
type otherToRead struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (otherToRead) Update(e event.TypedUpdateEvent[kclient.Object]) bool {
	before, was := e.ObjectOld.(*metal3.BareMetalHost)
	after, is := e.ObjectNew.(*metal3.BareMetalHost)
	return was && is && !apiequality.Semantic.DeepEqual(readOf(before), readOf(after))
}

// otherSettings lets those updates of HostFirmwareSettings through that show other settings.
type otherSettings struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (otherSettings) Update(e event.TypedUpdateEvent[kclient.Object]) bool {
	before, was := e.ObjectOld.(*metal3.HostFirmwareSettings)
	after, is := e.ObjectNew.(*metal3.HostFirmwareSettings)
	return was && is && !maps.Equal(before.Status.Settings, after.Status.Settings)
}

// lacking lets those BMCs through whose Ready does not follow from their other conditions:
// other controllers write those too, and our own writes keep it so. One that was deleted is
// let through as well: its host lacks one.
type lacking struct{ predicate.Funcs }

// Create implements predicate.Predicate.
func (lacking) Create(e event.TypedCreateEvent[kclient.Object]) bool { return staleReady(e.Object) }

// Update implements predicate.Predicate.
func (lacking) Update(e event.TypedUpdateEvent[kclient.Object]) bool { return staleReady(e.ObjectNew) }

func staleReady(o kclient.Object) bool {
	b, is := o.(*v1alpha1.BMC)
	if !is {
		return false
	}
	now := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Ready)
	status, reason, message := readiness(b)
	return now != nil && (now.Status != status || now.Reason != reason || now.Message != message)
}
