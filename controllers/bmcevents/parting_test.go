package bmcevents

import (
	"context"
	"errors"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// TestAnotherBMC: a host that gets another BMC is told by that one alone, and the former
// one is asked to let go.
func TestAnotherBMC(t *testing.T) {
	for name, answers := range map[string]bool{"the former answers": true, "the former does not answer": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			w.host()
			w.until(metav1.ConditionTrue, ReasonArrives)
			former := w.sim
			if !answers {
				w.Expect(former.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
			}
			w.move()
			w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(HaveLen(1))
			if answers {
				w.Eventually(former.Subscriptions).WithTimeout(patience).Should(BeEmpty())
			}
			w.until(metav1.ConditionTrue, ReasonArrives)
			broken := simulator.Condition{Health: "Critical"}
			w.Expect(former.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, broken)).To(Succeed())
			w.Consistently(w.told.Events).WithTimeout(300*time.Millisecond).ShouldNot(Receive(), "it is not this host's fan")
			w.fail()
			w.Eventually(w.told.Events).WithTimeout(patience).Should(Receive(ContainSubstring(EventAlertCritical)))
		})
	}
}

// TestAway: a BMC is left alone as long as its report is that of another one.
func TestAway(t *testing.T) {
	for name, c := range map[string]struct {
		report bool
		probed string
		state  metal3.ProvisioningState
		looked bool
		want   bool
	}{
		"nothing is known":         {want: true},
		"it was probed":            {report: true, probed: "https://192.0.2.1/redfish/v1/Systems/1"},
		"without a path":           {report: true, probed: "https://192.0.2.1"},
		"another BMC was":          {report: true, probed: "https://192.0.2.10/redfish/v1/Systems/1", want: true},
		"its firmware is changed":  {report: true, state: metal3.StatePreparing, looked: true, want: true},
		"before the first look at": {report: true, state: metal3.StatePreparing},
	} {
		t.Run(name, func(t *testing.T) {
			h, b, last := &metal3.BareMetalHost{}, &v1alpha1.BMC{}, look{}
			h.Spec.BMC.Address, h.Status.Provisioning.State = "redfish://192.0.2.1/redfish/v1/Systems/1", c.state
			if c.report {
				b.Status.Report = &v1alpha1.BMCReport{}
			}
			if c.probed != "" {
				b.Status.Probed = &v1alpha1.Probed{Address: c.probed}
			}
			if c.looked {
				last.At = noon
			}
			NewWithT(t).Expect(away(h, b, last)).To(Equal(c.want))
		})
	}
}

// TestAHostMadeAnew: the subscription of a host that went is removed though another one
// has its name already, and that one's stays.
func TestAHostMadeAnew(t *testing.T) {
	w := newWorld(t)
	parted := 0
	r := &reconciler{
		client: w.kube, looks: map[types.NamespacedName]look{}, parting: map[types.NamespacedName][]*parting{},
		options: Options{Keys: w.keys, URL: "https://192.0.2.7:8092", Parting: w.clientOf, Parted: func(string) { parted++ }, Now: w.now},
	}
	host := func(uid types.UID) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: uid}}
		h.Spec.BMC.Address = "redfish+" + w.bmcURL + "/redfish/v1/Systems/1"
		wanted, err := r.wanted(t.Context(), h)
		w.Expect(err).NotTo(HaveOccurred())
		_, err = events.Keep(t.Context(), w.connect(), w.report, wanted)
		w.Expect(err).NotTo(HaveOccurred())
		return h
	}
	b := &v1alpha1.BMC{}
	gone := host("a")
	w.Expect(r.begin(t.Context(), gone, []place{placeOf(gone)})).To(Succeed())
	w.Expect(r.parting[key][0].wanted.Orphan).To(BeNil(), "whose the others are shows later")
	now := host("b")
	w.Expect(w.sim.Subscriptions()).To(HaveLen(2))

	w.Expect(w.sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
	w.Expect(r.rest(t.Context(), now, b)).To(Equal(partingPause))
	w.Expect(w.sim.SetQuirk("1", simulator.ConnectionCut, 0)).To(Succeed())
	w.ahead.Add(int64(5 * time.Minute)) // the client leaves a silent BMC alone for a while
	w.Expect(r.rest(t.Context(), now, b)).To(BeZero())
	key := w.keys.Of(sourceOf(now), 0)
	w.Expect(w.sim.Subscriptions()).To(ConsistOf(HaveField("Destination", HaveSuffix(key.Part))))
	w.Expect(parted).To(Equal(1))
	w.Expect(r.parting).To(BeEmpty())

	w.Expect(r.begin(t.Context(), now, []place{placeOf(now)})).To(Succeed())
	w.Expect(r.rest(t.Context(), now, b)).To(BeZero())
	w.Expect(w.sim.Subscriptions()).To(HaveLen(1), "a host that has come back to its BMC stays")
	w.Expect(r.parting).To(BeEmpty())
}

// TestTheSecretWentWithTheBMC: where nobody can log in any more, nothing is tried twice, and
// it is said. A client that was made before goes on.
func TestTheSecretWentWithTheBMC(t *testing.T) {
	stall := reconcile.Stall("NoCredentials", "the BMC's Secret does not exist")
	for name, c := range map[string]struct {
		first, second error // of the way to a client
		silent        bool  // the BMC, at first
		waits         bool
		left          int
		says          string
	}{
		"it was gone":             {first: stall, left: 1, says: "Secret does not exist; what"},
		"it goes after the first": {second: stall, silent: true, waits: true},
		"the API server is away":  {first: errors.New("away"), waits: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			parted, problem := 0, c.first
			r := &reconciler{
				client: w.kube, looks: map[types.NamespacedName]look{}, parting: map[types.NamespacedName][]*parting{}, recorder: reconcile.Recorder{Sink: w.told},
				options: Options{Keys: w.keys, URL: "https://192.0.2.7:8092", Parted: func(string) { parted++ }, Now: w.now, Parting: func(ctx context.Context, h *metal3.BareMetalHost) (*client.Client, error) {
					if problem != nil {
						return nil, problem
					}
					return w.clientOf(ctx, h)
				}},
			}
			was := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "u"}}
			was.Spec.BMC.Address = "redfish+" + w.bmcURL + "/redfish/v1/Systems/1"
			wanted, err := r.wanted(t.Context(), was)
			w.Expect(err).NotTo(HaveOccurred())
			_, err = events.Keep(t.Context(), w.connect(), w.report, wanted)
			w.Expect(err).NotTo(HaveOccurred())
			h := was.DeepCopy()
			h.Spec.BMC.Address = "redfish://192.0.2.1"
			w.Expect(r.begin(t.Context(), h, []place{placeOf(was)})).To(Succeed())
			if c.silent {
				w.Expect(w.sim.SetQuirk("1", simulator.ConnectionCut, simulator.Always)).To(Succeed())
			}
			if c.waits {
				w.Expect(r.rest(t.Context(), h, &v1alpha1.BMC{})).To(Equal(partingPause))
			}
			w.Expect(w.sim.SetQuirk("1", simulator.ConnectionCut, 0)).To(Succeed())
			if c.waits {
				problem = c.second
				w.ahead.Add(int64(5 * time.Minute))
			}
			w.Expect(r.rest(t.Context(), h, &v1alpha1.BMC{})).To(BeZero())
			w.Expect(w.sim.Subscriptions()).To(HaveLen(c.left))
			w.Expect(parted).To(Equal(1))
			w.Expect(r.parting).To(BeEmpty())
			if c.says != "" {
				w.Expect(w.told.Events).To(Receive(And(ContainSubstring(EventLeft), ContainSubstring(c.says))))
			}
			w.Expect(w.told.Events).To(BeEmpty())
		})
	}
}

// TestAnotherBMCInTheSameSecond: the report of the host's new BMC wakes the host, though
// that of the former is of the same second.
func TestAnotherBMCInTheSameSecond(t *testing.T) {
	w := newWorld(t)
	probed := func(url string) {
		b := w.bmc()
		b.Status.Probed = &v1alpha1.Probed{Address: url, Time: metav1.NewTime(noon)}
		w.Expect(w.kube.Status().Update(t.Context(), b)).To(Succeed())
	}
	w.host()
	probed(w.bmcURL)
	w.start()
	w.until(metav1.ConditionTrue, ReasonArrives)
	former := w.sim
	w.move()
	w.Eventually(former.Subscriptions).WithTimeout(patience).Should(BeEmpty())
	w.Eventually(w.noted).WithTimeout(patience).Should(BeEmpty(), "nobody asks the new one before it is known")
	probed(w.bmcURL)
	w.Eventually(w.sim.Subscriptions).WithTimeout(patience).Should(HaveLen(1))
}
