//go:build e2e

package bmcevents_test

import (
	"fmt"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/lab/emulator"
)

// TestAnEventSavesTheWait: a machine at rest is switched off behind Ironic's back, once
// while its BMC is asked only, and once while it pushes events. The first time Ironic has
// to notice before anything is done; the second time Ironic is asked while it still takes
// the machine for running, which nothing but the event can have caused.
func TestAnEventSavesTheWait(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t)
	w.start(t, nil)
	w.create(t)
	w.until(t, "available and on", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
	})
	g.Expect(w.condition(t, v1alpha1.Subscribed)).To(BeZero(), "off: nothing is said, and nothing subscribed to")
	g.Expect(w.hall.Lab.Redfish.Simulator.Subscriptions()).To(BeEmpty())
	before := w.cutOff(t)
	g.Expect(before.power).To(Equal("power off"), "Ironic had noticed")
	t.Logf("without events: %s", before)

	w.start(t, w.listen(t))
	g.Eventually(func() metav1.Condition { return w.condition(t, v1alpha1.Subscribed) }, patience, glance).
		Should(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", "EventsArrive")))
	t.Logf("subscribed: %s", w.condition(t, v1alpha1.Subscribed).Message)
	after := w.cutOff(t)
	g.Expect(after.power).To(Equal("power on"), "Ironic had not")
	t.Logf("with events: %s; without: %s", after, before)
	g.Expect(w.hall.Lab.Redfish.Simulator.Subscriptions()).To(HaveLen(1))
	g.Expect(w.kube.Delete(t.Context(), w.host(t))).To(Succeed())
	g.Eventually(w.hall.Lab.Redfish.Simulator.Subscriptions, patience, glance).Should(BeEmpty(), "it goes with its host")
}

// waits are what somebody had to wait for.
type waits struct {
	asked, on, booted time.Duration
	// power is what Ironic took for the machine's when it was first asked for a change.
	power string
}

// String is for a person's eye.
func (w waits) String() string {
	return fmt.Sprintf("Ironic asked after %.1f s, machine on after %.1f s, booted after %.1f s", w.asked.Seconds(), w.on.Seconds(), w.booted.Seconds())
}

// cutOff switches the machine off as a person at its button does, and waits until it
// runs again.
func (w *world) cutOff(t *testing.T) waits {
	t.Helper()
	g := NewWithT(t)
	w.forget()
	begin := time.Now()
	g.Expect(w.hall.Lab.Redfish.SetPower(t.Context(), w.machine.System, emulator.PowerOff)).To(Succeed())
	var system struct {
		PowerState   string
		BootProgress struct{ LastState string }
	}
	w.redfish(t, &system)
	g.Expect(system.PowerState).To(Equal("Off"))
	g.Eventually(func() string { w.redfish(t, &system); return system.PowerState }, patience, glance).Should(Equal("On"))
	took := waits{on: time.Since(begin)}
	g.Eventually(func() string { w.redfish(t, &system); return system.BootProgress.LastState }, patience, glance).Should(Equal("OSRunning"))
	took.booted = time.Since(begin)
	w.until(t, "at rest", func(h *metal3.BareMetalHost) bool {
		return h.Status.PoweredOn && h.Status.ErrorType == "" && h.Status.OperationalStatus == metal3.OperationalStatusOK
	})
	first := w.firstAsked()
	took.asked, took.power = first.at.Sub(begin), first.power
	return took
}
