package reconcile

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxMessage is the longest message, in bytes, that the API server accepts in a condition.
const MaxMessage = 32768

// Conditioned is an object with standard conditions.
type Conditioned interface {
	GetGeneration() int64
	GetConditions() []metav1.Condition
	SetConditions([]metav1.Condition)
}

// SetCondition sets one condition for the object's current generation and
// reports whether anything changed. The transition time moves only when the
// status flips, so readers can tell how long it has held. An empty reason would
// be refused by the API server and becomes the condition's type.
func SetCondition(obj Conditioned, kind string, status metav1.ConditionStatus, reason, message string) bool {
	return SetConditionOf(obj, obj.GetGeneration(), kind, status, reason, message)
}

// SetConditionOf does what SetCondition does for a condition that was computed from an
// earlier generation of the object.
func SetConditionOf(obj Conditioned, generation int64, kind string, status metav1.ConditionStatus, reason, message string) bool {
	if reason == "" {
		reason = kind
	}
	want := metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: Cut(message, MaxMessage),
		ObservedGeneration: generation,
	}
	if c := meta.FindStatusCondition(obj.GetConditions(), kind); c != nil {
		if want.LastTransitionTime = c.LastTransitionTime; *c == want {
			return false // as most are, in most passes: nothing is copied for them
		}
		want.LastTransitionTime = metav1.Time{}
	}
	conditions := slices.Clone(obj.GetConditions())
	meta.SetStatusCondition(&conditions, want)
	obj.SetConditions(conditions)
	return true
}

// DropCondition takes a condition away, if the object has it.
func DropCondition(obj Conditioned, kind string) {
	conditions := obj.GetConditions()
	if meta.FindStatusCondition(conditions, kind) == nil {
		return
	}
	meta.RemoveStatusCondition(&conditions, kind)
	obj.SetConditions(conditions)
}

// Cut shortens text to at most limit bytes without splitting a character; a cut
// is shown by three dots.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const dots = "..."
	end := limit - len(dots)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + dots
}
