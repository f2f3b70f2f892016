package secretcache_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestSecretsOfOthersAreNotHeld runs a controller on a real API server that watches
// Secrets as ours do: it hears of every change, reads what is there, and the cache
// holds the content of labelled Secrets alone.
func TestSecretsOfOthersAreNotHeld(t *testing.T) {
	g := NewWithT(t)
	ctrl.SetLogger(logr.Discard())
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	readYourWrites := true
	mgr, err := ctrl.NewManager(plane.Config(), ctrl.Options{
		NewCache: secretcache.New, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: logr.Discard(),
		Controller: config.Controller{SkipNameValidation: new(true)}, Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
	})
	g.Expect(err).NotTo(HaveOccurred())
	heard := make(chan types.NamespacedName, 100)
	wake := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
	})
	g.Expect(ctrl.NewControllerManagedBy(mgr).Named("listener").
		Watches(&corev1.Secret{}, wake).
		WatchesMetadata(&corev1.Secret{}, wake, builder.WithPredicates(secretcache.Unlabelled)).
		Complete(reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			heard <- r.NamespacedName
			return reconcile.Result{}, nil
		}))).To(Succeed())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(t.Context()) }()
	t.Cleanup(func() { g.Expect(<-done).To(Succeed()) })
	kube, err := client.New(plane.Config(), client.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	reader := secretcache.Reader{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "default", Name: name} }
	hears := func(name string) {
		t.Helper()
		g.Eventually(heard, 30*time.Second).Should(Receive(Equal(key(name))))
	}
	content := func(name string) string {
		t.Helper()
		secret, found, err := reader.Get(t.Context(), key(name))
		g.Expect(err).NotTo(HaveOccurred())
		return fmt.Sprint(found, " ", string(secret.Data["key"]))
	}
	held := func() (list []string) {
		t.Helper()
		var all corev1.SecretList
		g.Expect(mgr.GetClient().List(t.Context(), &all, client.InNamespace("default"))).To(Succeed())
		for _, secret := range all.Items {
			list = append(list, secret.Name)
		}
		return list
	}
	for name, labels := range map[string]map[string]string{"used": {names.EnvironmentLabel: names.EnvironmentValue}, "other": {"app": "shop"}} {
		g.Expect(kube.Create(t.Context(), &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels, Annotations: map[string]string{"applied": "key: one"}},
			Data:       map[string][]byte{"key": []byte("one")},
		})).To(Succeed())
		hears(name)
	}
	g.Expect(held()).To(ConsistOf("used"))
	g.Expect(content("used")).To(Equal("true one"))
	g.Expect(content("other")).To(Equal("true one"), "read from the API server")

	known := &metav1.PartialObjectMetadata{}
	known.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	g.Expect(mgr.GetCache().Get(t.Context(), key("other"), known)).To(Succeed())
	g.Expect(known.Labels).To(Equal(map[string]string{"app": "shop"}))
	g.Expect(known.Annotations).To(BeEmpty(), "they may hold what was applied")

	for _, name := range []string{"used", "other"} {
		secret := &corev1.Secret{}
		g.Expect(kube.Get(t.Context(), key(name), secret)).To(Succeed())
		secret.Data["key"] = []byte("two")
		g.Expect(kube.Update(t.Context(), secret)).To(Succeed())
		hears(name)
		g.Expect(content(name)).To(Equal("true two"), "what is read after the news is new")
	}
	secret, _, err := reader.Get(t.Context(), key("other"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reader.Mark(t.Context(), secret)).To(Succeed())
	g.Expect(held()).To(ConsistOf("used", "other"), "held from the moment that it is marked")
	hears("other")

	g.Expect(kube.Delete(t.Context(), secret)).To(Succeed())
	g.Eventually(func() bool { // the mark has woken it twice, as both kinds of watch saw it
		hears("other")
		_, found, err := reader.Get(t.Context(), key("other"))
		g.Expect(err).NotTo(HaveOccurred())
		return found
	}, 30*time.Second).Should(BeFalse())
}
