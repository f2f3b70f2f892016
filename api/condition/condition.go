// Package condition sets and finds conditions of the kinds of this API whose
// condition types differ in their fields, but mean the same: those of
// agent-install.openshift.io have a heartbeat, Hive's have a probe time.
package condition

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Fields point at the parts of one condition.
type Fields struct {
	Type, Reason, Message *string
	Status                *corev1.ConditionStatus
	// Observed is when the condition was last observed, Transition when Status last
	// changed.
	Observed, Transition *metav1.Time
}

// Pointer is a condition that shows its parts.
type Pointer[T any] interface {
	*T
	Fields() Fields
}

// Set puts c into conditions by its type and reports whether anything but times
// changed. The transition time moves only with the status.
func Set[T any, P Pointer[T]](conditions *[]T, c T, now metav1.Time) bool {
	next := P(&c).Fields()
	*next.Observed, *next.Transition = now, now
	old := Find[T, P](*conditions, *next.Type)
	if old == nil {
		*conditions = append(*conditions, c)
		return true
	}
	was := P(old).Fields()
	if *was.Status == *next.Status && *was.Reason == *next.Reason && *was.Message == *next.Message {
		return false
	}
	if *was.Status == *next.Status {
		*next.Transition = *was.Transition
	}
	*old = c
	return true
}

// Find returns the condition of that type, or nil.
func Find[T any, P Pointer[T]](conditions []T, conditionType string) *T {
	for i := range conditions {
		if *P(&conditions[i]).Fields().Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}
