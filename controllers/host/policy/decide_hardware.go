package policy

import (
	"encoding/json"
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// concernHardware takes over hardware details from outside, for hosts that were
// not inspected or never will be: what HardwareData holds, else what the
// annotation says. The annotation always goes.
func concernHardware(o *Observed, d *Decision) {
	raw, there := o.Host.Annotations[names.HardwareDetails]
	outside := o.Host.Status.HardwareDetails == nil || o.Host.InspectionDisabled()
	switch {
	case o.Deleting(), o.State() == metal3.StateInspecting && !o.Host.InspectionDisabled():
	case outside && o.Hardware != nil && !nodespec.SameHardware(o.Hardware, o.Host.Status.HardwareDetails):
		d.Status.HardwareDetails = o.Hardware.DeepCopy()
		d.event("UpdateHardwareDetails", "Hardware details taken over from HardwareData")
		d.Again = true
	case !there:
	case outside && o.Hardware == nil:
		annotatedHardware(d, raw)
	default:
		d.DropAnnotations = []string{names.HardwareDetails}
		d.event("RemoveAnnotation", "the annotation "+names.HardwareDetails+" is ignored: the hardware is known already")
		d.Again = true
	}
}

// annotatedHardware takes over what the annotation says.
func annotatedHardware(d *Decision, raw string) {
	d.DropAnnotations = []string{names.HardwareDetails}
	details, err := parseHardware(raw)
	if err != nil {
		d.warn("InvalidAnnotationValue", "the annotation "+names.HardwareDetails+" is ignored: "+err.Error())
		d.Again = true
		return
	}
	d.do(SaveHardware{details})
	d.Status.HardwareDetails = details
	d.event("UpdateHardwareDetails", "Hardware details taken over from the annotation")
}

// parseHardware reads hardware details strictly: a misspelt field is an error.
func parseHardware(raw string) (*metal3.HardwareDetails, error) {
	details := &metal3.HardwareDetails{}
	decoder := json.NewDecoder(strings.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(details); err != nil {
		return nil, fmt.Errorf("it is not the JSON of hardware details: %w", err)
	}
	return details, nil
}
