package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/wire"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestOnARealAPIServer changes hosts in all ways, and compares what a cache that
// reads its watch our way has with what the library's own has.
func TestOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	ctrl.SetLogger(logr.Discard())
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3"}})
	g.Expect(err).NotTo(HaveOccurred())
	ours := manager(t, plane.Config(), func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		newInformer, err := wire.NewInformer(config, o, metal3.GroupVersion)
		if err != nil {
			return nil, err
		}
		o.NewInformer = func(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			return newInformer(unwatched{lw}, object, resync, indexers)
		}
		return cache.New(config, o)
	})
	theirs := manager(t, plane.Config(), func(config *rest.Config, o cache.Options) (cache.Cache, error) {
		o.DefaultTransform = cache.TransformStripManagedFields() // ours never has them
		return cache.New(config, o)
	})
	for _, c := range []client.Reader{ours, theirs} { // their watches begin
		g.Expect(c.List(t.Context(), &metal3.BareMetalHostList{})).To(Succeed())
	}
	kube := ours
	host := func(name string) *metal3.BareMetalHost {
		return &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	}
	a, b, gone := host("a"), host("b"), host("gone")
	a.Annotations = map[string]string{"quoted": "\"}\n\\ é", "long": strings.Repeat("long ", 40_000)}
	for _, h := range []*metal3.BareMetalHost{a, b, gone} {
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	}
	g.Expect(kube.Delete(t.Context(), gone)).To(Succeed())

	// A brief answer brings the version, and the client reads what it wrote.
	status := []byte(`{"status":{"errorCount":0,"errorMessage":"","hardware":{"cpu":{"count":7}},"operationalStatus":"OK","poweredOn":true,"provisioning":{"ID":"x","state":"available"}}}`)
	answer := b.DeepCopy()
	g.Expect(kube.Status().Patch(wire.Brief(t.Context(), metal3.GroupVersion.WithKind("BareMetalHost")), answer, client.RawPatch(types.MergePatchType, status))).To(Succeed())
	g.Expect(answer.ResourceVersion).NotTo(Equal(b.ResourceVersion))
	g.Expect(answer.Name).To(Equal("b"))
	g.Expect(answer.ManagedFields).To(BeEmpty(), "who wrote what is left out")
	g.Expect(answer.Status.PoweredOn).To(BeFalse(), "the answer is the metadata")
	read := host("b")
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(b), read)).To(Succeed())
	g.Expect(read.ResourceVersion).To(Equal(answer.ResourceVersion))
	g.Expect(read.Status.PoweredOn).To(BeTrue())
	g.Expect(read.Status.HardwareDetails.CPU.Count).To(Equal(7))
	stale := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"`+b.ResourceVersion+`"},"status":{"poweredOn":false}}`))
	err = kube.Status().Patch(wire.Brief(t.Context(), metal3.GroupVersion.WithKind("BareMetalHost")), b.DeepCopy(), stale)
	g.Expect(err).To(MatchError(ContainSubstring("the object has been modified")))

	held := func(c client.Reader) string {
		var list metal3.BareMetalHostList
		g.Expect(c.List(t.Context(), &list)).To(Succeed())
		all := map[string]metal3.BareMetalHost{}
		for i := range list.Items {
			all[list.Items[i].Name] = list.Items[i]
		}
		document, err := json.Marshal(all) // sorted by name
		g.Expect(err).NotTo(HaveOccurred())
		return string(document)
	}
	g.Eventually(func() bool { return held(ours) == held(theirs) && strings.Contains(held(ours), answer.ResourceVersion) }, 30*time.Second).Should(BeTrue())
	g.Expect(held(ours)).NotTo(ContainSubstring(`"gone"`))
	sendsEvents(t, plane.Config())
}

// sendsEvents tells of something before a manager runs, and while it does.
func sendsEvents(t *testing.T, config *rest.Config) {
	g := NewWithT(t)
	sent := make(chan string, 100)
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/events") {
				sent <- r.Header.Get("Content-Type")
			}
			return next.RoundTrip(r)
		})
	})
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	plain, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard()})
	g.Expect(err).NotTo(HaveOccurred())
	mgr, err := wire.Events(plain)
	g.Expect(err).NotTo(HaveOccurred())
	about := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}
	mgr.GetEventRecorder("test.example/tester").Eventf(about, nil, "Normal", "Early", "Early", "before %s", "it runs")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	<-mgr.Elected()
	mgr.GetEventRecorder("test.example/tester").Eventf(about, nil, "Warning", "Late", "Late", "while it runs")
	events, err := kubernetes.NewForConfig(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(func(g Gomega) {
		list, err := events.EventsV1().Events("default").List(t.Context(), metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		var told []string
		for _, e := range list.Items {
			if e.ReportingController == "test.example/tester" {
				told = append(told, e.Type+" "+e.Regarding.Kind+" "+e.Regarding.Name+" "+e.Reason+" "+e.Note)
			}
		}
		g.Expect(told).To(ConsistOf("Normal BareMetalHost a Early before it runs", "Warning BareMetalHost a Late while it runs"))
	}, 30*time.Second).Should(Succeed())
	g.Expect(sent).To(Receive(Equal("application/vnd.kubernetes.protobuf")))
	stop()
	g.Expect(<-done).To(Succeed())
}

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// unwatched cannot be watched the library's way.
type unwatched struct{ toolscache.Lister }

// Watch implements toolscache.Watcher.
func (unwatched) Watch(metav1.ListOptions) (watch.Interface, error) {
	return nil, errors.New("the watch is not ours")
}

// manager runs a manager, and returns its client.
func manager(t *testing.T, config *rest.Config, newCache cache.NewCacheFunc) client.Client {
	t.Helper()
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	config = rest.CopyConfig(config)
	config.Wrap(wire.Transport)
	readYourWrites := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, NewCache: newCache, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() { g.Expect(<-done).To(Succeed()) })
	g.Expect(mgr.GetCache().WaitForCacheSync(t.Context())).To(BeTrue())
	return mgr.GetClient()
}

// TestWhatIsNotOurs leaves caches of a part of the cluster to the library.
func TestWhatIsNotOurs(t *testing.T) {
	g := NewWithT(t)
	for _, o := range []cache.Options{
		{DefaultNamespaces: map[string]cache.Config{"metal": {}}},
		{ByObject: map[client.Object]cache.ByObject{&metal3.BareMetalHost{}: {}}},
	} {
		g.Expect(wire.NewInformer(&rest.Config{}, o, metal3.GroupVersion)).To(BeNil())
	}
}
