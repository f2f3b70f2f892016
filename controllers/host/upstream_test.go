package host

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// What users, dashboards and other controllers know from the existing operator.

// newKube is a fake API for objects of hosts.
func newKube(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{metal3.AddToScheme, clientgoscheme.AddToScheme} {
		NewWithT(t).Expect(add(scheme)).To(Succeed())
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithIndex(&metal3.BareMetalHost{}, secretIndex, indexSecrets).Build()
}

// TestMarksOfASecret follows a BMC Secret that two hosts share.
func TestMarksOfASecret(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bmc", Labels: map[string]string{"rack": "7"}},
		Data:       map[string][]byte{"username": []byte("admin\n"), "password": []byte(" x ")},
	}
	kube := newKube(t, secret)
	s := secrets{client: kube, live: kube, echoes: newEchoes()}
	first := labHost(metal3.StateRegistering)
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	read := func() *corev1.Secret {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		return secret
	}
	owners := func() (list []types.UID) {
		for _, r := range read().OwnerReferences {
			g.Expect(r.Controller).To(BeNil(), "an owner, not the controller")
			list = append(list, r.UID)
		}
		return list
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		h.ResourceVersion = ""
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		b, err := s.bmc(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.Problem).To(BeEmpty())
		g.Expect([]string{b.Username, b.Password}).To(Equal([]string{"admin", "x"}), "white space around them is trimmed")
	}
	g.Expect(read().Labels).To(Equal(map[string]string{"rack": "7", names.EnvironmentLabel: names.EnvironmentValue}))
	g.Expect(read().Finalizers).To(ConsistOf(names.SecretFinalizer))
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID))
	g.Expect(s.release(t.Context(), first, "bmc")).To(Succeed())
	g.Expect(read().Finalizers).To(ConsistOf(names.SecretFinalizer), "the other host uses it")
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID), "garbage collection knows which of them are gone")
	g.Expect(kube.Delete(t.Context(), first)).To(Succeed())
	g.Expect(s.release(t.Context(), second, "bmc")).To(Succeed())
	g.Expect(read().Finalizers).To(BeEmpty(), "nobody uses it any more, whoever is still named")
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID), "so that it goes with its hosts")
}

// TestTwoHostsThatGoAtOnceFreeTheirSecret: neither waits for the other.
func TestTwoHostsThatGoAtOnceFreeTheirSecret(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bmc"},
		Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("x")},
	}
	kube := newKube(t, secret)
	s := secrets{client: kube, live: kube, echoes: newEchoes()}
	first := labHost(metal3.StateRegistering)
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	for _, h := range []*metal3.BareMetalHost{first, second} {
		h.ResourceVersion, h.Finalizers = "", []string{names.HostFinalizer}
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		_, err := s.bmc(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(kube.Delete(t.Context(), h)).To(Succeed())
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(s.release(t.Context(), h, "bmc")).To(Succeed())
	}
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(secret.Finalizers).To(BeEmpty())
}

// TestHardwareDataIsTheHosts sees that inspection results are kept with the host, and
// go with it.
func TestHardwareDataIsTheHosts(t *testing.T) {
	g := NewWithT(t)
	kube := newKube(t)
	k := objects{client: kube}
	h := labHost(metal3.StateInspecting)
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	for _, hostname := range []string{"first", "again"} {
		g.Expect(k.saveHardware(t.Context(), h, &metal3.HardwareDetails{Hostname: hostname})).To(Succeed())
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed())
		g.Expect(data.Spec.HardwareDetails.Hostname).To(Equal(hostname))
		g.Expect(data.Finalizers).To(ConsistOf(names.HardwareFinalizer))
		g.Expect(metav1.IsControlledBy(data, h)).To(BeTrue())
	}
	g.Expect(kube.Delete(t.Context(), data)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed(), "held until the host lets it go")
	g.Expect(k.releaseOwned(t.Context(), h)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).NotTo(Succeed())
}

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

// TestEventsNameTheConsumer keeps source and related object of the existing operator's events.
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
	p := &pass{o: *o}
	wait := p.busy(policy.LookUp{}, locked)
	g.Expect(wait.Message()).NotTo(ContainSubstring("c2"), "a moment is nobody's business")
	p.o.Now = p.o.Now.Add(busyShown)
	wait = p.busy(policy.LookUp{}, locked)
	g.Expect(wait.Message()).To(And(ContainSubstring("locked by host c2"), ContainSubstring("whoever holds the node in Ironic")))
	g.Expect(wait.After).To(Equal(policy.WaitBusy))
}
