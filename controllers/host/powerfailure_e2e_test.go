//go:build e2e

package host_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// TestPowerFailureOnTheRealIronic gives a host at rest a wrong password: Ironic loses
// the machine and puts the node into maintenance. The right one reaches the node there,
// and Ironic takes it out by itself.
func TestPowerFailureOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startRealOn(t, ironictest.HallOptions{Ironic: lab.IronicOptions{Overrides: map[string]map[string]string{
		"conductor": {"sync_power_state_interval": "2", "power_state_sync_max_retries": "1", "power_failure_recovery_interval": "3"},
		"redfish":   {"auth_type": "basic", "connection_attempts": "1"},
	}}}, func(h *ironictest.Hall) *ironictest.Machine { return h.Add(t) })
	r.create(t)
	r.until(t, "available and on", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
	})
	manageable := func(reason string) func(*metal3.BareMetalHost) bool {
		return func(h *metal3.BareMetalHost) bool {
			c := meta.FindStatusCondition(h.Status.Conditions, metal3.ManageableCondition)
			return c != nil && c.Reason == reason
		}
	}
	_, password := r.machine.Credentials()
	r.setPassword(t, "wrong")
	r.until(t, "without power", manageable(metal3.PowerFailureReason))
	n := r.node(t)
	g.Expect(n.Maintenance).To(BeTrue())
	g.Expect(n.Fault).To(Equal("power failure"))
	g.Expect(n.PowerState).To(Equal(ironic.PowerState("")))

	r.setPassword(t, password)
	r.until(t, "manageable", manageable(metal3.ManageableReason))
	h := r.host(t)
	g.Expect(h.Status.GoodCredentials).To(Equal(h.Status.TriedCredentials))
	g.Expect(h.Status.ErrorType).To(BeEmpty())
	n = r.node(t)
	g.Expect(n.Maintenance).To(BeFalse())
	g.Expect(n.PowerState).To(Equal(ironic.PowerOn))
	g.Expect(n.Fault).To(BeEmpty())
}

// setPassword changes the password in the BMC's Secret.
func (r *realWorld) setPassword(t *testing.T, password string) {
	t.Helper()
	secret := &corev1.Secret{}
	g := NewWithT(t)
	g.Expect(r.kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "real"}, secret)).To(Succeed())
	before := secret.DeepCopy()
	secret.Data["password"] = []byte(password)
	g.Expect(r.kube.Patch(t.Context(), secret, client.MergeFrom(before))).To(Succeed())
}
