package bmc

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Reasons of conditions that hold.
const (
	ReasonProbed   = "Probed"
	ReasonAnswered = "Answered"
	ReasonReady    = "Ready"
	ReasonWaiting  = "Waiting"
)

// summarise sets Reachable and Ready from the outcome of a pass. Ready is computed of
// the other conditions: the first that is False says why.
func summarise(b *v1alpha1.BMC, err error) {
	if stalled, ok := errors.AsType[*reconcile.Stalled](err); ok {
		reconcile.SetCondition(b, v1alpha1.Reachable, metav1.ConditionFalse, stalled.Reason, stalled.Message)
	} else if away, ok := errors.AsType[*reconcile.Unavailable](err); ok {
		reason := string(kindOf(away.Err))
		if reason == "" {
			reason = "Unavailable"
		}
		reconcile.SetCondition(b, v1alpha1.Reachable, metav1.ConditionFalse, reason, away.Err.Error())
	} else if b.Status.Report != nil && err == nil {
		reconcile.SetCondition(b, v1alpha1.Reachable, metav1.ConditionTrue, ReasonAnswered, "the BMC answers")
	}
	settle(b)
}

// settle sets Ready.
func settle(b *v1alpha1.BMC) {
	status, reason, message := readiness(b)
	reconcile.SetCondition(b, v1alpha1.Ready, status, reason, message)
}

// before Ready are the conditions that it is computed of, in the order in which a
// person would mend them. Healthy is not among them: a fan that fails does not keep a
// BMC from being used.
var beforeReady = []string{v1alpha1.Reachable, v1alpha1.CredentialsCurrent, v1alpha1.PreflightPassed, v1alpha1.InSync}

// readiness is what Ready has to be.
func readiness(b *v1alpha1.BMC) (status metav1.ConditionStatus, reason, message string) {
	for _, kind := range beforeReady {
		if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			return metav1.ConditionFalse, c.Reason, c.Message
		}
	}
	if b.Status.Report == nil {
		return metav1.ConditionUnknown, ReasonWaiting, "the BMC was not probed yet"
	}
	return metav1.ConditionTrue, ReasonReady, "the BMC was probed; see its report"
}
