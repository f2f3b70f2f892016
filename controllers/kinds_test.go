package controllers_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/claim"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/media"
	"github.com/ironflow/ironflow/controllers/subscription"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// site of the side kinds: hosts in one namespace, the team that uses them in another.
const team = "team-a"

// fleet is the host controller with those of the kinds around it, on a real
// kube-apiserver and a simulated Ironic.
type fleet struct {
	*WithT
	t     *testing.T
	kube  client.Client
	sim   *simulator.Server
	audit string
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	f := &fleet{WithT: NewWithT(t), t: t}
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true, Audit: true})
	f.audit = plane.AuditLog
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../config/crd/metal3"}})
	f.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	f.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	f.Expect(metal3v1.AddToScheme(scheme)).To(Succeed())
	f.kube, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	f.Expect(err).NotTo(HaveOccurred())
	const short = 200 * time.Millisecond
	f.sim = simulator.New(simulator.Options{Heartbeat: time.Second, Delays: simulator.Delays{
		Verify: short, Inspect: short, Clean: short, Deploy: short, Power: short, Work: short,
	}})
	t.Cleanup(f.sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: f.sim.Transport()})
	f.Expect(err).NotTo(HaveOccurred())
	yes := true
	mgr, err := ctrl.NewManager(plane.Config(), ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &yes}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &yes},
	})
	f.Expect(err).NotTo(HaveOccurred())
	watch := ironic.NewWatch(gateway, ironic.WatchOptions{})
	gate := media.NewGate(mgr.GetClient())
	for _, failure := range []error{
		host.Setup(mgr, host.Options{Gateway: gateway, Watch: watch, Media: gate}),
		media.Setup(mgr, oneForMedia(gateway), gate), subscription.Setup(mgr, oneForSubscriptions(gateway)), claim.Setup(mgr),
	} {
		f.Expect(failure).NotTo(HaveOccurred())
	}
	done := make(chan error, 1)
	go func() { _ = watch.Run(t.Context()) }()
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() { f.Expect(<-done).To(Succeed()) })
	return f
}

// create writes objects as a user would.
func (f *fleet) create(objects ...client.Object) {
	f.t.Helper()
	for _, o := range objects {
		f.Expect(f.kube.Create(f.t.Context(), o)).To(Succeed())
	}
}

func (f *fleet) hostObject(name string) []client.Object {
	secret := &corev1.Secret{ObjectMeta: meta("bmc-" + name), StringData: map[string]string{"username": "admin", "password": "hunter2hunter2"}}
	return []client.Object{secret, &metal3v1.BareMetalHost{ObjectMeta: meta(name), Spec: metal3v1.BareMetalHostSpec{
		Online: true, BootMACAddress: "52:54:00:00:00:0" + name[len(name)-1:],
		BMC: metal3v1.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: "bmc-" + name},
	}}}
}

// until waits for an object to be as wanted.
func until[T client.Object](f *fleet, obj T, what string, ok func(T) bool) {
	f.t.Helper()
	f.Eventually(func() bool {
		if f.kube.Get(f.t.Context(), client.ObjectKeyFromObject(obj), obj) != nil {
			return false
		}
		return ok(obj)
	}, patience, often).Should(BeTrue(), "%s: %s", client.ObjectKeyFromObject(obj), what)
}

// change patches an object as a user would.
func change[T client.Object](f *fleet, obj T, edit func(T)) {
	f.t.Helper()
	f.Expect(f.kube.Get(f.t.Context(), client.ObjectKeyFromObject(obj), obj)).To(Succeed())
	before, _ := obj.DeepCopyObject().(client.Object)
	edit(obj)
	f.Expect(f.kube.Patch(f.t.Context(), obj, client.MergeFrom(before))).To(Succeed())
}

var errStillThere = errors.New("still there")

// gone waits for an object to go.
func (f *fleet) gone(obj client.Object) {
	f.t.Helper()
	f.Eventually(func() error {
		err := f.kube.Get(f.t.Context(), client.ObjectKeyFromObject(obj), obj)
		if err == nil {
			return errStillThere
		}
		return client.IgnoreNotFound(err)
	}, patience, often).Should(Succeed())
}

// TestClaimWithDataImageAndSubscription takes a claim to an installed machine
// that finds a data image in its drive, has its BMC send events, and goes back.
func TestClaimWithDataImageAndSubscription(t *testing.T) {
	f := newFleet(t)
	f.create(f.hostObject("host-1")...)
	f.create(f.hostObject("host-2")...)
	f.create(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: team, Labels: map[string]string{"tenant": "yes"}}},
		&metal3v1.HostDeployPolicy{ObjectMeta: meta("tenants"), Spec: metal3v1.HostDeployPolicySpec{
			HostClaimNamespaces: &metal3v1.HostClaimNamespaces{HasLabels: []metal3v1.NameValuePair{{Name: "tenant", Value: "yes"}}},
		}},
	)
	mine := &metal3v1.HostClaim{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "mine"}, Spec: metal3v1.HostClaimSpec{
		PoweredOn: true, CustomDeploy: &metal3v1.CustomDeploy{Method: names.InstallCoreOS},
		UserData: &corev1.SecretReference{Name: "cloud"},
	}}
	f.create(mine)
	until(f, mine, "says that the Secret is missing", func(c *metal3v1.HostClaim) bool {
		x := apimeta.FindStatusCondition(c.Status.Conditions, metal3v1.SynchronizedCondition)
		return x != nil && x.Reason == metal3v1.BadUserDataSecretReason
	})
	f.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: team, Name: "cloud"}, StringData: map[string]string{"userData": "#cloud-config"}})
	until(f, mine, "ready", func(c *metal3v1.HostClaim) bool {
		return apimeta.IsStatusConditionTrue(c.Status.Conditions, metal3v1.ReadyCondition) && c.Status.PoweredOn
	})
	h := &metal3v1.BareMetalHost{ObjectMeta: meta(mine.Status.BareMetalHost.Name)}
	f.Expect(f.kube.Get(t.Context(), client.ObjectKeyFromObject(h), h)).To(Succeed())
	node := h.Status.Provisioning.ID

	events := &metal3v1.BMCEventSubscription{ObjectMeta: meta("events"), Spec: metal3v1.BMCEventSubscriptionSpec{
		HostName: h.Name, Destination: "https://events.test/x",
	}}
	data := &metal3v1.DataImage{ObjectMeta: meta(h.Name), Spec: metal3v1.DataImageSpec{URL: "https://images.test/data.iso"}}
	f.create(events, data)
	until(f, events, "subscribed", func(s *metal3v1.BMCEventSubscription) bool { return s.Status.SubscriptionID != "" })
	f.Expect(f.sim.Destinations(node)).To(ConsistOf("https://events.test/x"))
	f.Consistently(func() string { return f.sim.Media(node) }, time.Second, often).Should(BeEmpty(), "not under a running system")

	change(f, h, func(h *metal3v1.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Reboot, "") })
	until(f, data, "attached", func(d *metal3v1.DataImage) bool {
		return d.Status.AttachedImage.URL != "" && d.Status.LastReconciled != nil
	})
	until(f, h, "on again", func(h *metal3v1.BareMetalHost) bool {
		_, asked := h.Annotations[names.Reboot]
		return !asked && h.Status.PoweredOn
	})
	f.Expect(f.sim.Media(node)).To(Equal(data.Spec.URL))
	f.Expect(data.OwnerReferences).To(ContainElement(HaveField("Name", h.Name)))

	f.Expect(f.kube.Delete(t.Context(), events)).To(Succeed())
	f.gone(events)
	f.Expect(f.sim.Destinations(node)).To(BeEmpty())
	f.Expect(f.kube.Delete(t.Context(), data)).To(Succeed())
	change(f, h, func(h *metal3v1.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Reboot, "") })
	f.gone(data)
	f.Expect(f.sim.Media(node)).To(BeEmpty())

	f.Expect(f.kube.Delete(t.Context(), mine)).To(Succeed())
	f.gone(mine)
	until(f, h, "free again", func(h *metal3v1.BareMetalHost) bool {
		return h.Spec.ConsumerRef == nil && h.Spec.CustomDeploy == nil && h.Status.Provisioning.State == metal3v1.StateAvailable
	})
	f.Eventually(func() int {
		var copies corev1.SecretList
		f.Expect(f.kube.List(t.Context(), &copies, client.InNamespace(site), client.HasLabels{"ironflow.io/hostclaim"})).To(Succeed())
		return len(copies.Items)
	}, patience, often).Should(BeZero())
	f.reportWrites()
}

// reportWrites logs what the side kinds cost, and holds it to a bound that only a
// write that repeats itself can exceed.
func (f *fleet) reportWrites() {
	f.t.Helper()
	raw, err := os.ReadFile(f.audit)
	f.Expect(err).NotTo(HaveOccurred())
	writes := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		var e struct {
			Verb      string                                 `json:"verb"`
			ObjectRef struct{ Resource, Subresource string } `json:"objectRef"`
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Verb == "get" || e.Verb == "list" || e.Verb == "watch" {
			continue
		}
		switch e.ObjectRef.Resource {
		case "dataimages", "bmceventsubscriptions", "hostclaims":
			writes[strings.TrimSuffix(e.Verb+" "+e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")]++
		}
	}
	f.t.Logf("writes: %v", writes)
	f.Expect(writes["patch dataimages/status"]).To(BeNumerically("<=", 5))
	f.Expect(writes["patch bmceventsubscriptions/status"]).To(BeNumerically("<=", 3))
	f.Expect(writes["patch hostclaims/status"]).To(BeNumerically("<=", 25))
}

// oneForMedia and oneForSubscriptions are what a site with a single Ironic has.
func oneForMedia(g *ironic.Gateway) media.Ironics {
	return func(*metal3v1.BareMetalHost) (media.Gateway, error) { return g, nil }
}

func oneForSubscriptions(g *ironic.Gateway) subscription.Ironics {
	return func(*metal3v1.BareMetalHost) (subscription.Gateway, error) { return g, nil }
}
