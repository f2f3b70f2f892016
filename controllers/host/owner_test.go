package host

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// Addresses of the host of these tests, and of another one.
const (
	ownMAC   = "52:54:00:00:00:01"
	otherMAC = "52:54:00:00:00:02"
)

// strange is a node that a host finds without knowing it, and who else there is.
type strange struct {
	name, port, instance string // of the node "strange"
	id                   string // in the host's own status
	others               []metal3.BareMetalHost
}

// otherHost is a host that this controller sees and leaves alone.
func otherHost(namespace, name, mac, id string) metal3.BareMetalHost {
	return metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{names.Paused: ""}},
		Spec:       metal3.BareMetalHostSpec{BootMACAddress: mac},
		Status:     metal3.BareMetalHostStatus{Provisioning: metal3.ProvisionStatus{ID: id}},
	}
}

// begin seeds Ironic and the API server before the program starts; the host is paused.
func (s strange) begin(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
		h.Annotations = map[string]string{names.Paused: ""}
		h.Spec.BootMACAddress = ownMAC
	})
	let(time.Second)
	w.stop()
	if s.id != "" {
		w.setStatus(w.host(), metal3.StateRegistering, s.id)
	}
	fields := map[string]any{"uuid": "strange", "driver": "redfish", "provision_state": "active", "power_state": "power on"}
	for key, value := range map[string]string{"name": s.name, "instance_uuid": s.instance} {
		if value != "" {
			fields[key] = value
		}
	}
	w.g.Expect(w.sim.Put(simulator.Seed{Fields: fields, Ports: map[string]bool{s.port: true}})).To(Succeed())
	for _, other := range s.others {
		id := other.Status.Provisioning.ID
		w.g.Expect(w.kube.Create(t.Context(), &other)).To(Succeed())
		if id != "" {
			w.setStatus(&other, metal3.StateProvisioned, id)
		}
	}
	w.start(policy.Settings{})
	return w
}

// setStatus stores the phase and the node of a host.
func (w *world) setStatus(h *metal3.BareMetalHost, state policy.State, id string) {
	now := metav1.Now()
	h.Status.Provisioning.State, h.Status.Provisioning.ID, h.Status.LastUpdated = state, id, &now
	w.g.Expect(w.kube.Status().Update(w.t.Context(), h)).To(Succeed())
}

// unpause lets the controller see to the host.
func (w *world) unpause() {
	w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Paused) })
}

// untouched holds that the node is as it was seeded.
func (s strange) untouched(w *world) {
	w.t.Helper()
	n, there := w.sim.Node("strange")
	w.g.Expect(there).To(BeTrue(), "the node of somebody else was removed")
	w.g.Expect(n.Name).To(Equal(s.name))
	w.g.Expect(n.ProvisionState).To(Equal("active"))
	w.g.Expect(n.Fields["maintenance"]).To(BeFalse())
	w.g.Expect(n.Fields["power_state"]).To(Equal("power on"))
}

// TestNodesOfOthersAreLeftAlone lets a host find nodes that nothing shows to be its
// own: it says whose they are, or takes one of its own, and its deletion leaves them.
func TestNodesOfOthersAreLeftAlone(t *testing.T) {
	for name, c := range map[string]struct {
		strange

		says []string // empty: the host gets a node of its own
	}{
		"its short name, another host's id": {
			strange: strange{name: "host-1", port: otherMAC, others: []metal3.BareMetalHost{otherHost("other", "host-1", "", "strange")}},
		},
		"its short name and nothing else": {
			strange: strange{name: "host-1", port: otherMAC}, says: []string{"node host-1", ownMAC, "lab~host-1"},
		},
		"its short name and address, which another host has too": {
			strange: strange{name: "host-1", port: ownMAC, others: []metal3.BareMetalHost{otherHost("other", "host-7", ownMAC, "")}},
			says:    []string{"node host-1", "other/host-7", "lab~host-1"},
		},
		"its short name and address, a host of that name without an address": {
			strange: strange{name: "host-1", port: ownMAC, others: []metal3.BareMetalHost{otherHost("other", "host-1", "", "")}},
			says:    []string{"node host-1", "other/host-1", "lab~host-1"},
		},
		"its address, another host's id": {
			strange: strange{port: ownMAC, others: []metal3.BareMetalHost{otherHost("other", "host-7", otherMAC, "strange")}},
			says:    []string{"node strange", "other/host-7"},
		},
		"its address, which another host has too": {
			strange: strange{port: ownMAC, others: []metal3.BareMetalHost{otherHost("other", "host-7", ownMAC, "")}},
			says:    []string{"node strange", "other/host-7"},
		},
		"its address, deployed for a host that is not seen": {
			strange: strange{port: ownMAC, instance: "a-host-elsewhere"}, says: []string{"node strange", "a-host-elsewhere", "lab~host-1"},
		},
		"its address, the full name of a host that is not seen": {
			strange: strange{name: "elsewhere~host-1", port: ownMAC}, says: []string{ownMAC, "elsewhere~host-1"},
		},
		"its id, the full name of another host": {
			strange: strange{name: "other~host-7", port: otherMAC, id: "strange", others: []metal3.BareMetalHost{otherHost("other", "host-7", otherMAC, "")}},
			says:    []string{"node other~host-7", "other/host-7", "lab~host-1"},
		},
		"its id, which another host has too": {
			strange: strange{name: "host-1", port: ownMAC, id: "strange", others: []metal3.BareMetalHost{otherHost("other", "host-1", "", "strange")}},
			says:    []string{"node host-1", "other/host-1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := c.begin(t)
				defer func() { w.stop() }()
				w.unpause()
				if len(c.says) == 0 {
					w.untilState(metal3.StateAvailable, time.Minute)
					w.g.Expect(w.host().Status.Provisioning.ID).NotTo(Equal("strange"))
				} else {
					w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
					let(24 * time.Hour)
					stalled := condition(w.host(), "Stalled")
					w.g.Expect(stalled.Reason).To(Equal("NodeOfAnotherHost"))
					for _, text := range c.says {
						w.g.Expect(stalled.Message).To(ContainSubstring(text))
					}
					w.g.Expect(w.sim.Nodes()).To(HaveLen(1), "no second node for what may be one machine")
				}
				c.untouched(w)
				w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
				w.until("gone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
				c.untouched(w)
			})
		})
	}
}

// TestAHostGoesOnWhenItsNodeIsShownToBeIts has a person give a node the full name of
// its host.
func TestAHostGoesOnWhenItsNodeIsShownToBeIts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := strange{name: "host-1", port: otherMAC}.begin(t)
		defer func() { w.stop() }()
		w.unpause()
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
		w.g.Expect(err).NotTo(HaveOccurred())
		_, _, err = gateway.Update(t.Context(), &ironic.Node{Row: ironic.Row{UUID: "strange", Name: "host-1"}}, ironic.Desired{Name: new("elsewhere~host-1")})
		w.g.Expect(err).NotTo(HaveOccurred())
		w.annotate(names.Retry, "1")
		w.untilState(metal3.StateAvailable, time.Minute)
		w.g.Expect(w.host().Status.Provisioning.ID).NotTo(Equal("strange"))
	})
}

// TestAHostThatWasRenamedKeepsItsNode restores a host with its status under another
// name: nobody has the old one any more.
func TestAHostThatWasRenamedKeepsItsNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := strange{name: "old~host-1", port: ownMAC, id: "strange"}.begin(t)
		defer func() { w.stop() }()
		w.unpause()
		w.until("renamed", time.Minute, func(*metal3.BareMetalHost) bool {
			n, _ := w.sim.Node("strange")
			return n.Name == "lab~host-1"
		})
		w.g.Expect(w.host().Status.Provisioning.ID).To(Equal("strange"))
	})
}

// TestAHostThatNeverReachedIronicRemovesNothing deletes a host while Ironic is away,
// before the host was ever registered: what Ironic has of a similar name stays.
func TestAHostThatNeverReachedIronicRemovesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := strange{name: "host-1", port: otherMAC}
		w := s.begin(t)
		defer func() { w.stop() }()
		var down atomic.Bool
		down.Store(true)
		w.sim.Intercept(func(*http.Request) *simulator.Fault {
			if down.Load() {
				return &simulator.Fault{Status: http.StatusServiceUnavailable, Text: "down"}
			}
			return nil
		})
		w.unpause()
		let(time.Minute)
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		let(time.Second)
		down.Store(false)
		w.until("gone", 20*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		s.untouched(w)
	})
}

// TestAnAddressOfAnotherHostIsNoObstacleToADeletion deletes hosts whose boot MAC
// address is on another host's node, with and without a node of their own.
func TestAnAddressOfAnotherHostIsNoObstacleToADeletion(t *testing.T) {
	for name, state := range map[string]policy.State{"while it is registered": metal3.StateRegistering, "later": metal3.StateInspecting} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := strange{name: "lab~host-2", port: ownMAC}
				w := s.begin(t)
				defer func() { w.stop() }()
				if state != metal3.StateRegistering { // a node of its own, to which the address cannot be added
					w.setStatus(w.host(), state, "own")
					w.g.Expect(w.sim.Put(simulator.Seed{Fields: map[string]any{
						"uuid": "own", "name": "lab~host-1", "driver": "redfish", "provision_state": "manageable", "power_state": "power on",
					}})).To(Succeed())
				}
				w.unpause()
				w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
				w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring(ownMAC), ContainSubstring("lab~host-2")))
				w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
				w.until("gone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
				s.untouched(w)
				w.g.Expect(w.sim.Nodes()).To(HaveLen(1))
			})
		})
	}
}
