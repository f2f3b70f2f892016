package view

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// usual is how long a phase lasts at most on ordinary machines: firmware that
// takes its time, a slow image server and long cleaning included. What lasts
// longer is worth a look. Phases that wait for a wish have no limit.
var usual = map[metal3.ProvisioningState]time.Duration{
	metal3.StateRegistering:             10 * time.Minute,
	metal3.StateInspecting:              45 * time.Minute,
	metal3.StateMatchProfile:            time.Minute,
	metal3.StatePreparing:               2 * time.Hour,
	metal3.StateProvisioning:            2 * time.Hour,
	metal3.StateDeprovisioning:          2 * time.Hour,
	metal3.StatePoweringOffBeforeDelete: 10 * time.Minute,
	metal3.StateDeleting:                10 * time.Minute,
}

// Usual is how long a phase lasts at most as a rule; 0 for one without a limit.
func Usual(state metal3.ProvisioningState) time.Duration { return usual[state] }

// ReasonOverdue names hosts that show no error, yet take longer than usual.
const ReasonOverdue = "Overdue"

// Stuck says why a host does not get on: the reason of its error, or
// [ReasonOverdue]; empty for one that does, and for one that somebody has paused or holds.
func Stuck(h *metal3.BareMetalHost, now time.Time) string {
	for _, key := range []string{names.Paused, names.Hold} {
		if _, kept := h.Annotations[key]; kept {
			return ""
		}
	}
	for _, c := range h.Status.Conditions {
		if c.Type == StalledCondition && c.Status == "True" {
			return c.Reason
		}
	}
	if limit := Usual(h.Status.Provisioning.State); limit > 0 && Of(h).InPhase(now) > limit {
		return ReasonOverdue
	}
	return ""
}
