package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestWhatWasWrittenIsKnownBeforeTheWatchShowsIt(t *testing.T) {
	g := NewWithT(t)
	version := func(v string) *metal3.BareMetalHost {
		return &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "metal", Name: "a", UID: "1", ResourceVersion: v}}
	}
	w := newWritten()
	w.show(version("8"))
	ours := version("10")
	w.put(ours)
	got := w.newest(version("8"))
	g.Expect(got.ResourceVersion).To(Equal("10"), "the cache is behind")
	g.Expect(got).NotTo(BeIdenticalTo(ours), "a pass changes what it gets")
	g.Expect(w.newest(version("11")).ResourceVersion).To(Equal("11"), "somebody has changed it since, and the cache shows it")
	another := version("9")
	another.UID = "2"
	g.Expect(w.newest(another)).To(BeIdenticalTo(another), "another host of this name")

	w.show(version("9"))
	g.Expect(w.newest(version("9")).ResourceVersion).To(Equal("10"), "still behind")
	w.show(version("10"))
	g.Expect(w.hosts).To(BeEmpty(), "the cache has it")
	w.put(version("10"))
	g.Expect(w.hosts).To(BeEmpty(), "the watch was faster")
	w.put(version("no number"))
	g.Expect(w.hosts).To(BeEmpty())

	w.put(version("12"))
	w.forget(types.NamespacedName{Namespace: "metal", Name: "a"})
	g.Expect(w.newest(version("8")).ResourceVersion).To(Equal("8"))
	g.Expect(w.shown).To(BeEmpty())
}

// TestACacheThatIsBehindHoldsNobodyUp provisions a host while the cache shows what
// it was before.
func TestACacheThatIsBehindHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		var behind *metal3.BareMetalHost
		refused := 0
		w.rec.client = interceptor.NewClient(w.kube.(client.WithWatch), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				h, is := o.(*metal3.BareMetalHost)
				if !is || behind == nil {
					return c.Get(ctx, key, o, opts...)
				}
				behind.DeepCopyInto(h)
				return nil
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				err := c.SubResource(sub).Patch(ctx, o, p, opts...)
				if err != nil {
					refused++
				}
				return err
			},
		})
		wished := w.host()
		wantInstall(wished)
		wished.Generation++
		g.Expect(w.kube.Update(t.Context(), wished)).To(Succeed())
		behind = w.host()
		w.poke()
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(refused).To(BeZero(), "no write was made from an old copy")
	})
}
