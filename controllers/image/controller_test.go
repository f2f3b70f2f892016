package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// shelf is a store that remembers what was put in it, or refuses with err; with
// stuck it gives nothing up.
type shelf struct {
	err   error
	stuck error
	specs []images.Spec
	// contents are the different ones, which number the addresses.
	contents []string
	removed  []string
	keys     []string
	synced   bool
}

func (s *shelf) Keys() []string { return s.keys }

func (s *shelf) MarkSynced() { s.synced = true }

func (s *shelf) Put(_ context.Context, spec images.Spec) (images.Built, error) {
	if s.err != nil {
		return images.Built{}, s.err
	}
	s.specs = append(s.specs, spec)
	content := fmt.Sprint(spec)
	if !slices.Contains(s.contents, content) {
		s.contents = append(s.contents, content)
	}
	if spec.Format == images.FormatInitrd {
		return images.Built{URL: "http://images.example/initrd", KernelURL: "http://images.example/vmlinuz", ExtraKernelParams: "a=b"}, nil
	}
	return images.Built{URL: fmt.Sprintf("http://images.example/%d.iso", 1+slices.Index(s.contents, content))}, nil
}

func (s *shelf) Remove(key string) error {
	if s.stuck != nil {
		return s.stuck
	}
	s.removed = append(s.removed, key)
	return nil
}

// world is a reconciler on a fake API server.
type world struct {
	*WithT
	t     *testing.T
	kube  client.Client
	store *shelf
	r     *Reconciler
	// base are the settings of all images.
	base ignition.HostConfig
	// hostPatched is called before a BareMetalHost is written.
	hostPatched func()
}

var key = types.NamespacedName{Namespace: "site", Name: "node-0"}

const testKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f "

func newWorld(t *testing.T, objects ...client.Object) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	w := &world{WithT: g, t: t, store: &shelf{}, hostPatched: func() {}, base: ignition.HostConfig{SSHKeys: []string{testKey + "operator"}}}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&metal3v1.PreprovisioningImage{}, &agentv1.InfraEnv{}).
		WithIndex(&corev1.Secret{}, ownedIndex, owningImages).
		WithInterceptorFuncs(interceptor.Funcs{
			Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, options ...client.PatchOption) error {
				if _, ok := o.(*metal3v1.BareMetalHost); ok {
					w.hostPatched()
				}
				return c.Patch(ctx, o, p, options...)
			},
		}).Build()
	w.r = newReconciler(w.kube, Options{
		Store: w.store, Architectures: func() []string { return []string{"x86_64"} },
		Base: func() (ignition.HostConfig, error) { return w.base, nil },
		IPA: func(string) (ignition.IPA, error) {
			return ignition.IPA{APIURLs: []string{"https://ironic.example:6385"}, Command: []string{"/usr/local/bin/ironic-python-agent"}}, nil
		},
		Agent: func(_ context.Context, env *agentv1.InfraEnv, machine string) (ignition.Agent, error) {
			return ignition.Agent{URL: "https://hub.example:8090", InfraEnvID: string(env.UID), Version: "agent:1", Token: ignition.Secret("token-of-" + env.Name + "-for-" + machine), Gate: true}, nil
		},
	})
	return w
}

func asked(change ...func(*metal3v1.PreprovisioningImage)) *metal3v1.PreprovisioningImage {
	i := plain().Image
	i.UID, i.Generation = types.UID(uuid.NewString()), 1
	for _, c := range change {
		c(i)
	}
	return i
}

func ofEdge(i *metal3v1.PreprovisioningImage) {
	i.Labels = map[string]string{names.InfraEnvLabel: "edge"}
}

func edge(change ...func(*agentv1.InfraEnv)) *agentv1.InfraEnv {
	e := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "edge", UID: types.UID(uuid.NewString())}}
	e.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"}
	e.Status.Conditions = []agentv1.Condition{{Type: agentv1.ConditionImageCreated, Status: corev1.ConditionTrue, Reason: agentv1.ReasonImageCreated}}
	for _, c := range change {
		c(e)
	}
	return e
}

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: name}, Data: map[string][]byte{key: []byte(value)}}
}

// pass reconciles once and returns what is left of the object.
func (w *world) pass() (*metal3v1.PreprovisioningImage, ctrl.Result, error) {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	i := &metal3v1.PreprovisioningImage{}
	if w.kube.Get(w.t.Context(), key, i) != nil {
		return nil, result, err
	}
	return i, result, err
}

// settled reconciles until that changes nothing any more.
func (w *world) settled() *metal3v1.PreprovisioningImage {
	w.t.Helper()
	before := ""
	for range 10 {
		i, _, err := w.pass()
		w.Expect(err).NotTo(HaveOccurred())
		if i.ResourceVersion == before {
			return i
		}
		before = i.ResourceVersion
	}
	w.t.Fatal("the object is written again and again")
	return nil
}

func is(i *metal3v1.PreprovisioningImage, kind metal3v1.ImageStatusConditionType) metav1.Condition {
	if c := meta.FindStatusCondition(i.Status.Conditions, string(kind)); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func TestThePlainImageBecomesReady(t *testing.T) {
	w := newWorld(t, asked(func(i *metal3v1.PreprovisioningImage) { i.Spec.NetworkDataName = "net" }),
		secret("net", "eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\n"))
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(i.Finalizers).To(ConsistOf(names.ImageFinalizer))
	w.Expect(is(i, metal3v1.ConditionImageReady)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", ReasonSuccess), HaveField("ObservedGeneration", BeEquivalentTo(1))))
	w.Expect(is(i, metal3v1.ConditionImageError).Status).To(Equal(metav1.ConditionFalse))
	w.Expect(i.Status).To(And(HaveField("ImageUrl", "http://images.example/1.iso"), HaveField("Format", metal3v1.ImageFormatISO), HaveField("Architecture", "x86_64")))
	net := &corev1.Secret{}
	w.Expect(w.kube.Get(t.Context(), types.NamespacedName{Namespace: "site", Name: "net"}, net)).To(Succeed())
	w.Expect(i.Status.NetworkData).To(Equal(metal3v1.SecretStatus{Name: "net", Version: net.ResourceVersion}), "hosts compare the version")
	w.Expect(w.store.specs[0].NetworkKeyfiles).To(HaveKey("eth0.nmconnection"))
	w.Expect(w.store.specs[0].Key).To(Equal("site/node-0"))
}

func TestTheWayOfALabelledImage(t *testing.T) {
	w := newWorld(t, asked(ofEdge), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`))
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(is(i, metal3v1.ConditionImageReady).Reason).To(Equal(agentv1.ReasonInfraEnvNotAvailable))

	env := edge(func(e *agentv1.InfraEnv) { e.Status.Conditions = nil })
	w.Expect(w.kube.Create(t.Context(), env)).To(Succeed())
	w.Expect(w.r.imagesOfInfraEnv(t.Context(), env)).To(ConsistOf(ctrl.Request{NamespacedName: key}))
	i, _, _ = w.pass()
	w.Expect(is(i, metal3v1.ConditionImageReady).Reason).To(Equal(agentv1.ReasonWaitingForInfraEnvImageToBeMade))

	env.Status.Conditions = edge().Status.Conditions
	w.Expect(w.kube.Status().Update(t.Context(), env)).To(Succeed())
	i, _, _ = w.pass()
	w.Expect(is(i, metal3v1.ConditionImageReady)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Reason", agentv1.ReasonInfraEnvAvailable)))
	url := i.Status.ImageUrl

	env.Status.Conditions[0].Status, env.Status.Conditions[0].Reason = corev1.ConditionFalse, agentv1.ReasonWaitingForInfraEnvImageToBeMade
	w.Expect(w.kube.Status().Update(t.Context(), env)).To(Succeed())
	i, _, _ = w.pass()
	w.Expect(i.Status.ImageUrl).To(Equal(url), "hosts keep what they have while something is waited for")
	w.Expect(is(i, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionFalse))
}

func TestStoreErrorsAreConditions(t *testing.T) {
	for name, tc := range map[string]struct {
		err     error
		reason  string
		human   metav1.ConditionStatus
		repeats bool // by the queue
		keeps   bool // the image from before
	}{
		"a spec that no image can have":  {fmt.Errorf("x: %w", images.ErrBadSpec), ReasonBuildInvalid, metav1.ConditionTrue, false, false},
		"an Ignition that is none":       {fmt.Errorf("x: %w", ignition.ErrInvalid), ReasonBuildInvalid, metav1.ConditionTrue, false, false},
		"a format that the base has not": {fmt.Errorf("x: %w", images.ErrUnsupported), ReasonConfigurationError, metav1.ConditionTrue, false, false},
		"no base any more":               {fmt.Errorf("x: %w", media.ErrNoMedium), ReasonConfigurationError, metav1.ConditionTrue, false, false},
		"a full disk":                    {errors.New("no space left on device"), ReasonBuildFailed, metav1.ConditionFalse, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, asked())
			_, _, err := w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			w.store.err = tc.err
			i, result, err := w.pass()
			w.Expect(err != nil).To(Equal(tc.repeats))
			revoked := 1
			if tc.keeps {
				revoked = 0
			}
			w.Expect(is(i, metal3v1.ConditionImageReady)).To(And(
				HaveField("Status", metav1.ConditionFalse), HaveField("Reason", tc.reason), HaveField("Message", ContainSubstring(tc.err.Error()))))
			w.Expect(is(i, metal3v1.ConditionImageError).Status).To(Equal(tc.human))
			w.Expect(i.Status.ImageUrl != "").To(Equal(tc.keeps))
			w.Expect(w.store.removed).To(HaveLen(revoked), "an address is valid exactly as long as the status has it")
			if tc.reason == ReasonConfigurationError {
				w.Expect(result.RequeueAfter).To(Equal(lookAgain), "a base image that is added tells nobody")
			}
			before := i.ResourceVersion
			i, _, _ = w.pass()
			w.Expect(i.ResourceVersion).To(Equal(before), "the same error again is not written again")

			w.store.err = nil
			i, _, err = w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(is(i, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionTrue))
		})
	}
}

func TestARefusedImageCannotBeDownloaded(t *testing.T) {
	w := newWorld(t, asked(ofEdge), edge(), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`))
	_, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	env := &agentv1.InfraEnv{}
	w.Expect(w.kube.Get(t.Context(), types.NamespacedName{Namespace: key.Namespace, Name: "edge"}, env)).To(Succeed())
	env.Spec.CpuArchitecture = "aarch64"
	w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())

	w.store.stuck = errors.New("a disk that does not write")
	i, _, err := w.pass()
	w.Expect(err).To(MatchError(w.store.stuck), "it is tried again")
	w.Expect(i.Status.ImageUrl).NotTo(BeEmpty(), "the status does not claim that it is gone before it is")

	w.store.stuck = nil
	i, _, err = w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(is(i, metal3v1.ConditionImageError).Reason).To(Equal(agentv1.ReasonInfraEnvArchMismatch))
	w.Expect(i.Status.ImageUrl).To(BeEmpty())
	w.Expect(w.store.removed).To(ContainElement("site/node-0"))
}

func TestDiscardWaitsForOtherFinalizers(t *testing.T) {
	w := newWorld(t, asked(func(i *metal3v1.PreprovisioningImage) { i.Finalizers = []string{names.HostImageFinalizer} }))
	i, _, _ := w.pass()
	w.Expect(w.kube.Delete(t.Context(), i)).To(Succeed())
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(i.Finalizers).To(ContainElement(names.ImageFinalizer), "the host still boots the image")
	w.Expect(w.store.removed).To(BeEmpty())

	i.Finalizers = []string{names.ImageFinalizer}
	w.Expect(w.kube.Update(t.Context(), i)).To(Succeed())
	i, _, err = w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(i).To(BeNil())
	w.Expect(w.store.removed).To(Equal([]string{"site/node-0"}))
}

func TestInfraEnvSettingsReachTheImage(t *testing.T) {
	w := newWorld(t, asked(ofEdge), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{"registry.example":{}}}`), edge(func(e *agentv1.InfraEnv) {
		e.Spec.SSHAuthorizedKey = testKey + "alice\n# on leave\n" + testKey + "bob\n"
		e.Spec.NTPSources, e.Spec.AdditionalNTPSources = []string{"ntp1.example"}, []string{"ntp2.example"}
		e.Spec.Proxy = &agentv1.Proxy{HTTPProxy: "http://proxy.example:3128"}
		e.Spec.IgnitionConfigOverride = `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`
		e.Spec.KernelArguments = []agentv1.KernelArgument{{Operation: "append", Value: "quiet"}, {Operation: "delete", Value: "rhgb"}}
	}), &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Annotations: map[string]string{names.StepDeadlines: "start=5m"}}})
	_, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	spec := w.store.specs[0]
	w.Expect(json.Valid(spec.Ignition)).To(BeTrue())
	text, err := url.PathUnescape(string(spec.Ignition))
	w.Expect(err).NotTo(HaveOccurred())
	for _, want := range []string{"alice", "bob", "operator", "token-of-edge", "/etc/motd", "https://hub.example:8090"} {
		w.Expect(text).To(ContainSubstring(want))
	}
	w.Expect(strings.Count(text, "on leave")).To(BeZero())
	w.Expect(spec.Kargs.Operations).To(Equal([]overlay.KargsOperation{{Operation: "append", Value: "quiet"}, {Operation: "delete", Value: "rhgb"}}))

	pull := secret("pull", corev1.DockerConfigJsonKey, `{"auths":{"other.example":{}}}`)
	w.Expect(w.r.imagesOfSecret(t.Context(), pull)).To(ConsistOf(ctrl.Request{NamespacedName: key}), "a new pull secret makes a new image")
	w.Expect(w.kube.Delete(t.Context(), pull)).To(Succeed())
	w.Expect(w.kube.Create(t.Context(), pull)).To(Succeed())
	_, _, err = w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(string(w.store.specs[1].Ignition)).NotTo(Equal(string(spec.Ignition)))
}

func TestAnInitrdHasKernelAndParameters(t *testing.T) {
	w := newWorld(t, asked(func(i *metal3v1.PreprovisioningImage) {
		i.Spec.AcceptFormats = []metal3v1.ImageFormat{metal3v1.ImageFormatInitRD}
	}))
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(i.Status).To(And(
		HaveField("Format", metal3v1.ImageFormatInitRD), HaveField("ImageUrl", "http://images.example/initrd"),
		HaveField("KernelUrl", "http://images.example/vmlinuz"), HaveField("ExtraKernelParams", "a=b")))
	i.Spec.AcceptFormats = []metal3v1.ImageFormat{metal3v1.ImageFormatISO}
	w.Expect(w.kube.Update(t.Context(), i)).To(Succeed())
	i = w.settled()
	w.Expect(i.Status.Format).To(Equal(metal3v1.ImageFormatISO))
	w.Expect(i.Status.KernelUrl + i.Status.ExtraKernelParams).To(BeEmpty())
}

// TestNobodyTouchesTheImageOfAHostThatIsKeptOff: neither the object nor the host, nor what is handed out, until the
// annotation goes.
func TestNobodyTouchesTheImageOfAHostThatIsKeptOff(t *testing.T) {
	for _, annotation := range []string{names.Paused, names.Hold} {
		annotate := func(w *world, annotations map[string]string) {
			h := &metal3v1.BareMetalHost{}
			w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
			h.Annotations = annotations
			w.Expect(w.kube.Update(w.t.Context(), h)).To(Succeed())
		}
		for name, c := range map[string]struct {
			settled bool
			change  func(w *world)
		}{
			"new":              {false, func(*world) {}},
			"another setting":  {true, func(w *world) { w.base.SSHKeys = []string{testKey + "another"} }},
			"no architecture":  {true, func(w *world) { w.r.options.Architectures = func() []string { return nil } }},
			"image is deleted": {true, func(w *world) { w.Expect(w.kube.Delete(w.t.Context(), asked())).To(Succeed()) }},
		} {
			t.Run(annotation+", "+name, func(t *testing.T) {
				waits := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
				waits.Status.PoweredOn, waits.Status.Provisioning.State = true, metal3v1.StateAvailable
				w := newWorld(t, asked(ofEdge), edge(), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), waits)
				if c.settled {
					w.settled()
				}
				annotate(w, map[string]string{annotation: ""})
				c.change(w)
				before := &metal3v1.PreprovisioningImage{}
				w.Expect(w.kube.Get(t.Context(), key, before)).To(Succeed())
				w.hostPatched = func() { w.t.Error("the host is written to") }
				puts := len(w.store.specs)
				for range 3 {
					i, _, err := w.pass()
					w.Expect(err).NotTo(HaveOccurred())
					w.Expect(i).To(Equal(before))
				}
				w.Expect(w.store.specs).To(HaveLen(puts))
				w.Expect(w.store.removed).To(BeEmpty())

				w.hostPatched = func() {}
				annotate(w, nil)
				i, _, err := w.pass()
				w.Expect(err).NotTo(HaveOccurred())
				w.Expect(i).NotTo(Equal(before), "then it goes on")
			})
		}
	}
}
