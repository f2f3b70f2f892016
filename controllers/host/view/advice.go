package view

import (
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
)

// Advice is the next step for a person after an error.
type Advice struct {
	// Do says what to do.
	Do string
	// Ends means that the error ends by itself once that is done: nobody has to ask for
	// another attempt.
	Ends bool
}

// advice has a row for each reason of the Stalled condition.
var advice = map[string]Advice{
	"RegistrationError":            {Do: "check bmc.address, the BMC's Secret and that the BMC answers"},
	"ProvisionedRegistrationError": {Do: "check the BMC and the node in Ironic; the machine itself is not touched"},
	"InspectionError":              {Do: "look at the machine's console and at how far the BMC read the live image"},
	"PreparationError":             {Do: "check RAID and firmware settings against what the machine offers"},
	"ProvisioningError":            {Do: "remove the cause that the reason names"},
	"PowerManagementError":         {Do: "check the BMC; the machine may be operated by hand meanwhile"},
	"ServicingError":               {Do: "check the firmware settings and updates that are asked for"},

	"BMCCredentialError":         {Do: "correct the address or the Secret that the reason names", Ends: true},
	"InvalidSpec":                {Do: "correct the field of the spec that the reason names, or the Secret that it refers to", Ends: true},
	"LiveImageError":             {Do: "see the PreprovisioningImage of the host's name", Ends: true},
	"PreflightFailed":            {Do: "write what the reason says in the place of the wish", Ends: true},
	"UnknownIronic":              {Do: "correct the annotation " + names.Ironic + ", or configure that Ironic", Ends: true},
	"NodeOfAnotherHost":          {Do: "settle whose machine it is, as the reason says"},
	"UnknownInstance":            {Do: "set spec.externallyProvisioned to keep what runs, or undeploy the node in Ironic", Ends: true},
	"MachineMayBeInUse":          {Do: "set spec.externallyProvisioned to keep what is on the machine; or annotate the host with " + names.Inspect + ", if nothing is needed of it", Ends: true},
	"NodeInAnotherIronic":        {Do: "set the annotation " + names.Ironic + " back, or have that node removed first, as the reason says", Ends: true},
	"MachineOfAnotherHost":       {Do: "correct or delete the one of the two hosts that is wrong", Ends: true},
	"NodeNotActive":              {Do: "see in Ironic who has changed the node, and install the machine again or bring the node to manageable", Ends: true},
	"MachineChanged":             {Do: "set spec.image and spec.customDeploy back to what was deployed until the host has its node, or set the address back", Ends: true},
	"OtherInstance":              {Do: "set spec.image and spec.customDeploy to what was deployed, or undeploy the node in Ironic", Ends: true},
	"VerificationStuck":          {Do: "see that Ironic's conductor runs", Ends: true},
	"RejectedByIronic":           {Do: "correct what Ironic names, in the spec or in Ironic's configuration"},
	"RetryLimitReached":          {Do: "remove the cause of the failures"},
	"UnknownState":               {Do: "upgrade, or restore the host's status"},
	"StatusAnnotationUnreadable": {Do: "correct the annotation " + names.Status + ", or remove it for a new host", Ends: true},
}

// AdviceFor returns the next step after an error with this reason.
func AdviceFor(reason string) Advice {
	if a, known := advice[reason]; known {
		return a
	}
	return Advice{Do: "see the reason"}
}

// nextAction says what a person can do for a host that does not go on.
func nextAction(h *metal3.BareMetalHost) string {
	_, held := h.Annotations[names.Hold]
	detached := h.Status.OperationalStatus == metal3.OperationalStatusDetached
	switch {
	case held:
		return "remove the annotation " + names.Hold + " to let it go on"
	case h.Status.ErrorType == "":
		return ""
	case detached:
		return "remove the annotation " + names.Detached + " to have it tried again"
	}
	a := AdviceFor(ErrorReason(h))
	if a.Ends {
		return a.Do + "; it goes on by itself then"
	}
	return fmt.Sprintf("%s, then: kubectl annotate bmh -n %s %s %s=$(date +%%s) --overwrite", a.Do, h.Namespace, h.Name, names.Retry)
}

// ErrorReason is the reason of the host's error: that of the Stalled condition, or the
// error type's own where another program has recorded it; empty without an error.
func ErrorReason(h *metal3.BareMetalHost) string {
	if h.Status.ErrorType == "" {
		return ""
	}
	if c := meta.FindStatusCondition(h.Status.Conditions, StalledCondition); c != nil && c.Status == metav1.ConditionTrue {
		return c.Reason
	}
	var reason strings.Builder
	for word := range strings.FieldsSeq(string(h.Status.ErrorType)) {
		reason.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return reason.String()
}
