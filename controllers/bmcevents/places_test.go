package bmcevents

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// noted are the addresses that the note on the kind BMC names.
func (w *world) noted() []string {
	w.t.Helper()
	h := &metal3.BareMetalHost{}
	w.Expect(w.kube.Get(w.t.Context(), key, h)).To(Succeed())
	var all []string
	for _, p := range (&reconciler{options: Options{Keys: w.keys}}).places(h, w.bmc()) {
		all = append(all, p.Address)
	}
	return all
}

// TestAnotherBMCWhileNobodyLooked: the BMC that a host had before the program began anew is
// asked to let go of our subscription, and of nobody else's. One that does not answer is
// given up, and said.
func TestAnotherBMCWhileNobodyLooked(t *testing.T) {
	for name, answers := range map[string]bool{"the former answers": true, "the former does not answer": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.connect().Post(t.Context(), "/redfish/v1/EventService/Subscriptions", map[string]any{"Destination": "https://192.0.2.1/others", "Protocol": "Redfish", "Context": "theirs"})
			w.Expect(err).NotTo(HaveOccurred())
			w.start()
			w.host()
			w.until(metav1.ConditionTrue, ReasonArrives)
			w.Expect(w.noted()).To(Equal([]string{"redfish+" + w.bmcURL + "/redfish/v1/Systems/1"}))
			w.end()
			former, asked := w.sim, w.sim.Total("")
			if !answers {
				w.Expect(former.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
			}
			w.move()
			w.start()
			w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(HaveLen(1), "it waits for no other BMC")
			w.until(metav1.ConditionTrue, ReasonArrives)
			if answers {
				w.Eventually(former.Subscriptions).WithTimeout(patience).Should(ConsistOf(HaveField("Destination", ContainSubstring("others"))))
			} else {
				w.Eventually(func() int { return former.Total("") }).WithTimeout(patience).Should(BeNumerically(">", asked))
				w.Expect(w.noted()).To(HaveLen(2), "it is tried again")
				w.later() // by more than partingTime
				w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(And(ContainSubstring("Warning "+EventLeft), ContainSubstring("refused"))))
			}
			w.Eventually(w.noted).WithTimeout(patience).Should(Equal([]string{"redfish+" + w.bmcURL + "/redfish/v1/Systems/1"}))
			w.Expect(w.sim.Subscriptions()).To(HaveLen(1))
		})
	}
}

// TestAHostLeavesAfterItsBMC: one that got another BMC, and was deleted, while nobody
// looked, takes its subscription along all the same.
func TestAHostLeavesAfterItsBMC(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.host()
	w.until(metav1.ConditionTrue, ReasonArrives)
	w.end()
	former := w.sim
	w.move()
	w.Expect(w.kube.Delete(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})).To(Succeed())
	w.start()
	w.Eventually(former.Subscriptions).WithTimeout(patience).Should(BeEmpty())
}

// TestAForgedNote: whoever may write on the kind BMC has us log in nowhere.
func TestAForgedNote(t *testing.T) {
	for name, forge := range map[string]func(w *world, note string) string{
		"without a seal":           func(w *world, _ string) string { return `[{"address":"redfish+` + w.bmcURL + `"}]` },
		"with the seal of another": func(w *world, note string) string { return note[:33] + `[{"address":"redfish+` + w.bmcURL + `"}]` },
		"of another host":          func(w *world, note string) string { return w.keys.Seal("other", note[33:]) + note[32:] },
		"of a secret that was lost": func(w *world, note string) string {
			return must(events.NewKeys(secretOf("o"))).Seal(string(w.uid()), note[33:]) + note[32:]
		},
		"something else":                   func(*world, string) string { return "{" },
		"sealed, and not what it is to be": func(w *world, _ string) string { return w.keys.Seal(string(w.uid()), "{}") + " {}" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			w.host()
			w.until(metav1.ConditionTrue, ReasonArrives)
			w.end()
			b := w.bmc()
			before := b.DeepCopy()
			b.Annotations[names.SubscribedAt] = forge(w, b.Annotations[names.SubscribedAt])
			w.Expect(w.kube.Patch(t.Context(), b, kclient.MergeFrom(before))).To(Succeed())
			former, asked := w.sim, w.sim.Total("")
			w.move()
			w.start()
			w.Eventually(w.noted).WithTimeout(patience).Should(Equal([]string{"redfish+" + w.bmcURL + "/redfish/v1/Systems/1"}))
			w.until(metav1.ConditionTrue, ReasonArrives)
			w.Expect(former.Total("")).To(Equal(asked))
		})
	}
}

func must(keys events.Keys, err error) events.Keys {
	if err != nil {
		panic(err)
	}
	return keys
}

// TestPlaces: the BMC of a host is one place, however its Secret is called, and not more
// than some are remembered.
func TestPlaces(t *testing.T) {
	w := newWorld(t)
	r := &reconciler{client: w.kube, options: Options{Keys: w.keys}, looks: map[kclient.ObjectKey]look{}}
	w.host()
	h, b := &metal3.BareMetalHost{}, &v1alpha1.BMC{}
	w.Expect(w.kube.Get(t.Context(), key, h)).To(Succeed())
	enter := func(address, secret string) []place {
		h.Spec.BMC.Address, h.Spec.BMC.CredentialsName = address, secret
		w.Expect(w.kube.Get(t.Context(), key, b)).To(Succeed())
		w.Expect(r.enter(t.Context(), h, b)).To(Succeed())
		w.Expect(r.places(h, b)).To(Equal(r.places(h, w.bmc())), "what is known is what is stored")
		return r.places(h, b)
	}
	first, second := place{Address: "redfish+https://192.0.2.1/redfish/v1/Systems/1", Credentials: "a"}, place{Address: "redfish+http://192.0.2.2", Credentials: "b"}
	w.Expect(enter("idrac-virtualmedia://192.0.2.1/redfish/v1/Systems/1", "other")).To(HaveLen(1))
	w.Expect(enter("redfish://192.0.2.1/redfish/v1/Systems/1", "a")).To(Equal([]place{first}))
	version := b.ResourceVersion
	w.Expect(enter("redfish://192.0.2.1/redfish/v1/Systems/1", "a")).To(Equal([]place{first}))
	w.Expect(b.ResourceVersion).To(Equal(version), "nothing is written that was there")
	w.Expect(enter("redfish+http://192.0.2.2", "b")).To(Equal([]place{second, first}))
	w.Expect(enter("ipmi://192.0.2.3", "c")).To(Equal([]place{second, first}), "it has no subscriptions")
	w.Expect(r.left(h, b)).To(Equal([]place{second, first}))
	w.Expect(enter("redfish://192.0.2.1/redfish/v1/Systems/1", "a")).To(Equal([]place{first, second}))
	w.Expect(r.left(h, b)).To(Equal([]place{second}))
	for _, address := range []string{"redfish://192.0.2.4", "redfish://192.0.2.5", "redfish://192.0.2.6"} {
		enter(address, "d")
	}
	w.Expect(r.places(h, b)).To(HaveLen(maxPlaces))
	stale := b.DeepCopy()
	enter("redfish://192.0.2.7", "e")
	w.Expect(r.keepPlaces(t.Context(), h, stale, nil)).NotTo(Succeed(), "a stale copy undoes nothing")
	w.Expect(r.keepPlaces(t.Context(), h, b, nil)).To(Succeed())
	w.Expect(w.bmc().Annotations).NotTo(HaveKey(names.SubscribedAt))
}

// TestAPlaceIsItsHosts: what is noted leads to the same machine of the same BMC, however
// the host's address is written. Else a BMC would be parted from as long as a host has it.
func TestAPlaceIsItsHosts(t *testing.T) {
	for _, written := range []string{
		"redfish://192.0.2.1",
		"redfish-virtualmedia+http://BMC.example.com:8000/redfish/v1/Systems/1/",
		"idrac-virtualmedia://[2001:db8::1]/redfish/v1/Systems/System.Embedded.1",
		"redfish://192.0.2.1/redfish/v1/Systems/node%20one",
		"redfish://192.0.2.1/redfish/v1/Systems/50%25",
		"redfish://192.0.2.1/redfish/v1/Systems/one%3Ftwo%23three",
	} {
		t.Run(written, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{UID: "u"}}
			h.Spec.BMC.Address = written
			was := placeOf(h).host(h)
			g.Expect(sourceOf(was)).To(Equal(sourceOf(h)))
			g.Expect(machineOf(was)).To(Equal(machineOf(h)))
		})
	}
}
