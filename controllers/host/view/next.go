package view

import (
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// advice is the next step for a person, by type of error.
var advice = map[metal3.ErrorType]string{
	metal3.RegistrationError:            "check bmc.address, the BMC's Secret and that the BMC answers",
	metal3.ProvisionedRegistrationError: "check the BMC and the node in Ironic; the machine itself is not touched",
	metal3.InspectionError:              "look at the machine's console and at how far the BMC read the live image",
	metal3.PreparationError:             "check RAID and firmware settings against what the machine offers",
	metal3.ProvisioningError:            "remove the cause that the reason names",
	metal3.PowerManagementError:         "check the BMC; the machine may be operated by hand meanwhile",
	metal3.ServicingError:               "check the firmware settings and updates that are asked for",
}

// Advice returns the next step for a person after an error of this type.
func Advice(kind metal3.ErrorType) string { return advice[kind] }

// nextAction says what a person can do for a host that does not go on.
func nextAction(h *metal3.BareMetalHost) string {
	if _, held := h.Annotations[names.Hold]; held {
		return "remove the annotation " + names.Hold + " to let it go on"
	}
	kind := h.Status.ErrorType
	if kind == "" {
		return ""
	}
	next := advice[kind]
	if next == "" {
		next = "see the reason"
	}
	return fmt.Sprintf("%s, then: kubectl annotate bmh -n %s %s %s=$(date +%%s) --overwrite", next, h.Namespace, h.Name, names.Retry)
}
