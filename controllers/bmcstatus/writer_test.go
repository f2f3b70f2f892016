package bmcstatus

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/kubeapi"
)

var key = kclient.ObjectKey{Namespace: "lab", Name: "host-1"}

// world is the API with a BMC.
type world struct {
	*WithT
	t    *testing.T
	kube kclient.WithWatch
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w, scheme := &world{WithT: NewWithT(t), t: t}, runtime.NewScheme()
	w.Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	api, err := kubeapi.New(scheme, &v1alpha1.BMC{})
	w.Expect(err).NotTo(HaveOccurred())
	w.kube, err = api.Client(scheme)
	w.Expect(err).NotTo(HaveOccurred())
	w.create()
	return w
}

func (w *world) create() {
	w.Expect(w.kube.Create(w.t.Context(), &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
}

func (w *world) read() *v1alpha1.BMC {
	w.t.Helper()
	b := &v1alpha1.BMC{}
	w.Expect(w.kube.Get(w.t.Context(), key, b)).To(Succeed())
	return b
}

// pass changes a copy that was read before, as a controller does that has asked a BMC.
func (w *world) pass(before *v1alpha1.BMC, writer Writer, change func(b *v1alpha1.BMC)) error {
	after := before.DeepCopy()
	change(after)
	return writer.Save(w.t.Context(), before, after)
}

func set(kind string, status metav1.ConditionStatus, message string) func(b *v1alpha1.BMC) {
	return func(b *v1alpha1.BMC) { reconcile.SetCondition(b, kind, status, "Test", message) }
}

// messages are those of all conditions.
func messages(b *v1alpha1.BMC) map[string]string {
	all := map[string]string{}
	for _, c := range b.Status.Conditions {
		all[c.Type] = c.Message
	}
	return all
}

// TestAllWriteTheirOwn: four controllers that have read the same copy write one after the
// other; each one's part is there in the end, and Ready follows from all.
func TestAllWriteTheirOwn(t *testing.T) {
	w := newWorld(t)
	writer := Writer{Client: w.kube, Live: w.kube}
	w.Expect(w.pass(w.read(), writer, func(b *v1alpha1.BMC) {
		set(v1alpha1.InSync, metav1.ConditionTrue, "goes")(b)
		set(v1alpha1.Reachable, metav1.ConditionTrue, "old")(b)
		b.Status.Report = &v1alpha1.BMCReport{Vendor: "A"}
	})).To(Succeed())
	stale := w.read()
	since := meta.FindStatusCondition(stale.Status.Conditions, v1alpha1.Reachable).LastTransitionTime
	settled := writer
	settled.Settle = func(b *v1alpha1.BMC) {
		reason := "without"
		if meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.CredentialsCurrent) {
			reason = "with all"
		}
		set(v1alpha1.Ready, metav1.ConditionTrue, reason)(b)
	}
	w.Expect(w.pass(stale, writer, func(b *v1alpha1.BMC) {
		set(v1alpha1.Healthy, metav1.ConditionTrue, "health")(b)
		b.Status.Health = []v1alpha1.DomainHealth{{Domain: "Cooling", State: v1alpha1.HealthOK}}
	})).To(Succeed())
	w.Expect(w.pass(stale, writer, set(v1alpha1.Subscribed, metav1.ConditionTrue, "events"))).To(Succeed())
	w.Expect(w.pass(stale, writer, set(v1alpha1.CredentialsCurrent, metav1.ConditionTrue, "rotation"))).To(Succeed())
	w.Expect(w.pass(stale, settled, func(b *v1alpha1.BMC) {
		set(v1alpha1.Reachable, metav1.ConditionTrue, "new")(b)
		reconcile.DropCondition(b, v1alpha1.InSync)
		b.Status.Probed = &v1alpha1.Probed{Address: "https://192.0.2.1", Time: metav1.NewTime(time.Unix(1, 0))}
		settled.Settle(b)
	})).To(Succeed())
	b := w.read()
	w.Expect(messages(b)).To(Equal(map[string]string{
		v1alpha1.Healthy: "health", v1alpha1.Subscribed: "events", v1alpha1.CredentialsCurrent: "rotation", v1alpha1.Reachable: "new", v1alpha1.Ready: "with all",
	}))
	w.Expect(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.Reachable).LastTransitionTime).To(Equal(since))
	w.Expect(b.Status.Report.Vendor).To(Equal("A"))
	w.Expect(b.Status.Probed.Address).To(Equal("https://192.0.2.1"))
	w.Expect(b.Status.Health).To(HaveLen(1))
}

// TestNothingNew writes nothing, however old the copy is.
func TestNothingNew(t *testing.T) {
	w := newWorld(t)
	stale := w.read()
	writer := Writer{Client: w.kube, Live: w.kube}
	w.Expect(w.pass(stale, writer, set(v1alpha1.Healthy, metav1.ConditionTrue, "x"))).To(Succeed())
	version := w.read().ResourceVersion
	w.Expect(w.pass(stale, writer, func(*v1alpha1.BMC) {})).To(Succeed())
	w.Expect(w.pass(w.read(), writer, set(v1alpha1.Healthy, metav1.ConditionTrue, "x"))).To(Succeed())
	w.Expect(w.read().ResourceVersion).To(Equal(version))
}

// TestABMCThatIsGone takes what was found along, and another one of its name gets nothing of it.
func TestABMCThatIsGone(t *testing.T) {
	w := newWorld(t)
	stale, writer := w.read(), Writer{Client: w.kube, Live: w.kube}
	found := set(v1alpha1.Healthy, metav1.ConditionTrue, "x")
	w.Expect(w.kube.Delete(t.Context(), w.read())).To(Succeed())
	w.Expect(w.pass(stale, writer, found)).To(Succeed())
	w.create()
	w.Expect(w.pass(stale, writer, found)).To(Succeed())
	w.Expect(w.read().Status.Conditions).To(BeEmpty())
}

// TestOthersAreFasterEachTime: it is given up some time, and tried again a little later.
func TestOthersAreFasterEachTime(t *testing.T) {
	w := newWorld(t)
	reads := 0
	live := interceptor.NewClient(w.kube, interceptor.Funcs{Get: func(ctx context.Context, c kclient.WithWatch, k kclient.ObjectKey, o kclient.Object, opts ...kclient.GetOption) error {
		err := c.Get(ctx, k, o, opts...)
		reads++
		other := w.read()
		other.Status.Conditions = nil
		set(v1alpha1.Subscribed, metav1.ConditionTrue, time.Unix(int64(reads), 0).String())(other)
		w.Expect(w.kube.Status().Update(ctx, other)).To(Succeed())
		return err
	}})
	stale := w.read()
	w.Expect(w.pass(w.read(), Writer{Client: w.kube, Live: w.kube}, set(v1alpha1.Subscribed, metav1.ConditionTrue, "x"))).To(Succeed())
	err := w.pass(stale, Writer{Client: w.kube, Live: live}, set(v1alpha1.Healthy, metav1.ConditionTrue, "x"))
	w.Expect(reconcile.IsConflict(err)).To(BeTrue())
	w.Expect(reads).To(Equal(attempts))
	w.Expect(Outcome(time.Hour, err)).To(Equal(reconcile.RetryConflict()))
}

func TestOutcome(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Outcome(time.Hour, nil)).To(Equal(ctrl.Result{RequeueAfter: time.Hour}))
	g.Expect(Outcome(time.Hour, reconcile.Stall("X", "x"))).To(Equal(ctrl.Result{RequeueAfter: time.Hour}))
	g.Expect(Outcome(0, reconcile.Stall("X", "x"))).To(Equal(ctrl.Result{}))
	_, err := Outcome(0, errors.New("x"))
	g.Expect(err).To(MatchError("x"))
}
