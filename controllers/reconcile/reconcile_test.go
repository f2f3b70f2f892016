package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

type host = metal3.BareMetalHost

// bench holds one stored host and counts the writes.
type bench struct {
	client   client.Client
	statuses []string
	patches  int
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(metal3.AddToScheme(scheme)).To(Succeed())
	b := &bench{}
	b.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&host{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				b.patches++
				return c.Patch(ctx, o, p, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				raw, err := p.Data(o)
				if err != nil {
					return err
				}
				b.statuses = append(b.statuses, string(raw))
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	return b
}

func newHost(change func(*host)) *host {
	h := &host{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a", Generation: 3}}
	if change != nil {
		change(h)
	}
	return h
}

func TestOutcomes(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		err    error
		result ctrl.Result
		fails  bool
		ready  metav1.ConditionStatus
	}{
		"done":        {nil, ctrl.Result{}, false, "True"},
		"waiting":     {reconcile.WaitFor(time.Minute, "an image"), ctrl.Result{RequeueAfter: time.Minute}, false, "False"},
		"stalled":     {reconcile.Stall("BadAddress", "no address: %w", broken), ctrl.Result{}, false, "False"},
		"unavailable": {&reconcile.Unavailable{What: "Ironic", Err: broken}, ctrl.Result{RequeueAfter: reconcile.DefaultUnavailable}, false, "False"},
		"failure":     {broken, ctrl.Result{}, true, "False"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t, newHost(nil))
			r := &reconcile.Reconciler[*host]{
				Client: b.client, New: func() *host { return &host{} },
				Steps: []reconcile.Step[*host]{
					func(context.Context, *host) error { return c.err },
				},
				Summarise: func(h *host, err error) {
					status := metav1.ConditionTrue
					if err != nil {
						status = metav1.ConditionFalse
					}
					reconcile.SetCondition(h, "Ready", status, "Summarised", "")
				},
			}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(newHost(nil))})
			g.Expect(result).To(Equal(c.result))
			g.Expect(err != nil).To(Equal(c.fails))
			g.Expect(b.statuses).To(HaveLen(1), "one patch per pass")
			stored := &host{}
			g.Expect(b.client.Get(t.Context(), client.ObjectKeyFromObject(newHost(nil)), stored)).To(Succeed())
			conditions := map[string]metav1.Condition{}
			for _, c := range stored.Status.Conditions {
				conditions[c.Type] = c
			}
			g.Expect(conditions["Ready"].Status).To(Equal(c.ready))
			_, _ = r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(newHost(nil))})
			g.Expect(b.statuses).To(HaveLen(1), "a second pass changes nothing and sends nothing")
		})
	}
}

func TestLifeOfFinalizer(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, newHost(nil))
	blocked := true
	r := &reconcile.Reconciler[*host]{
		Client: b.client, New: func() *host { return &host{} }, Finalizer: "ironflow.io/test",
		Delete: func(context.Context, *host) error {
			if blocked {
				return reconcile.WaitFor(0, "the machine")
			}
			return nil
		},
	}
	key := client.ObjectKeyFromObject(newHost(nil))
	pass := func() {
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		g.Expect(err).NotTo(HaveOccurred())
	}
	pass()
	stored := &host{}
	g.Expect(b.client.Get(t.Context(), key, stored)).To(Succeed())
	g.Expect(stored.Finalizers).To(ConsistOf("ironflow.io/test"))
	g.Expect(b.client.Delete(t.Context(), stored)).To(Succeed())
	pass()
	g.Expect(b.client.Get(t.Context(), key, stored)).To(Succeed(), "still there while Delete waits")
	blocked = false
	pass()
	g.Expect(client.IgnoreNotFound(b.client.Get(t.Context(), key, stored))).To(Succeed())
	g.Expect(b.client.Get(t.Context(), key, stored)).NotTo(Succeed())
	pass()
}

// TestAShutGate: what must not be touched is not, whatever is to be done to it.
func TestAShutGate(t *testing.T) {
	gone := metav1.Now()
	for name, h := range map[string]*host{
		"new":           newHost(nil),
		"being deleted": newHost(func(h *host) { h.DeletionTimestamp, h.Finalizers = &gone, []string{"ironflow.io/test"} }),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := newBench(t, h)
			touched := func(context.Context, *host) error { panic("touched") }
			r := &reconcile.Reconciler[*host]{
				Client: b.client, New: func() *host { return &host{} }, Finalizer: "ironflow.io/test",
				Gate:  func(context.Context, *host) error { return reconcile.WaitFor(time.Minute, "somebody") },
				Steps: []reconcile.Step[*host]{touched}, Delete: touched,
			}
			result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(h)})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(result.RequeueAfter).To(Equal(time.Minute))
			g.Expect(b.patches + len(b.statuses)).To(BeZero())
		})
	}
}

func TestWhoKeepsOffAHost(t *testing.T) {
	for name, c := range map[string]struct {
		annotations map[string]string
		want        string
	}{
		"nobody":            {nil, ""},
		"something else":    {map[string]string{names.Detached: ""}, ""},
		"paused":            {map[string]string{names.Paused: ""}, names.Paused},
		"paused for a word": {map[string]string{names.Paused: "no"}, names.Paused},
		"on hold":           {map[string]string{names.Hold: ""}, names.Hold},
		"both":              {map[string]string{names.Hold: "", names.Paused: ""}, names.Paused},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(func(h *host) { h.Annotations = c.annotations })
			g.Expect(reconcile.KeptOff(h)).To(Equal(c.want))
			err := reconcile.HandsOff(h)
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError("waiting for somebody to remove the annotation " + c.want + " of host lab/a"))
		})
	}
}

func TestSaverWholeSendsRequiredMembers(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, newHost(nil))
	h := &host{}
	g.Expect(b.client.Get(t.Context(), client.ObjectKeyFromObject(newHost(nil)), h)).To(Succeed())
	saver := reconcile.NewSaver(b.client, h)
	saver.Whole = true
	h.Status.OperationalStatus = metal3.OperationalStatusOK
	g.Expect(saver.Status(t.Context(), h)).To(BeTrue())
	for _, member := range []string{"operationalStatus", "errorMessage", "poweredOn", "errorCount", "provisioning", "resourceVersion"} {
		g.Expect(b.statuses[0]).To(ContainSubstring(`"` + member + `"`))
	}
	g.Expect(saver.Status(t.Context(), h)).To(BeFalse(), "nothing new, nothing sent")
	h.Status.ErrorCount = 2
	g.Expect(saver.Status(t.Context(), h)).To(BeTrue())
	g.Expect(b.statuses[1]).NotTo(ContainSubstring("errorMessage"), "the second patch is a difference")
}

func TestStaleCopyIsRefused(t *testing.T) {
	g := NewWithT(t)
	b := newBench(t, newHost(nil))
	key := client.ObjectKeyFromObject(newHost(nil))
	stale, fresh := &host{}, &host{}
	g.Expect(b.client.Get(t.Context(), key, stale)).To(Succeed())
	g.Expect(b.client.Get(t.Context(), key, fresh)).To(Succeed())
	staleSaver, freshSaver := reconcile.NewSaver(b.client, stale), reconcile.NewSaver(b.client, fresh)
	fresh.Status.PoweredOn = true
	g.Expect(freshSaver.Status(t.Context(), fresh)).To(BeTrue())
	stale.Status.ErrorCount = 1
	_, err := staleSaver.Status(t.Context(), stale)
	g.Expect(reconcile.IsConflict(errors.Unwrap(err))).To(BeTrue(), "%v", err)
	fresh.Status.ErrorCount = 5
	g.Expect(freshSaver.Metadata(t.Context(), fresh, func(h *host) { h.Annotations = map[string]string{"a": "b"} })).To(Succeed())
	g.Expect(fresh.Status.ErrorCount).To(Equal(5), "metadata patch keeps the status in memory")
	g.Expect(freshSaver.Status(t.Context(), fresh)).To(BeTrue(), "and the saver knows the new version")
}

func TestCut(t *testing.T) {
	g := NewWithT(t)
	g.Expect(reconcile.Cut("short", 10)).To(Equal("short"))
	g.Expect(reconcile.Cut(strings.Repeat("ä", 10), 12)).To(Equal("ääää..."))
}

// TestStatusOfAnyKindIsStored goes from each of some statuses to each other, and
// reads back what the API server has made of the patch.
func TestStatusOfAnyKindIsStored(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	hardware := func(ram int) *metal3.HardwareDetails {
		return &metal3.HardwareDetails{RAMMebibytes: ram, NIC: []metal3.NIC{{Name: "eth0", MAC: "52:54:00:00:00:01"}}, Hostname: "a"}
	}
	statuses := map[string]metal3.BareMetalHostStatus{
		"empty":    {},
		"error":    {ErrorType: metal3.InspectionError, ErrorMessage: "no answer", ErrorCount: 2, OperationalStatus: metal3.OperationalStatusError},
		"hardware": {HardwareDetails: hardware(4096), LastUpdated: &now, PoweredOn: true},
		"more":     {HardwareDetails: hardware(8192), LastUpdated: &now},
		"image": {Provisioning: metal3.ProvisionStatus{
			State: metal3.StateProvisioned, ID: "5", Image: metal3.Image{URL: "http://images.test/os", Checksum: "12"}, BootMode: metal3.UEFI,
			RootDeviceHints: &metal3.RootDeviceHints{DeviceName: "/dev/sda"},
		}},
		"conditions": {Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Done", LastTransitionTime: now}}},
	}
	for from, before := range statuses {
		for to, after := range statuses {
			t.Run(from+" to "+to, func(t *testing.T) {
				g := NewWithT(t)
				stored := newHost(func(h *host) { h.Status = before })
				b := newBench(t, stored)
				h := &host{}
				g.Expect(b.client.Get(t.Context(), client.ObjectKeyFromObject(stored), h)).To(Succeed())
				saver := reconcile.NewSaver(b.client, h)
				h.Status = *after.DeepCopy()
				written, err := saver.Status(t.Context(), h)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(written).To(Equal(from != to))
				g.Expect(b.client.Get(t.Context(), client.ObjectKeyFromObject(stored), stored)).To(Succeed())
				g.Expect(equality.Semantic.DeepEqual(stored.Status, after)).To(BeTrue(), "%+v", stored.Status)
			})
		}
	}
}

// TestLessThanASecondIsNoDifference sends nothing for a time that is written as before.
func TestLessThanASecondIsNoDifference(t *testing.T) {
	g := NewWithT(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := newBench(t, newHost(nil))
	h := &host{}
	g.Expect(b.client.Get(t.Context(), client.ObjectKeyFromObject(newHost(nil)), h)).To(Succeed())
	h.Status.LastUpdated = &metav1.Time{Time: at}
	saver := reconcile.NewSaver(b.client, h)
	h.Status.LastUpdated = &metav1.Time{Time: at.Add(time.Millisecond)}
	g.Expect(saver.Status(t.Context(), h)).To(BeFalse())
	g.Expect(b.statuses).To(BeEmpty())
}
