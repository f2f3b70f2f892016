package bmc

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/controllers/host/policy"
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

// TestABMCThatIsDeleted is made again, with all that is known of it.
func TestABMCThatIsDeleted(t *testing.T) {
	w := newWorld(t, simulator.System{})
	w.registering()
	first := w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	w.Expect(w.Kube.Delete(t.Context(), &first)).To(Succeed())
	w.Eventually(func() types.UID { return w.BMC().UID }).WithTimeout(10 * time.Second).ShouldNot(Or(BeEmpty(), Equal(first.UID)))
	w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
}

// TestABMCOfAFormerHost: what was known of it is not said of another host of that name,
// whose BMC it becomes.
func TestABMCOfAFormerHost(t *testing.T) {
	w := newWorld(t, simulator.System{})
	h := &metal3.BareMetalHost{}
	w.Expect(w.Kube.Get(t.Context(), key, h)).To(Succeed())
	o, err := objectsOf(t.Context(), w.Kube, nil, h)
	w.Expect(err).NotTo(HaveOccurred())
	b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, OwnerReferences: []metav1.OwnerReference{{
		APIVersion: metal3.GroupVersion.String(), Kind: "BareMetalHost", Name: key.Name, UID: "former", Controller: new(true),
	}}}}
	w.Create(b)
	b.Status.Report = &v1alpha1.BMCReport{Vendor: "Former", Time: metav1.Now()}
	b.Status.Probed = &v1alpha1.Probed{Address: w.URL + "/redfish/v1/Systems/1", Time: metav1.Now()}
	b.Status.Preflight = &v1alpha1.PreflightStatus{Wishes: o.digest(nil)}
	w.Expect(w.Kube.Status().Update(t.Context(), b)).To(Succeed())
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true}), "nobody has judged for this host")
	w.registering()
	w.Until(v1alpha1.PreflightPassed, metav1.ConditionTrue, ReasonPassed)
	now := w.Until(v1alpha1.Ready, metav1.ConditionTrue, ReasonReady)
	w.Expect(now.UID).To(Equal(b.UID))
	w.Expect(now.Status.Report.Vendor).NotTo(Equal("Former"))
	w.Expect(now.OwnerReferences).To(ConsistOf(HaveField("UID", h.UID)))
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
}

// TestAVerdictThatCannotBeRead is an error: the host goes on with no wish that nobody has judged.
func TestAVerdictThatCannotBeRead(t *testing.T) {
	w := newWorld(t, simulator.System{})
	whole, is := w.Kube.(kclient.WithWatch)
	w.Expect(is).To(BeTrue())
	for _, kind := range []kclient.Object{&metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}, &metal3.PreprovisioningImage{}, &v1alpha1.BMC{}} {
		lacking := interceptor.NewClient(whole, interceptor.Funcs{Get: func(ctx context.Context, c kclient.WithWatch, k kclient.ObjectKey, o kclient.Object, opts ...kclient.GetOption) error {
			if reflect.TypeOf(o) == reflect.TypeOf(kind) {
				return errors.New("the API is away")
			}
			return c.Get(ctx, k, o, opts...)
		}})
		h := &metal3.BareMetalHost{}
		w.Expect(w.Kube.Get(t.Context(), key, h)).To(Succeed())
		_, err := Verdicts{Client: lacking}.Preflight(t.Context(), h)
		w.Expect(err).To(MatchError(ContainSubstring("the API is away")), "%T", kind)
		h.Spec.BMC.Address = "nonsense://192.0.2.1"
		p, err := Verdicts{Client: w.Kube}.Preflight(t.Context(), h)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(p).To(Equal(policy.Preflight{}), "the host shows an error of its own")
	}
}

// TestAWordThatIsTakenBack counts no more at once, and neither does the one before it.
func TestAWordThatIsTakenBack(t *testing.T) {
	w := newWorld(t, simulator.System{})
	h := &metal3.BareMetalHost{}
	w.Expect(w.Kube.Get(t.Context(), key, h)).To(Succeed())
	o, err := objectsOf(t.Context(), w.Kube, nil, h)
	w.Expect(err).NotTo(HaveOccurred())
	b := &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	w.Create(b)
	b.Status.Preflight = &v1alpha1.PreflightStatus{Wishes: o.digest(nil), Overridden: true, Mismatches: []v1alpha1.Mismatch{{Reason: "Bad", Message: "bad"}}}
	w.Expect(w.Kube.Status().Update(t.Context(), b)).To(Succeed())
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true}), "nobody has judged without it")
	w.Host(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.PreflightOverride: "true"} })
	w.Expect(w.verdict()).To(Equal(policy.Preflight{On: true, Judged: true}))
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
