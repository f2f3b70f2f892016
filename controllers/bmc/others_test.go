package bmc

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	shared "github.com/ironflow/ironflow/test/bmc/world"
)

// TestOthersWriteDuringAProbe: a report is not made twice because another controller has
// written meanwhile, what that one has found stays, and Ready follows from both.
func TestOthersWriteDuringAProbe(t *testing.T) {
	w := &world{World: shared.New(t, simulator.System{}), pool: shared.Pool()}
	var probes atomic.Int64
	w.Start(nil, func(mgr ctrl.Manager) error {
		return Setup(mgr, Options{BMCs: w.pool, Now: time.Now, Probe: func(ctx context.Context, c *client.Client, target client.Target) (*v1alpha1.BMCReport, error) {
			probes.Add(1)
			w.Eventually(func() error {
				b := w.BMC()
				reconcile.SetCondition(&b, v1alpha1.CredentialsCurrent, metav1.ConditionFalse, "Quarantined", "neither password holds")
				return w.Kube.Status().Update(ctx, &b)
			}).WithTimeout(time.Minute).Should(Succeed())
			return probe.Probe(ctx, c, probe.Options{Address: target.URL, System: target.System, Username: target.Username})
		}})
	})
	w.CreateSecret(shared.Secret, shared.User, shared.Password)
	w.CreateHost()
	w.registering()
	b := w.Until(v1alpha1.Ready, metav1.ConditionFalse, "Quarantined")
	w.Expect(b.Status.Report).NotTo(BeNil())
	w.Expect(w.Condition(v1alpha1.CredentialsCurrent).Reason).To(Equal("Quarantined"))
	w.Consistently(probes.Load).WithTimeout(300 * time.Millisecond).Should(Equal(int64(1)))
}

// TestConnectWithoutTheKindBMC: it may go before its host, and others have to take leave of
// the machine's BMC.
func TestConnectWithoutTheKindBMC(t *testing.T) {
	w := &world{World: shared.New(t, simulator.System{}), pool: shared.Pool()}
	var connect func(ctx context.Context, h *metal3.BareMetalHost) (*client.Client, error)
	w.Start(nil, func(mgr ctrl.Manager) error {
		connect = Connect(mgr, Options{BMCs: w.pool})
		return nil
	})
	w.CreateSecret(shared.Secret, shared.User, shared.Password)
	w.CreateHost()
	h := &metal3.BareMetalHost{}
	w.Expect(w.Kube.Get(t.Context(), key, h)).To(Succeed())
	c, err := connect(t.Context(), h)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(c.Verify(t.Context(), shared.Password)).To(Succeed())
}
