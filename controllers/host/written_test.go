package host

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/test/kubeapi"
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
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.mu.Lock()
		w.refuse = func(r *http.Request) *kubeapi.Fault { // nothing is: the first write of the host is not shown any more
			if r.Method == http.MethodPatch {
				w.api.Hold(&metal3.BareMetalHost{})
			}
			return nil
		}
		w.mu.Unlock()
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(w.api.Counts()).NotTo(HaveKey(HavePrefix("409 ")), "no write was made from an old copy")
	})
}
