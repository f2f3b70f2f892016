package host

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/pair"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// oneAway are two Ironics, one of which does not answer until it is told to.
func oneAway(t *testing.T, away string) (set *ironic.Endpoints, sims map[string]*simulator.Server, answer func()) {
	t.Helper()
	set, sims = pair.New(t, simulator.Options{Delays: delays})
	sims[away].Intercept(func(*http.Request) *simulator.Fault {
		return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "down"}
	})
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go func() { _ = set.Run(ctx) }()
	for _, e := range set.All() {
		if e.Name() != away {
			<-e.Watch.Synced()
		}
	}
	return set, sims, func() {
		e, err := set.Get(away)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		sims[away].Intercept(nil)
		<-e.Watch.Synced()
	}
}

// TestTheAssignmentIsWrittenBeforeTheNode assigns a host, and follows it when the
// policy would choose otherwise by now.
func TestTheAssignmentIsWrittenBeforeTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		set, sims := pair.Watched(t, simulator.Options{Delays: delays}, "lab~old")
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, nil)
		defer w.stop()
		let(10 * time.Second)
		g.Expect(w.host().Annotations).To(HaveKeyWithValue(names.Ironic, "west"))
		g.Expect(sims["west"].Nodes()).To(HaveLen(1))
		for range 3 {
			_, err := set.All()[1].Enrol(t.Context(), ironic.Enrolment{Driver: "redfish"})
			g.Expect(err).NotTo(HaveOccurred())
		}
		let(10 * time.Second)
		g.Expect(sims["east"].Nodes()).To(HaveLen(1), "the host stays where it is")
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "north" })
		let(10 * time.Second)
		g.Expect(condition(w.host(), "Stalled")).To(And(HaveField("Reason", "UnknownIronic"), HaveField("Message", ContainSubstring("east, west"))))
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "west" })
		let(10 * time.Second)
		g.Expect(w.host().Status.ErrorType).To(BeEmpty())
	})
}

// TestNoIronicIsChosenWhileOneIsUnread re-creates a host without its status while the
// Ironic that has its node, in use, is away: the host waits for that one.
func TestNoIronicIsChosenWhileOneIsUnread(t *testing.T) {
	for _, name := range []string{"lab~host-1", "host-1"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				set, sims, answer := oneAway(t, "east")
				g.Expect(sims["east"].Put(simulator.Seed{Fields: map[string]any{
					"uuid": "u1", "name": name, "driver": "redfish",
					"provision_state": "active", "power_state": "power on",
				}, Ports: map[string]bool{ownMAC: true}})).To(Succeed())
				w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, nil)
				defer func() { w.stop() }()
				let(time.Hour)
				g.Expect(w.host().Annotations).NotTo(HaveKey(names.Ironic))
				g.Expect(sims["west"].Nodes()).To(BeEmpty())
				g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(And(ContainSubstring("Ironic east"), ContainSubstring(names.Ironic)))
				answer()
				took := w.until("assigned", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Annotations[names.Ironic] == "east" })
				g.Expect(took).To(BeNumerically("<", time.Second), "it was woken")
				let(time.Minute)
				g.Expect(w.host().Status.Provisioning.ID).To(Equal("u1"))
				g.Expect(sims["west"].Nodes()).To(BeEmpty())
				n, _ := sims["east"].Node("u1")
				g.Expect(n.ProvisionState).To(Equal("active"))
			})
		})
	}
}

// TestAnIronicThatIsNamedIsNotWaitedFor names one Ironic while the other is away.
func TestAnIronicThatIsNamedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, sims, _ := oneAway(t, "east")
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Ironic: "west"}
		})
		defer func() { w.stop() }()
		w.untilState(metal3.StateAvailable, time.Minute)
		w.g.Expect(sims["west"].Nodes()).To(HaveLen(1))
	})
}

// TestAnUnreadIronicHoldsUpItsOwnHostsOnly has limits while an Ironic is away in which
// hosts may be at work.
func TestAnUnreadIronicHoldsUpItsOwnHostsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, _, _ := oneAway(t, "west")
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set, Limits: capacity.Limits{Total: 1, Ironic: 1}}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Paused: "", names.Ironic: "east"}
		})
		defer func() { w.stop() }()
		other := otherHost("lab", "host-2", otherMAC, "")
		other.Annotations = map[string]string{names.Ironic: "west"}
		w.g.Expect(w.kube.Create(t.Context(), &other)).To(Succeed())
		w.setStatus(&other, metal3.StateInspecting, "node-in-west")
		w.unpause()
		w.untilState(metal3.StateAvailable, time.Minute)
	})
}

// TestAHostDoesNotLeaveItsNodeBehindInAnotherIronic: the annotation is changed on a host at rest.
func TestAHostDoesNotLeaveItsNodeBehindInAnotherIronic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, sims := pair.Watched(t, simulator.Options{Delays: delays, AutomatedClean: true})
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Ironic: "east"}
		})
		defer func() { w.stop() }()
		w.untilAtRest()
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "west" })
		let(10 * time.Minute)
		t.Logf("east %d, west %d; host %s %q events %v", len(sims["east"].Nodes()), len(sims["west"].Nodes()), w.host().Status.Provisioning.State,
			w.host().Status.ErrorMessage, w.events.list())
		w.g.Expect(sims["east"].Nodes()).To(HaveLen(1), "it stays where it is")
		w.g.Expect(sims["west"].Nodes()).To(BeEmpty(), "a second node of one machine")
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("NodeInAnotherIronic"))
	})
}

// TestAHostThatIsBeingRegisteredLeavesNoNodeBehind: the annotation is changed while the node is new. The host
// waits, and goes on when it is set back; its node goes with it when it is deleted. No other Ironic gets a node.
func TestAHostThatIsBeingRegisteredLeavesNoNodeBehind(t *testing.T) {
	refuse := func(o simulator.Operation) simulator.Outcome {
		if o.Name == "verify" {
			return simulator.Outcome{Error: "no answer from the BMC"}
		}
		return simulator.Outcome{}
	}
	verified := func(w *world) {
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "east" })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
	}
	deleted := func(w *world) {
		w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		w.until("gone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
	}
	for name, c := range map[string]struct {
		node   string
		behave func(simulator.Operation) simulator.Outcome
		then   func(*world)
		nodes  int
	}{
		"verified, and set back": {node: "verifying", then: verified, nodes: 1},
		"verified, and deleted":  {node: "verifying", then: deleted},
		"refused, and deleted":   {node: "enroll", behave: refuse, then: deleted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slow := delays
				slow.Verify = time.Minute
				set, sims := pair.Watched(t, simulator.Options{Delays: slow, Behave: c.behave})
				w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, func(h *metal3.BareMetalHost) {
					h.Annotations = map[string]string{names.Ironic: "east"}
				})
				defer func() { w.stop() }()
				w.sim = sims["east"]
				w.untilNode("lab~host-1", c.node, 5*time.Minute)
				if c.behave != nil {
					w.until("refused", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
				}
				w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "west" })
				let(20 * time.Minute)
				w.g.Expect(len(sims["west"].Nodes())).To(BeZero(), "nodes in west")
				w.g.Expect(len(sims["east"].Nodes())).To(Equal(1), "nodes in east")
				w.g.Expect(condition(w.host(), "Stalled")).To(And(HaveField("Reason", "NodeInAnotherIronic"),
					HaveField("Message", And(ContainSubstring("set it back"), ContainSubstring("delete the host")))))
				c.then(w)
				w.g.Expect(len(sims["east"].Nodes())).To(Equal(c.nodes), "nodes in east")
				w.g.Expect(len(sims["west"].Nodes())).To(BeZero(), "nodes in west")
			})
		})
	}
}

// TestANodeWhoseIDWasNotStoredIsNotLeftBehindInAnotherIronic: the annotation is changed at the moment when the node
// is made, and the program is killed before its id is stored.
func TestANodeWhoseIDWasNotStoredIsNotLeftBehindInAnotherIronic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, sims := pair.Watched(t, simulator.Options{Delays: delays})
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Ironic: "east", names.Paused: ""}
		})
		defer func() { w.stop() }()
		w.g.Expect(sims["east"].Put(simulator.Seed{Fields: map[string]any{
			"uuid": "made-before", "name": "lab~host-1", "driver": "redfish", "provision_state": "enroll",
		}, Ports: map[string]bool{ownMAC: true}})).To(Succeed())
		w.setStatus(w.host(), metal3.StateRegistering, "")
		let(10 * time.Minute) // the watch has seen it
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Ironic: "west"} })
		let(10 * time.Minute)
		w.g.Expect(len(sims["west"].Nodes())).To(BeZero(), "nodes in west")
		w.g.Expect(condition(w.host(), "Stalled")).To(HaveField("Reason", "NodeInAnotherIronic"))
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "east" })
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.g.Expect(w.host().Status.Provisioning.ID).To(Equal("made-before"))
		w.g.Expect(len(sims["west"].Nodes())).To(BeZero(), "nodes in west")
	})
}

// TestADeletedHostGoesFromTheIronicThatHasItsNode: what its annotation says now does not hold up its deletion.
func TestADeletedHostGoesFromTheIronicThatHasItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, sims := pair.Watched(t, simulator.Options{Delays: delays})
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Ironic: "east"}
		})
		defer func() { w.stop() }()
		w.untilAtRest()
		w.edit(func(h *metal3.BareMetalHost) { h.Annotations[names.Ironic] = "west" })
		let(10 * time.Minute)
		w.g.Expect(condition(w.host(), "Stalled").Message).To(ContainSubstring("detach the host first"))
		w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		w.until("gone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		w.g.Expect(len(sims["east"].Nodes())).To(BeZero(), "nodes in east")
		w.g.Expect(len(sims["west"].Nodes())).To(BeZero(), "nodes in west")
	})
}
