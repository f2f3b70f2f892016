package claim

import (
	"context"
	"errors"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/names"
)

// world is a site with one admitted team, an available host, and a claim.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	rec  *Reconciler
	// before is called before each write; an error refuses it. after refuses the
	// answer of a write that was done.
	before, after func() error
	// refuseCreate refuses what is made; nil for nothing.
	refuseCreate func(client.Object) error
}

var (
	hostKey  = client.ObjectKey{Namespace: "hosts", Name: "host-1"}
	claimKey = client.ObjectKey{Namespace: "team-a", Name: "mine"}
)

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	fine := func() error { return nil }
	w := &world{WithT: NewWithT(t), t: t, before: fine, after: fine}
	scheme := runtime.NewScheme()
	w.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	w.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	admission := policy("hosts", &metal3.HostClaimNamespaces{Names: []string{"team-a"}})
	base := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}, &admission,
		freeHost("host-1"), &metal3.HardwareData{ObjectMeta: metav1.ObjectMeta{Namespace: "hosts", Name: "host-1"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "cloud"}, Data: map[string][]byte{"value": []byte("#cloud-config")}},
	}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).
		WithStatusSubresource(&metal3.HostClaim{}, &metal3.BareMetalHost{}).
		WithIndex(&metal3.BareMetalHost{}, consumerIndex, indexConsumer).
		WithObjects(append(base, objects...)...).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
				return w.write(func() error { return c.Patch(ctx, o, p, opts...) })
			},
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				return w.write(func() error {
					if w.refuseCreate != nil {
						if err := w.refuseCreate(o); err != nil {
							return err
						}
					}
					return c.Create(ctx, o, opts...)
				})
			},
			Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
				return w.write(func() error { return c.Delete(ctx, o, opts...) })
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				return w.write(func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
			},
		}).Build()
	w.rec = newReconciler(w.kube, w.kube)
	return w
}

func (w *world) write(do func() error) error {
	if err := w.before(); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return w.after()
}

// create makes the claim; change edits it first.
func (w *world) create(change func(*metal3.HostClaim)) {
	w.t.Helper()
	c := &metal3.HostClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: claimKey.Namespace, Name: claimKey.Name, UID: "uid-claim"},
		Spec:       metal3.HostClaimSpec{PoweredOn: true},
	}
	if change != nil {
		change(c)
	}
	w.Expect(w.kube.Create(w.t.Context(), c)).To(Succeed())
}

// settle runs passes until nothing is written any more.
func (w *world) settle() {
	w.t.Helper()
	for range 4 {
		_, err := w.rec.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: claimKey})
		w.Expect(err).NotTo(HaveOccurred())
	}
}

func (w *world) claim() *metal3.HostClaim {
	c := &metal3.HostClaim{}
	err := w.kube.Get(w.t.Context(), claimKey, c)
	if err != nil && client.IgnoreNotFound(err) == nil {
		return nil
	}
	w.Expect(err).NotTo(HaveOccurred())
	return c
}

func (w *world) host() *metal3.BareMetalHost {
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), hostKey, h)).To(Succeed())
	return h
}

// edit changes the claim as a user would.
func (w *world) edit(change func(*metal3.HostClaim)) {
	c := w.claim()
	change(c)
	w.Expect(w.kube.Update(w.t.Context(), c)).To(Succeed())
}

// state writes the host's status, as the host controller would.
func (w *world) state(state metal3.ProvisioningState, change func(*metal3.BareMetalHost)) {
	h := w.host()
	h.Status.Provisioning.State = state
	if change != nil {
		change(h)
	}
	w.Expect(w.kube.Status().Update(w.t.Context(), h)).To(Succeed())
}

func (w *world) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(w.claim().Status.Conditions, kind)
}

func (w *world) secrets() []string {
	var list corev1.SecretList
	w.Expect(w.kube.List(w.t.Context(), &list, client.InNamespace("hosts"))).To(Succeed())
	var all []string
	for _, s := range list.Items {
		all = append(all, s.Name)
	}
	return all
}

// wish asks for an image with user data.
func wish(c *metal3.HostClaim) {
	c.Spec.Image = &metal3.Image{URL: "https://images.test/os.raw", Checksum: "abc"}
	c.Spec.UserData = &corev1.SecretReference{Name: "cloud"}
}

func TestFromClaimToHostAndBack(t *testing.T) {
	w := newWorld(t)
	w.create(wish)
	w.settle()
	h := w.host()
	w.Expect(h.Spec.ConsumerRef).To(Equal(consumerRef(w.claim())))
	w.Expect(h.Spec.Online).To(BeTrue())
	w.Expect(h.Spec.Image.URL).To(Equal("https://images.test/os.raw"))
	w.Expect(h.Spec.UserData.Namespace).To(Equal("hosts"))
	handed := &corev1.Secret{}
	w.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: "hosts", Name: h.Spec.UserData.Name}, handed)).To(Succeed())
	w.Expect(handed.Data).To(HaveKeyWithValue("value", []byte("#cloud-config")))
	w.Expect(handed.OwnerReferences).To(ContainElement(HaveField("Name", "host-1")))
	w.Expect(w.claim().Status.BareMetalHost).To(Equal(&metal3.ObjectReference{Namespace: "hosts", Name: "host-1"}))
	w.Expect(w.claim().Status.HardwareData).To(Equal(&metal3.ObjectReference{Namespace: "hosts", Name: "host-1"}))
	w.Expect(w.condition(metal3.AssociatedCondition).Status).To(BeEquivalentTo("True"))
	w.Expect(w.condition(metal3.SynchronizedCondition).Reason).To(Equal(metal3.ConfigurationSyncedReason))
	w.Expect(w.condition(metal3.ReadyCondition)).To(And(HaveField("Status", BeEquivalentTo("False")), HaveField("Reason", metal3.NotProvisionedReason)))

	w.state(metal3.StateProvisioned, func(h *metal3.BareMetalHost) {
		h.Status.PoweredOn = true
		h.Status.Provisioning.Image = *h.Spec.Image
		h.Status.Conditions = []metav1.Condition{{Type: metal3.ProvisionedCondition, Status: "True", Reason: "Provisioned"}}
	})
	w.settle()
	w.Expect(w.condition(metal3.ReadyCondition)).To(And(HaveField("Status", BeEquivalentTo("True")), HaveField("Reason", metal3.ProvisionedReason)))
	w.Expect(w.claim().Status.PoweredOn).To(BeTrue())

	// A change of the claim, and of its Secret, reaches the host.
	w.edit(func(c *metal3.HostClaim) { c.Spec.PoweredOn = false })
	source := &corev1.Secret{}
	w.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "cloud"}, source)).To(Succeed())
	source.Data["value"] = []byte("#changed")
	w.Expect(w.kube.Update(t.Context(), source)).To(Succeed())
	w.settle()
	w.Expect(w.host().Spec.Online).To(BeFalse())
	w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(handed), handed)).To(Succeed())
	w.Expect(handed.Data).To(HaveKeyWithValue("value", []byte("#changed")))

	// The claim goes when the host is clean, not before.
	w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
	w.settle()
	w.Expect(w.host().Spec.Image).To(BeNil())
	w.Expect(w.host().Spec.UserData).To(BeNil())
	w.Expect(w.host().Spec.ConsumerRef).NotTo(BeNil())
	w.Expect(w.condition(metal3.AssociatedCondition).Reason).To(Equal(metal3.HostClaimDeletingReason))
	w.state(metal3.StateDeprovisioning, func(h *metal3.BareMetalHost) { h.Status.ErrorMessage = "no power" })
	w.settle()
	w.Expect(w.condition(metal3.AssociatedCondition)).To(And(
		HaveField("Reason", metal3.HostClaimDeletionFailedReason), HaveField("Message", ContainSubstring("no power"))))
	w.state(metal3.StateAvailable, func(h *metal3.BareMetalHost) {
		h.Status.ErrorMessage, h.Status.Provisioning.Image = "", metal3.Image{}
	})
	w.settle()
	w.Expect(w.claim()).To(BeNil())
	w.Expect(w.host().Spec.ConsumerRef).To(BeNil())
	w.Expect(w.secrets()).To(BeEmpty())
}

func TestWhyThereIsNoHost(t *testing.T) {
	for name, c := range map[string]struct {
		given  func(*world)
		reason string
		says   string
	}{
		"no policy": {
			func(w *world) {
				p := policy("hosts", nil)
				w.Expect(w.kube.Delete(w.t.Context(), &p)).To(Succeed())
			}, metal3.NoBareMetalHostReason, "no HostDeployPolicy admits claims of namespace team-a",
		},
		"no free host": {
			func(w *world) { w.state(metal3.StateInspecting, nil) }, metal3.NoBareMetalHostReason, "no available host matches",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.given(w)
			w.create(nil)
			w.settle()
			w.Expect(w.condition(metal3.AssociatedCondition)).To(And(HaveField("Reason", c.reason), HaveField("Message", ContainSubstring(c.says))))
			w.Expect(w.condition(metal3.ReadyCondition).Reason).To(Equal(c.reason))
			w.Expect(w.host().Spec.ConsumerRef).To(BeNil())
		})
	}
}

func TestWhyNothingIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		claim  func(*metal3.HostClaim)
		host   func(*metal3.BareMetalHost)
		reason string
		says   string
	}{
		"no Secret": {
			func(c *metal3.HostClaim) { c.Spec.MetaData = &corev1.SecretReference{Name: "absent"} }, nil,
			metal3.BadMetaDataSecretReason, "Secret team-a/absent does not exist",
		},
		"a Secret of somebody else": {
			func(c *metal3.HostClaim) {
				c.Spec.NetworkData = &corev1.SecretReference{Name: "bmc", Namespace: "hosts"}
			}, nil,
			metal3.BadNetworkDataSecretReason, "must be in the claim's namespace",
		},
		"a paused host": {
			nil, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Paused: ""} },
			metal3.HostPausedReason, names.Paused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create(nil)
			w.settle()
			if c.host != nil {
				h := w.host()
				c.host(h)
				w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
			}
			w.edit(func(claim *metal3.HostClaim) {
				claim.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "install_coreos"}
				if c.claim != nil {
					c.claim(claim)
				}
			})
			w.settle()
			w.Expect(w.condition(metal3.SynchronizedCondition)).To(And(HaveField("Reason", c.reason), HaveField("Message", ContainSubstring(c.says))))
			w.Expect(w.condition(metal3.ReadyCondition).Reason).To(Equal(c.reason))
			w.Expect(w.host().Spec.CustomDeploy).To(BeNil(), "all or nothing")
		})
	}
}

func TestAHostOfOnesOwnNamespaceReadsTheSecretsThemselves(t *testing.T) {
	own := policy("team-a", &metal3.HostClaimNamespaces{})
	near := freeHost("near", func(h *metal3.BareMetalHost) { h.Namespace = "team-a" })
	w := newWorld(t, &own, near)
	w.create(func(c *metal3.HostClaim) { wish(c); c.Spec.HostSelector.InNamespace = "team-a" })
	w.settle()
	w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(near), near)).To(Succeed())
	w.Expect(near.Spec.UserData).To(Equal(&corev1.SecretReference{Name: "cloud", Namespace: "team-a"}))
}

func TestAHostThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.create(nil)
	w.settle()
	w.Expect(w.kube.Create(t.Context(), freeHost("host-2"))).To(Succeed())
	w.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
	w.settle()
	w.Expect(w.condition(metal3.AssociatedCondition).Reason).To(Equal(metal3.MissingBareMetalHostReason))
	w.Expect(w.claim().Status.BareMetalHost.Name).To(Equal("host-1"), "what ran there must not start anew elsewhere unasked")
	w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
	w.settle()
	w.Expect(w.claim()).To(BeNil())
}

func TestAHostThatSomebodyTook(t *testing.T) {
	w := newWorld(t)
	w.create(wish)
	w.settle()
	h := w.host()
	h.Spec.ConsumerRef = &corev1.ObjectReference{Kind: "Machine", Namespace: "x", Name: "y"}
	w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
	w.settle()
	w.Expect(w.condition(metal3.AssociatedCondition)).To(And(HaveField("Reason", reasonHostTaken), HaveField("Message", ContainSubstring("Machine x/y"))))
	w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
	w.settle()
	w.Expect(w.claim()).To(BeNil())
	w.Expect(w.host().Spec.Image).NotTo(BeNil(), "it is not ours to clean any more")
}

func TestForcedRelease(t *testing.T) {
	w := newWorld(t)
	w.create(wish)
	w.settle()
	w.state(metal3.StateProvisioned, nil)
	h := w.host()
	h.Annotations = map[string]string{names.Detached: ""}
	w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
	w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
	w.settle()
	w.Expect(w.condition(metal3.AssociatedCondition).Message).To(ContainSubstring(names.ForceDelete))
	w.edit(func(c *metal3.HostClaim) { c.Annotations = map[string]string{names.ForceDelete: "mine"} })
	w.settle()
	w.Expect(w.claim()).To(BeNil())
	w.Expect(w.host().Spec.ConsumerRef).To(BeNil())
	w.Expect(w.host().Spec.Image).NotTo(BeNil(), "released as it is")
}

// TestAHostWhoseStatusIsLostIsNotReleasedAsClean: it comes from a backup without its status while its claim is being deleted. What
// its machine holds is known once its node was looked up; until then it is nobody else's.
func TestAHostWhoseStatusIsLostIsNotReleasedAsClean(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateNone, metal3.StateRegistering} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			w.create(wish)
			w.settle()
			w.state(metal3.StateProvisioned, nil)
			w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
			w.state(state, func(h *metal3.BareMetalHost) { h.Status.Provisioning = metal3.ProvisionStatus{State: state} })
			w.settle()
			w.Expect(w.host().Spec.Image).To(BeNil())
			w.Expect(w.host().Spec.ConsumerRef).NotTo(BeNil(), "what the claim has put on the machine may be there still")
			w.state(metal3.StateAvailable, func(h *metal3.BareMetalHost) {
				h.Status.Provisioning.ID, h.Status.ErrorType, h.Status.ErrorMessage = "node-1", metal3.RegistrationError, "something was deployed on this machine"
			})
			w.settle()
			w.Expect(w.host().Spec.ConsumerRef).NotTo(BeNil())
			w.Expect(w.condition(metal3.AssociatedCondition).Message).To(ContainSubstring("something was deployed"))
			w.state(metal3.StateAvailable, func(h *metal3.BareMetalHost) { h.Status.ErrorType, h.Status.ErrorMessage = "", "" })
			w.settle()
			w.Expect(w.claim()).To(BeNil())
			w.Expect(w.host().Spec.ConsumerRef).To(BeNil())
		})
	}
}

// TestKilledAtEveryWrite ends the controller at each of its writes in turn,
// before it is done and before its answer: always one host, and it comes back.
func TestKilledAtEveryWrite(t *testing.T) {
	dead := errors.New("killed")
	for _, done := range []bool{false, true} {
		for n, killed := 1, true; killed; n++ {
			w := newWorld(t, freeHost("host-2"))
			w.create(wish)
			seen := 0
			die := func() error {
				if seen++; seen == n {
					return dead
				}
				return nil
			}
			if w.before = die; done {
				w.before, w.after = func() error { return nil }, die
			}
			w.again()
			bound := w.bound()
			w.Expect(bound).To(HaveLen(1), "killed at write %d", n)
			w.Expect(bound[0].Spec.Image).NotTo(BeNil(), "killed at write %d", n)
			w.deleteQuietly()
			w.again()
			w.Expect(w.claim()).To(BeNil(), "killed at write %d", n)
			w.Expect(w.bound()).To(BeEmpty(), "killed at write %d", n)
			w.Expect(w.secrets()).To(BeEmpty(), "killed at write %d", n)
			killed = seen >= n
		}
	}
}

// deleteQuietly deletes the claim without that counting as the controller's write.
func (w *world) deleteQuietly() {
	before, after := w.before, w.after
	fine := func() error { return nil }
	w.before, w.after = fine, fine
	w.Expect(w.kube.Delete(w.t.Context(), w.claim())).To(Succeed())
	w.before, w.after = before, after
}

// again runs passes of new controllers, whatever they answer.
func (w *world) again() {
	for range 8 {
		w.rec = newReconciler(w.kube, w.kube)
		_, _ = w.rec.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: claimKey})
	}
}

// bound lists the hosts that have a consumer.
func (w *world) bound() []metal3.BareMetalHost {
	var list metal3.BareMetalHostList
	w.Expect(w.kube.List(w.t.Context(), &list)).To(Succeed())
	var bound []metal3.BareMetalHost
	for _, h := range list.Items {
		if h.Spec.ConsumerRef != nil {
			bound = append(bound, h)
		}
	}
	return bound
}

// TestNobodyWritesToAHostThatIsKeptOff: whatever happens to its claim, until the annotation goes.
func TestNobodyWritesToAHostThatIsKeptOff(t *testing.T) {
	remove := func(w *world) { w.Expect(w.kube.Delete(w.t.Context(), w.claim())).To(Succeed()) }
	for _, annotation := range []string{names.Paused, names.Hold} {
		for name, change := range map[string]func(w *world){
			"another wish":         func(w *world) { w.edit(func(c *metal3.HostClaim) { c.Spec.PoweredOn = false }) },
			"the claim is deleted": remove,
			"the claim is forced to": func(w *world) {
				w.edit(func(c *metal3.HostClaim) { c.Annotations = map[string]string{names.ForceDelete: c.Name} })
				remove(w)
			},
			"both are deleted": func(w *world) { remove(w); w.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed()) },
		} {
			t.Run(annotation+", "+name, func(t *testing.T) {
				w := newWorld(t)
				w.create(wish)
				w.settle()
				h := w.host()
				h.Annotations, h.Finalizers = map[string]string{annotation: ""}, []string{names.HostFinalizer}
				w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
				change(w)
				before, secrets := w.host(), w.secrets()
				w.settle()
				w.Expect(w.host()).To(Equal(before))
				w.Expect(w.secrets()).To(Equal(secrets))
				before.Annotations = nil
				w.Expect(w.kube.Update(t.Context(), before)).To(Succeed())
				w.settle()
				w.Expect(w.host().Spec).NotTo(Equal(before.Spec), "then it goes on")
			})
		}
	}
}
