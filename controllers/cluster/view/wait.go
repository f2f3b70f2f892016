// Package view is how the resource of a cluster says what it waits for, and how that is read again.
//
// The controller of clusters writes it into the message of a condition, and the CLI shows it to people:
// both use the one type of this package, [Wait]. It has no state and asks nobody.
package view

import (
	"strings"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// Wait is what a cluster waits for.
type Wait struct {
	// For is what has to happen, as part of a sentence: "2 of 3 hosts to be installed".
	For string
	// Ends says who can end it, and how.
	Ends string
}

const waiting, ends = "waiting for ", "; who ends it: "

// String is the message of a condition.
func (w Wait) String() string { return waiting + w.For + ends + w.Ends }

// ParseWait reads what String wrote; it is false for any other text.
func ParseWait(message string) (Wait, bool) {
	text, is := strings.CutPrefix(message, waiting)
	at := strings.LastIndex(text, ends)
	if !is || at < 0 {
		return Wait{}, false
	}
	return Wait{For: text[:at], Ends: text[at+len(ends):]}, true
}

// Standing is what tools that do not know the kind (kstatus) make of it: the one of the three conditions that
// is True. It is nil for a resource that nobody has looked at yet.
func Standing(conditions []hiveextv1.Condition) *hiveextv1.Condition {
	for _, kind := range []string{hiveextv1.ConditionReconciling, hiveextv1.ConditionStalled, hiveextv1.ConditionReady} {
		if c := hiveextv1.FindCondition(conditions, kind); c != nil && c.Status == "True" {
			return c
		}
	}
	return nil
}
