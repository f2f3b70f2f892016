package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/execute"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// What users, dashboards and other controllers know from baremetal-operator.

func TestOperationHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.untilState(metal3.StateAvailable, time.Minute)
		history := w.host().Status.OperationHistory
		last := metav1.Time{}
		for name, m := range map[string]metal3.OperationMetric{
			"register": history.Register, "inspect": history.Inspect, "provision": history.Provision, "deprovision": history.Deprovision,
		} {
			g.Expect(m.Start.IsZero()).To(BeFalse(), name)
			g.Expect(m.End.Before(&m.Start)).To(BeFalse(), name)
		}
		for _, m := range []metal3.OperationMetric{history.Register, history.Inspect, history.Provision, history.Deprovision} {
			g.Expect(m.Start.Before(&last)).To(BeFalse(), "one after the other")
			last = m.End
		}
	})
}

// TestEventsNameTheConsumer keeps source and related object of baremetal-operator's events.
func TestEventsNameTheConsumer(t *testing.T) {
	g := NewWithT(t)
	g.Expect(reportingController).To(Equal("metal3.io/baremetal-controller"))
	consumer := &corev1.ObjectReference{Kind: "Metal3Machine", Namespace: "lab", Name: "m"}
	for _, ref := range []*corev1.ObjectReference{nil, consumer} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.ConsumerRef = ref })
			w.untilState(metal3.StateAvailable, time.Minute)
			w.stop()
			synctest.Wait()
			g.Expect(w.events.related).NotTo(BeEmpty())
			for _, related := range w.events.related {
				if ref == nil {
					g.Expect(related).To(BeNil())
				} else {
					g.Expect(related).To(Equal(consumer))
				}
			}
		})
	}
}

// TestALastingLockIsShown: somebody holds a node in Ironic for long.
func TestALastingLockIsShown(t *testing.T) {
	g := NewWithT(t)
	o := &policy.Observed{Now: noon, Host: labHost(metal3.StateAvailable)}
	locked := &ironic.Error{Kind: ironic.Busy, Text: "Node node-a is locked by host c2"}
	p := &pass{Work: execute.Work{Known: *o}}
	wait := p.busy(policy.LookUp{}, locked)
	g.Expect(wait.Message()).NotTo(ContainSubstring("c2"), "a moment is nobody's business")
	p.Known.Now = p.Known.Now.Add(busyShown)
	wait = p.busy(policy.LookUp{}, locked)
	g.Expect(wait.Message()).To(And(ContainSubstring("locked by host c2"), ContainSubstring("whoever holds the node in Ironic")))
	g.Expect(wait.After).To(Equal(policy.WaitBusy))
}
