package host

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/pair"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestAHostWaitsForItsTurn lets another host use up the failure domain: the host
// says so, goes on at once when that one is done, and gives its own slot back.
func TestAHostWaitsForItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Domain: 1}}, func(h *metal3.BareMetalHost) {
			h.Labels = map[string]string{names.FailureDomain: "rack-1"}
		})
		defer w.stop()
		q := w.rec.schedule.Slots.Queue
		other := types.NamespacedName{Namespace: "lab", Name: "other"}
		q.Hold(other, capacity.Place{Domain: "rack-1"})
		w.until("delayed", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusDelayed
		})
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateInspecting))
		g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("limit of failure domain rack-1 is 1"))
		let(time.Hour)
		node, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(node.ProvisionState).To(Equal("manageable"), "nothing is started")
		begin := time.Now()
		q.Leave(other)
		w.untilState(metal3.StateAvailable, time.Minute)
		g.Expect(time.Since(begin)).To(BeNumerically("<", 10*time.Second), "it was woken, not found by its timer")
		g.Expect(w.host().Status.OperationalStatus).To(Equal(metal3.OperationalStatusOK))
		g.Expect(q.Holds(w.key)).To(BeFalse())
	})
}

// TestHostsAtWorkCountAfterARestart starts the program anew while a host is being
// inspected: the next one has to wait although nobody asked this process.
func TestHostsAtWorkCountAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Total: 1}}, nil)
		defer func() { w.stop() }()
		w.untilState(metal3.StateInspecting, time.Minute)
		let(2 * time.Second)
		w.stop()
		w.start(policy.Settings{})
		let(time.Second)
		h := w.host()
		h.Name = "second"
		_, assigned := w.rec.ironics.Of(h)
		o := &policy.Observed{Host: h, Ironic: assigned}
		w.rec.schedule.Slots.Take(o)
		g.Expect(o.Slot.Granted).To(BeFalse())
		g.Expect(w.rec.schedule.Slots.Queue.Holds(w.key)).To(BeTrue())
	})
}

// another creates a second host like the world's.
func (w *world) another(name, mac string) types.NamespacedName {
	w.t.Helper()
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: name},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: mac,
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: "bmc"},
		},
	}
	w.g.Expect(w.kube.Create(w.t.Context(), h)).To(Succeed())
	return types.NamespacedName{Namespace: h.Namespace, Name: h.Name}
}

// untilNode waits until a node is in a state.
func (w *world) untilNode(name, state string, limit time.Duration) time.Duration {
	w.t.Helper()
	begin := time.Now()
	for time.Since(begin) < limit {
		if n, there := w.sim.Node(name); there && n.ProvisionState == state {
			return time.Since(begin)
		}
		let(100 * time.Millisecond)
	}
	n, _ := w.sim.Node(name)
	w.t.Fatalf("node %s is not %s after %s, but %q", name, state, limit, n.ProvisionState)
	return 0
}

// TestPlacesOfHostsThatLeave has one host at work at a time: the first is at work and
// others wait, when one of them vanishes or is paused.
func TestPlacesOfHostsThatLeave(t *testing.T) {
	vanish := func(w *world, key types.NamespacedName) { // somebody removes the finalizer by hand
		w.key = key
		w.edit(func(h *metal3.BareMetalHost) { h.Finalizers = nil })
		w.g.Expect(client.IgnoreNotFound(w.kube.Delete(w.t.Context(), w.host()))).To(Succeed())
	}
	pause := func(w *world, key types.NamespacedName) {
		w.key = key
		w.annotate(names.Paused, "")
	}
	for name, c := range map[string]struct {
		leave  func(*world, types.NamespacedName)
		inLine bool // it leaves the line, not its work
		after  time.Duration
	}{
		"vanished at work":     {leave: vanish},
		"vanished in line":     {leave: vanish, inLine: true, after: delays.Inspect},
		"paused at work":       {leave: pause, after: delays.Inspect},
		"paused while in line": {leave: pause, inLine: true, after: delays.Inspect},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Total: 1}}, nil)
				defer func() { w.stop() }()
				first := w.key
				w.untilNode("lab~host-1", "inspect wait", time.Minute)
				leaves := first
				if c.inLine {
					leaves = w.another("host-2", otherMAC)
					let(time.Second)
				}
				w.another("host-3", "52:54:00:00:00:03")
				let(time.Second)
				n, _ := w.sim.Node("lab~host-3")
				w.g.Expect(n.ProvisionState).To(Equal("manageable"), "it waits")
				c.leave(w, leaves)
				took := w.untilNode("lab~host-3", "inspect wait", 20*time.Second)
				w.g.Expect(took).To(BeNumerically("<=", c.after+time.Second))
				if c.after > 0 {
					n, _ := w.sim.Node("lab~host-1")
					w.g.Expect(n.ProvisionState).To(Equal("manageable"), "the machine of the first one was at work until then")
				}
				w.g.Expect(w.rec.schedule.Slots.Queue.Holds(leaves)).To(BeFalse())
				let(time.Minute)
				w.g.Expect(w.rec.schedule.Slots.Queue.Holds(leaves)).To(BeFalse(), "not in its turn either")
			})
		})
	}
}

// TestALimitHoldsWhenIronicLosesItsNodes has one host at work at a time, and others in line, when the database of
// Ironic is lost: all are registered and verified anew at once, which gives nobody a slot.
func TestALimitHoldsWhenIronicLosesItsNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Total: 1}}, nil)
		defer func() { w.stop() }()
		hosts := []string{"host-1", "host-2", "host-3", "host-4"}
		for i, name := range hosts[1:] {
			w.apart(name, fmt.Sprintf("52:54:00:00:01:%02d", i))
		}
		w.untilNode("lab~host-1", "inspect wait", time.Minute)
		let(5 * time.Second) // the others are in line
		w.sim.Wipe()
		for range 600 {
			atWork := 0
			for _, name := range hosts {
				if n, _ := w.sim.Node("lab~" + name); strings.HasPrefix(n.ProvisionState, "inspect") {
					atWork++
				}
			}
			w.g.Expect(atWork).To(BeNumerically("<=", 1))
			let(100 * time.Millisecond)
		}
		for _, h := range w.all() {
			w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable), "each has its turn")
		}
	})
}

// TestAHeldHostCountsForItsOwnLimits: one that boots from virtual media takes no place of those that boot over the
// network while it is on hold.
func TestAHeldHostCountsForItsOwnLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Network: 1}}, nil)
		defer w.stop()
		w.untilNode("lab~host-1", "inspect wait", time.Minute)
		w.annotate(names.Hold, "")
		w.until("on hold", time.Minute, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.Hold)
		})
		w.g.Expect(w.rec.schedule.Slots.Queue.Holds(w.key)).To(BeFalse())
	})
}

// TestHostsWaitUntilTheirIronicIsCounted has an Ironic that answers, but whose nodes
// cannot be listed yet: who is at work there is not known.
func TestHostsWaitUntilTheirIronicIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, sims := pair.New(t, simulator.Options{Delays: delays})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		east := set.All()[0]
		w := newWorldWith(t, simulator.Options{}, Options{Ironics: set, Limits: capacity.Limits{Ironic: 1}}, func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Paused: "", names.Ironic: "east"}
		})
		defer func() { w.stop() }()
		for _, name := range []string{"host-1", "host-2"} {
			w.g.Expect(sims["east"].Put(simulator.Seed{Fields: map[string]any{
				"uuid": "node-of-" + name, "name": "lab~" + name, "driver": "redfish", "provision_state": "manageable", "power_state": "power off",
			}})).To(Succeed())
		}
		sims["east"].Edit("node-of-host-2", map[string]any{"provision_state": "inspect wait"})
		sims["east"].Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodGet && r.URL.Path == "/v1/nodes" {
				return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "later"}
			}
			return nil
		})
		go func() { _ = set.Run(ctx) }()
		other := otherHost("lab", "host-2", otherMAC, "")
		other.Annotations[names.Ironic] = "east"
		w.g.Expect(w.kube.Create(t.Context(), &other)).To(Succeed())
		w.setStatus(&other, metal3.StateInspecting, "node-of-host-2")
		w.unpause()
		w.until("delayed", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.OperationalStatus == metal3.OperationalStatusDelayed
		})
		w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("to be counted"))
		sims["east"].Intercept(nil)
		<-east.Watch.Synced()
		took := w.until("told of the limit", 10*time.Second, func(h *metal3.BareMetalHost) bool {
			return strings.Contains(condition(h, metal3.ProgressingCondition).Message, "limit of Ironic east is 1")
		})
		w.g.Expect(took).To(BeNumerically("<", time.Second), "it was woken")
		sims["east"].Edit("node-of-host-2", map[string]any{"provision_state": "manageable"})
		w.untilState(metal3.StateAvailable, 2*time.Minute)
	})
}

// TestAHostThatIsServicedIsAtWork has one host at work at a time: another waits while
// the machine of the first, which is in use, gets its firmware.
func TestAHostThatIsServicedIsAtWork(t *testing.T) {
	for name, restarted := range map[string]bool{"": false, "the program starts anew meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := workingWorld(t, wantInstall, func(o *simulator.Options) { o.Delays.Service = 20 * time.Second })
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				let(time.Minute)
				again := func() {
					w.stop()
					w.start(w.with.Settings)
				}
				w.with.Limits = capacity.Limits{Total: 1}
				again()
				let(time.Second)
				first := w.key
				w.allowServicing()
				w.wish()
				w.annotate(names.Reboot, `{"mode":"hard"}`)
				w.untilNode("lab~host-1", "service wait", time.Minute)
				if restarted {
					again()
					let(time.Second)
				}
				w.g.Expect(w.rec.schedule.Slots.Queue.Holds(first)).To(BeTrue())
				w.key = w.another("host-2", otherMAC)
				w.until("delayed", time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.OperationalStatus == metal3.OperationalStatusDelayed
				})
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect(n.ProvisionState).To(Equal("service wait"))
				w.untilNode("lab~host-1", "active", 5*time.Minute)
				took := w.untilNode("lab~host-2", "inspect wait", time.Minute)
				w.g.Expect(took).To(BeNumerically("<", 5*time.Second), "it was woken")
				w.g.Expect(w.rec.schedule.Slots.Queue.Holds(first)).To(BeFalse())
			})
		})
	}
}

// TestSlotsOfAnIronicThatDoesNotAnswer has more hosts of an Ironic that answers no request to
// begin something than there are slots. They keep those that they have got, since they may
// be at work: a limit for each Ironic leaves room for the hosts of another one.
func TestSlotsOfAnIronicThatDoesNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		limits capacity.Limits
		room   bool
	}{
		"one limit for all":              {limits: capacity.Limits{Total: 3}},
		"a lower limit for each of them": {limits: capacity.Limits{Total: 3, Ironic: 2}, room: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, sims := pair.Watched(t, simulator.Options{Delays: delays})
				sims["east"].Intercept(func(r *http.Request) *simulator.Fault {
					if !strings.HasSuffix(r.URL.Path, "/states/provision") {
						return nil
					}
					if n, _ := sims["east"].Node(strings.Split(r.URL.Path, "/")[3]); n.ProvisionState == "enroll" {
						return nil
					}
					return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "later"}
				})
				w := newWorldWith(t, simulator.Options{}, Options{Ironics: set, Limits: c.limits}, func(h *metal3.BareMetalHost) {
					h.Annotations = map[string]string{names.Ironic: "west", names.Paused: ""}
				})
				defer w.stop()
				w.inEast(5)
				let(time.Minute)
				w.unpause()
				if c.room {
					w.untilState(metal3.StateAvailable, time.Minute)
					return
				}
				let(time.Hour)
				w.g.Expect(w.host().Status.OperationalStatus).To(BeEquivalentTo(metal3.OperationalStatusDelayed))
			})
		})
	}
}

// apart creates another host whose BMC has a Secret of its own.
func (w *world) apart(name, mac string) types.NamespacedName {
	w.t.Helper()
	w.g.Expect(w.kube.Create(w.t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "bmc-of-" + name},
		Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")},
	})).To(Succeed())
	w.g.Expect(w.kube.Create(w.t.Context(), &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: name},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: mac,
			BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: "bmc-of-" + name},
		},
	})).To(Succeed())
	return types.NamespacedName{Namespace: lab.Namespace, Name: name}
}

// TestAFailingHostKeepsItsPlaceInLine: a host whose attempt is due again waits for a slot
// like any other, first come, first served, and is woken by its turn.
func TestAFailingHostKeepsItsPlaceInLine(t *testing.T) {
	for name, others := range map[string]bool{"nobody else waits": false, "another host comes later": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				broken.Store(true)
				o := assisted(func(o simulator.Operation) simulator.Outcome {
					switch {
					case o.Name != "inspect":
					case o.Node.Name == "lab~host-1" && broken.Load():
						return simulator.Outcome{Error: "no link"}
					case o.Node.Name != "lab~host-1" && o.Node.ProvisionState == "inspect wait":
						return simulator.Outcome{Delay: 12 * time.Minute}
					}
					return simulator.Outcome{}
				})
				w := newWorldWith(t, o, Options{Limits: capacity.Limits{Total: 1}}, nil)
				defer func() { w.stop() }()
				first := w.key
				w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.InspectionError })
				broken.Store(false)
				w.apart("host-2", otherMAC)
				w.untilNode("lab~host-2", "inspect wait", time.Minute)
				w.annotate(names.Retry, "1")
				w.until("delayed", time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.OperationalStatus == metal3.OperationalStatusDelayed
				})
				t.Logf("in line: %q %q %q, %s", w.host().Status.OperationalStatus, w.host().Status.ErrorType, w.host().Status.ErrorMessage,
					condition(w.host(), metal3.ProgressingCondition).Message)
				if others {
					let(time.Second)
					w.apart("host-3", "52:54:00:00:00:03")
				}
				w.key = first
				begin := time.Now()
				for {
					n, _ := w.sim.Node("lab~host-2")
					if n.ProvisionState == "manageable" {
						break
					}
					let(100 * time.Millisecond)
					w.g.Expect(time.Since(begin)).To(BeNumerically("<", time.Hour))
				}
				took := w.untilNode("lab~host-1", "inspect wait", 2*time.Hour)
				n3, _ := w.sim.Node("lab~host-3")
				t.Logf("the slot was free; host-1 began after %s; host-3 is %q; host-1 says %s %s", took, n3.ProvisionState,
					w.host().Status.OperationalStatus, w.host().Status.ErrorType)
				w.g.Expect(took).To(BeNumerically("<", 5*time.Second), "it was the first in line, and is woken")
			})
		})
	}
}

// TestASlotIsNotKeptByALockFromBefore: a failing host that has got its slot and is turned
// away by a locked node keeps it for its next try. On hold it tries no more.
func TestASlotIsNotKeptByALockFromBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		w := newWorldWith(t, assisted(failing(&broken, "inspect", "", "no link")), Options{Limits: capacity.Limits{Total: 1}}, nil)
		defer func() { w.stop() }()
		first := w.key
		w.until("failed", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.InspectionError })
		broken.Store(false)
		id := w.host().Status.Provisioning.ID
		w.sim.Intercept(func(r *http.Request) *simulator.Fault {
			if r.Method == http.MethodPut && strings.HasSuffix(r.URL.Path, id+"/states/provision") {
				return &simulator.Fault{Status: http.StatusConflict, Text: "Node is locked by host conductor-1."}
			}
			return nil
		})
		w.annotate(names.Retry, "1")
		let(10 * time.Second)
		w.g.Expect(w.rec.schedule.Slots.Queue.Holds(first)).To(BeTrue(), "it tries again in a moment")
		w.annotate(names.Hold, "me")
		let(10 * time.Second)
		w.g.Expect(w.rec.schedule.Slots.Queue.Holds(first)).To(BeFalse())
	})
}

// TestTheLineIsKeptOverRestarts: hosts wait for the one slot, one of them for another attempt, while the program
// starts anew again and again and more hosts come. Nobody is overtaken, in whatever order the hosts are listed.
func TestTheLineIsKeptOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mended atomic.Bool
		o := assisted(func(o simulator.Operation) simulator.Outcome {
			switch {
			case o.Name != "inspect" || o.Node.ProvisionState != "inspect wait":
			case o.Node.Name == "lab~host-9":
				return simulator.Outcome{Delay: 20 * time.Minute}
			case o.Node.Name == "lab~host-1" && !mended.Load():
				return simulator.Outcome{Delay: time.Minute, Error: "no link"}
			}
			return simulator.Outcome{}
		})
		w := newWorldWith(t, o, Options{Limits: capacity.Limits{Total: 1}}, nil)
		defer func() { w.stop() }()
		inLine := func() {
			w.until("delayed", time.Minute, func(h *metal3.BareMetalHost) bool {
				return h.Status.OperationalStatus == metal3.OperationalStatusDelayed
			})
			let(2 * time.Second) // times in the status are whole seconds
		}
		comes := func(name string) {
			w.key = w.apart(name, "52:54:00:00:01:0"+name[len("host-"):])
			inLine()
		}
		again := func() {
			w.stop()
			w.start(w.with.Settings)
			let(10 * time.Second)
		}
		w.untilNode("lab~host-1", "inspect wait", time.Minute)
		comes("host-9")
		comes("host-5")
		w.untilNode("lab~host-9", "inspect wait", 2*time.Minute)
		mended.Store(true)
		w.key = lab
		w.annotate(names.Retry, "1")
		inLine() // behind host-5, which waited before it failed
		again()
		comes("host-3")
		again()
		comes("host-2")
		again()
		line := []string{"host-5", "host-1", "host-3", "host-2"}
		var began []string
		for len(began) < len(line) {
			let(100 * time.Millisecond)
			for _, name := range line {
				n, _ := w.sim.Node("lab~" + name)
				if n.ProvisionState == "inspect wait" && !slices.Contains(began, name) {
					began = append(began, name)
				}
			}
		}
		w.g.Expect(began).To(Equal(line))
	})
}
