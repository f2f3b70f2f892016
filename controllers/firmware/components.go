package firmware

import (
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// UpdatesWish returns the updates of the spec that were not carried out yet.
// seen is false while the present spec has not been judged.
func UpdatesWish(c *metal3.HostFirmwareComponents) (wish []metal3.FirmwareUpdate, seen bool) {
	if c == nil || len(c.Spec.Updates) == 0 {
		return nil, true
	}
	if !judged(c.Status.Conditions, c.Generation, string(metal3.HostFirmwareComponentsChangeDetected)) {
		return nil, false
	}
	if !both(c.Status.Conditions, string(metal3.HostFirmwareComponentsChangeDetected), string(metal3.HostFirmwareComponentsValid)) {
		return nil, true
	}
	for _, u := range c.Spec.Updates {
		if !slices.Contains(c.Status.Updates, u) {
			wish = append(wish, u)
		}
	}
	return wish, true
}

// knownComponent reports whether a component is one that can be updated.
func knownComponent(name string) bool {
	return name == "bmc" || name == "bios" || strings.HasPrefix(name, metal3.NICComponentPrefix)
}

// componentStatuses are the components that Ironic lists, as far as the API
// knows their kind.
func componentStatuses(list []ironic.FirmwareComponent) []metal3.FirmwareComponentStatus {
	var statuses []metal3.FirmwareComponentStatus
	for _, c := range list {
		if knownComponent(c.Component) {
			if c.UpdatedAt.IsZero() {
				c.UpdatedAt = time.Unix(0, 0) // the schema wants a time
			}
			statuses = append(statuses, metal3.FirmwareComponentStatus{
				Component: c.Component, InitialVersion: c.InitialVersion, CurrentVersion: c.CurrentVersion,
				LastVersionFlashed: c.LastVersionFlashed, UpdatedAt: metav1.NewTime(c.UpdatedAt).Rfc3339Copy(),
			})
		}
	}
	return statuses
}

// componentsConditioned lets conditions be set on HostFirmwareComponents.
type componentsConditioned struct{ *metal3.HostFirmwareComponents }

// GetConditions implements reconcile.Conditioned.
func (c componentsConditioned) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions implements reconcile.Conditioned.
func (c componentsConditioned) SetConditions(list []metav1.Condition) { c.Status.Conditions = list }

// Outcome is what is known of updates that Ironic was asked for. The zero value is that it
// was asked for none.
type Outcome struct {
	// Updates are those that the machine has, or may have.
	Updates []metal3.FirmwareUpdate
	// Unknown means that nobody can tell whether they were made.
	Unknown bool
}

// updatesUnknown reports a wish of which nobody can tell whether it was carried out: the
// host was moved here with its status, as clusterctl does, and its components' status
// was not. A machine is not flashed for that.
func updatesUnknown(h *metal3.BareMetalHost, c *metal3.HostFirmwareComponents) bool {
	registered := h.Status.OperationHistory.Register.Start
	moved := !registered.IsZero() && registered.Before(&h.CreationTimestamp)
	return moved && c.Status.LastUpdated == nil && len(c.Spec.Updates) > 0
}

// Why it is not known which updates a machine has.
const (
	whyMoved = "the host was moved here without this status"
	whyEnded = "Ironflow ended as it asked Ironic for updates, and was not there again before the machine was at rest"
)

// takeAsMade takes updates as carried out of which nobody can tell, and says so.
func takeAsMade(c *metal3.HostFirmwareComponents, updates []metal3.FirmwareUpdate, why string) {
	c.Status.Updates = slices.Clone(updates)
	reconcile.SetCondition(componentsConditioned{c}, string(metal3.HostFirmwareComponentsChangeDetected), metav1.ConditionFalse, reasonTakenAsMade,
		why+", so that it is not known which updates the machine has: those of the spec are taken as made, "+
			"and nothing is flashed. Compare status.components; to have one flashed, change its url, such as by a fragment")
}

// changeReason is the reason and message of the condition ChangeDetected: what was taken
// as made stays so until the wish is another one.
func changeReason(c *metal3.HostFirmwareComponents, changed metav1.ConditionStatus) (reason, message string) {
	was := meta.FindStatusCondition(c.Status.Conditions, string(metal3.HostFirmwareComponentsChangeDetected))
	if was != nil && was.Reason == reasonTakenAsMade && was.ObservedGeneration == c.Generation && changed == metav1.ConditionFalse {
		return was.Reason, was.Message
	}
	return reasonComponent, ""
}

// judgeUpdates sets the conditions for the present spec and returns an event if
// it is refused, once per spec.
func judgeUpdates(c *metal3.HostFirmwareComponents) []reconcile.Event {
	again := judged(c.Status.Conditions, c.Generation, string(metal3.HostFirmwareComponentsValid)) &&
		!meta.IsStatusConditionTrue(c.Status.Conditions, string(metal3.HostFirmwareComponentsValid))
	changed := metav1.ConditionFalse
	if !slices.Equal(c.Spec.Updates, c.Status.Updates) {
		changed = metav1.ConditionTrue
	}
	reason, message := changeReason(c, changed)
	reconcile.SetCondition(componentsConditioned{c}, string(metal3.HostFirmwareComponentsChangeDetected), changed, reason, message)
	err := c.ValidateHostFirmwareComponents()
	if err == nil {
		reconcile.SetCondition(componentsConditioned{c}, string(metal3.HostFirmwareComponentsValid), metav1.ConditionTrue, reasonComponent, "")
		return nil
	}
	reconcile.SetCondition(componentsConditioned{c}, string(metal3.HostFirmwareComponentsValid), metav1.ConditionFalse, reasonInvalidComponent, err.Error())
	if again {
		return nil
	}
	return []reconcile.Event{{Warning: true, Reason: reasonValidation, Message: "Invalid firmware update: " + err.Error()}}
}
