package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/host/view/render"
)

// Who ends it.
const (
	aPerson    = "a person"
	byItself   = "nobody has to: it goes on by itself"
	mended     = "whoever removes the cause; it goes on by itself then"
	triedAgain = "Ironflow tries again by itself; a person can have it tried at once"
)

// hostWhy is why a host is where it is; it is pure.
func hostWhy(h *metal3v1.BareMetalHost, now time.Time) answer {
	v := view.Of(h)
	a := answer{title: "BareMetalHost/" + h.Name, state: phaseLine(v, now)}
	switch {
	case keptOff(h, keepers) != "":
		a.waits, a.who = v.WaitingFor, aPerson
		a.reason, a.next = cmp.Or(v.Reason, keptOff(h, keepers)), keptOffEnds(h)
	case v.ErrorType != "":
		a.reason, a.next = stalledCause(h), v.NextAction
		a.who = triedAgain
		if onlyAPerson(h, v) != "" {
			a.who = aPerson
		} else if view.AdviceFor(view.ErrorReason(h)).Ends {
			a.who = mended
		}
	case v.Reason != "":
		a.reason, a.next = splitNext(v.Reason)
		a.who = mended
	case meta.IsStatusConditionTrue(h.Status.Conditions, metal3v1.ReadyCondition) && v.Step == "":
		a.waits = "nothing: it is as it is wanted"
	case v.Step == "" && v.State == string(metal3v1.StateAvailable):
		a.waits, a.who = "something to install: its spec asks for nothing", "whoever wants to use the host"
		a.next = "set spec.image or spec.customDeploy, or claim it"
	case v.Step == "" && v.State == "":
		a.waits, a.who = "Ironflow's first look at it", "Ironflow, if it runs and watches this namespace"
	case v.Step == "" && v.State == string(metal3v1.StateUnmanaged):
		a.waits, a.who, a.next = "a BMC", aPerson, "set spec.bmc"
	default:
		a.waits, a.who = waitsOf(v), whoOf(v)
	}
	if a.next == "" && view.Stuck(h, now) == view.ReasonOverdue {
		a.next = fmt.Sprintf("it takes longer than usual (%s): look at the machine's console, and at kubectl ironflow events %s", render.Elapsed(view.Usual(h.Status.Provisioning.State)), h.Name)
	}
	return a
}

// waitsOf is what the host is at: the step, and what it waits for.
func waitsOf(v view.View) string {
	if v.WaitingFor == "" {
		return "the end of: " + stepLine(v)
	}
	if v.Step == "" {
		return v.WaitingFor
	}
	return v.WaitingFor + " (" + stepLine(v) + ")"
}

// whoOf tells a person from the rest.
func whoOf(v view.View) string {
	for _, word := range []string{"somebody", "a person", "whoever", "the client"} {
		if strings.HasPrefix(v.WaitingFor, word) {
			return aPerson
		}
	}
	return byItself
}

// stalledCause is the cause of the error with what becomes of it, as the condition has it.
func stalledCause(h *metal3v1.BareMetalHost) string {
	if c := meta.FindStatusCondition(h.Status.Conditions, view.StalledCondition); c != nil && c.Status == metav1.ConditionTrue {
		if cause, _ := splitNext(c.Message); cause != "" {
			return cause
		}
	}
	return strings.TrimSpace(h.Status.ErrorMessage)
}

// splitNext parts a condition's message into what is wrong and what to do.
func splitNext(message string) (what, todo string) {
	i := strings.LastIndex(message, nextStep)
	if i < 0 {
		return strings.TrimSpace(message), ""
	}
	return strings.TrimSuffix(strings.TrimSpace(message[:i]), "."), strings.TrimSpace(message[i+len(nextStep):])
}

// Reasons of the condition Stalled: after those of givenUp nothing is tried again by itself; imageError may
// end by itself, such as when a base image has been downloaded.
var givenUp = []string{"RetryLimitReached", "UnknownState"}

const imageError = "LiveImageError"

// onlyAPerson says what a person has to do before the host goes on; empty while it goes on by itself.
func onlyAPerson(h *metal3v1.BareMetalHost, v view.View) string {
	if kept := keptOff(h, keepers); kept != "" {
		return strings.TrimSuffix(kept+": "+keptOffEnds(h), ": ")
	}
	reason := view.ErrorReason(h)
	if slices.Contains(givenUp, reason) || reason != "" && reason != imageError && view.AdviceFor(reason).Ends {
		return strings.TrimPrefix(v.Reason+": "+v.NextAction, ": ")
	}
	return ""
}
