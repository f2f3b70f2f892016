package image

import (
	"errors"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestTheStoreIsCompleteAfterOnePassOfAll(t *testing.T) {
	other := asked(func(i *metal3v1.PreprovisioningImage) {
		i.Name = "node-1"
		i.Spec.Architecture = "s390x" // which there is no base for
	})
	for name, listedFirst := range map[string]bool{"the list comes first": true, "the passes come first": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, asked(), other.DeepCopy())
			w.store.keys = []string{"site/node-0", "site/gone", "elsewhere/node-7"}
			w.r.options.Namespaces = []string{"site", "lab"}
			w.r.first = newFirstPass(w.kube, w.r.options)
			start := func() { w.Expect(w.r.first.Start(t.Context())).To(Succeed()) }
			if listedFirst {
				start()
				w.Expect(w.store.synced).To(BeFalse(), "nothing is built yet")
			}
			_, _, err := w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.store.synced).To(BeFalse(), "one of two")
			_, err = w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "site", Name: "node-1"}})
			w.Expect(err).NotTo(HaveOccurred())
			if !listedFirst {
				w.Expect(w.store.synced).To(BeFalse(), "there may be more")
				start()
			}
			w.Expect(w.store.synced).To(BeTrue(), "an image that cannot be built is not waited for")
			w.Expect(w.store.removed).To(ContainElement("site/gone"))
			w.Expect(w.store.removed).NotTo(ContainElement("site/node-0"))
			w.Expect(w.store.removed).NotTo(ContainElement("elsewhere/node-7"), "another program's")
		})
	}
}

func TestWithoutAnyHostTheStoreIsCompleteAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.r.first.Start(t.Context())).To(Succeed())
	w.Expect(w.store.synced).To(BeTrue())
}

func TestWhatCannotBeGivenUpStopsNothing(t *testing.T) {
	w := newWorld(t)
	w.store.keys, w.store.stuck = []string{"site/gone"}, errors.New("a disk that does not write")
	w.r.first = newFirstPass(w.kube, w.r.options)
	w.Expect(w.r.first.Start(t.Context())).To(Succeed())
	w.Expect(w.store.synced).To(BeTrue())
}
