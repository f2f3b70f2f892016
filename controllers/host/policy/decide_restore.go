package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// concernRestore takes over the status that an annotation carries, when the host
// has none yet: that of a host which was only looked at, as one that is held when it
// arrives, tells of no machine. A text that cannot be read stops the host: it must not be taken
// for a fresh one and wiped.
func concernRestore(o *Observed, d *Decision) {
	raw, there := o.Host.Annotations[names.Status]
	if !there {
		return
	}
	if o.State() != StateNone {
		d.DropAnnotations, d.Again = []string{names.Status}, true
		return
	}
	status, unknown, err := parseStatus(raw)
	if err != nil {
		message := "the annotation " + names.Status + " cannot be read, so the host is left alone: " + err.Error() +
			"; correct it, or remove it if this is a new host"
		if !stalledBy(o, causeRestore) {
			fail(o, d, metal3.RegistrationError, causeRestore, message)
		}
		d.wait(0, view.Note{Step: "restoring the status", WaitingFor: "a readable annotation"})
		return
	}
	if status.Provisioning.State == StateNone { // it was not looked after there either
		d.DropAnnotations, d.Again = []string{names.Status}, true
		return
	}
	if o.Hardware != nil {
		status.HardwareDetails, unknown = o.Hardware.DeepCopy(), unknown.Without("hardware")
	}
	d.Status = *status
	forgetTold(&d.Status)
	now := metav1.NewTime(o.Now).Rfc3339Copy()
	d.Status.LastUpdated = &now
	if len(unknown) > 0 {
		d.do(Restore{Status: d.Status, Unknown: unknown})
		return
	}
	d.Again = true
}

// causeRestore is the cause of a status annotation that cannot be read.
const causeRestore = "StatusAnnotationUnreadable"

// parseStatus reads the status annotation: what the API server would refuse in a
// status is an error. Members that this version does not know are told beside it.
func parseStatus(raw string) (*metal3.BareMetalHostStatus, reconcile.Unknown, error) {
	var s metal3.BareMetalHostStatus
	unknown, err := reconcile.DecodeKnown([]byte(raw), &s)
	if err != nil {
		return nil, nil, err
	}
	if strings.TrimSpace(raw) == "null" {
		return nil, nil, errors.New("it is null, which says nothing about the machine")
	}
	_, knownState := phases[s.Provisioning.State]
	_, knownError := errorKinds[s.ErrorType]
	switch {
	case !knownState:
		return nil, nil, fmt.Errorf("provisioning state %q is not known", s.Provisioning.State)
	case s.ErrorType != "" && !knownError:
		return nil, nil, fmt.Errorf("error type %q is not known", s.ErrorType)
	case !slices.Contains(operationalStates, s.OperationalStatus):
		return nil, nil, fmt.Errorf("operational status %q is not known", s.OperationalStatus)
	}
	return &s, unknown, nil
}

// operationalStates are those that the schema of the API takes.
var operationalStates = []metal3.OperationalStatus{
	"", metal3.OperationalStatusOK, metal3.OperationalStatusDiscovered, metal3.OperationalStatusError,
	metal3.OperationalStatusDelayed, metal3.OperationalStatusDetached, metal3.OperationalStatusServicing,
}
