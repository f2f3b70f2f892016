package condition_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/condition"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
)

// TestSet takes both forms through the life of a condition.
func TestSet(t *testing.T) {
	t.Run("agent-install", func(t *testing.T) {
		life(t, func(status corev1.ConditionStatus, reason string) agentv1.Condition {
			return agentv1.Condition{Type: "Ready", Status: status, Reason: reason}
		})
	})
	t.Run("hive", func(t *testing.T) {
		life(t, func(status corev1.ConditionStatus, reason string) hiveextv1.Condition {
			return hiveextv1.Condition{Type: "Ready", Status: status, Reason: reason}
		})
	})
}

func life[T any, P condition.Pointer[T]](t *testing.T, build func(corev1.ConditionStatus, string) T) {
	g := NewWithT(t)
	at := func(minute int) metav1.Time { return metav1.NewTime(time.Date(2026, 5, 1, 12, minute, 0, 0, time.UTC)) }
	var list []T
	for _, step := range []struct {
		what       string
		status     corev1.ConditionStatus
		reason     string
		minute     int
		changed    bool
		observed   int
		transition int
	}{
		{"the first word", "False", "Waiting", 1, true, 1, 1},
		{"nothing new keeps the times", "False", "Waiting", 2, false, 1, 1},
		{"another reason is no transition", "False", "Working", 3, true, 3, 1},
		{"another status is one", "True", "Done", 4, true, 4, 4},
	} {
		g.Expect(condition.Set[T, P](&list, build(step.status, step.reason), at(step.minute))).To(Equal(step.changed), step.what)
		g.Expect(list).To(HaveLen(1))
		f := P(condition.Find[T, P](list, "Ready")).Fields()
		g.Expect(*f.Reason).To(Equal(step.reason), step.what)
		g.Expect(*f.Observed).To(Equal(at(step.observed)), step.what)
		g.Expect(*f.Transition).To(Equal(at(step.transition)), step.what)
	}
	g.Expect(condition.Find[T, P](list, "Other")).To(BeNil())
}
