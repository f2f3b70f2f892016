package policy

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
)

// enter moves the host to another phase and asks for the next decision. The
// history of operations, the boot mode and the state counter belong to it.
func enter(o *Observed, d *Decision, next State) {
	previous := o.State()
	now := metav1.NewTime(o.Now).Rfc3339Copy()
	closeHistory(&d.Status, previous, now)
	openHistory(&d.Status, next, now)
	d.Status.Provisioning.State = next
	switch next {
	case metal3.StateRegistering, metal3.StateInspecting, metal3.StateProvisioning:
		d.Status.Provisioning.BootMode = o.Host.BootMode()
	default:
	}
	if d.Status.ErrorType != "" {
		clearError(d)
	}
	if d.Status.OperationalStatus != metal3.OperationalStatusDetached && next != metal3.StateUnmanaged {
		d.Status.OperationalStatus = metal3.OperationalStatusOK
	}
	if MarkOf(o.Host) != nil {
		d.DropAnnotations = append(d.DropAnnotations, names.Rebooting) // what it is about is over
	}
	d.count(CountStateChange(previous, next))
	d.Again = true
}

// closeHistory ends the operation that the phase stands for.
func closeHistory(s *metal3.BareMetalHostStatus, state State, now metav1.Time) {
	if m := metricOf(s, state); m != nil && m.End.IsZero() {
		m.End = now
	}
}

// openHistory begins the operation that the phase stands for.
func openHistory(s *metal3.BareMetalHostStatus, state State, now metav1.Time) {
	if m := metricOf(s, state); m != nil {
		*m = metal3.OperationMetric{Start: now}
	}
}

// metricOf returns the history entry of a phase that has one.
func metricOf(s *metal3.BareMetalHostStatus, state State) *metal3.OperationMetric {
	switch state {
	case metal3.StateRegistering:
		return &s.OperationHistory.Register
	case metal3.StateInspecting:
		return &s.OperationHistory.Inspect
	case metal3.StateProvisioning:
		return &s.OperationHistory.Provision
	case metal3.StateDeprovisioning:
		return &s.OperationHistory.Deprovision
	default:
		return nil
	}
}

// complete marks the end of an operation without fault.
func complete(d *Decision) { d.Status.ErrorCount = 0 }
