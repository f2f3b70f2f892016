package host

import (
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// twin creates a host whose BMC is that of the world's first one: copied, and forgotten to change.
func (w *world) twin(address string) (first *metal3.BareMetalHost) {
	w.t.Helper()
	first = w.host()
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "host-2"},
		Spec:       metal3.BareMetalHostSpec{Online: true, BootMACAddress: otherMAC, BMC: first.Spec.BMC},
	}
	h.Spec.BMC.Address = address
	w.g.Expect(w.kube.Create(w.t.Context(), h)).To(Succeed())
	w.key.Name = "host-2"
	return first
}

// TestTwoHostsOfOneBMC: the second host would have the machine of the first one rebooted. It
// is refused, whatever the address is spelt like, goes without touching the machine, and is
// registered as soon as the machine is nobody else's.
func TestTwoHostsOfOneBMC(t *testing.T) {
	refused := func(w *world) {
		w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateRegistering), "its machine is another host's, in use")
		w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("lab/host-1"), ContainSubstring("BMC address")))
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineOfAnotherHost"))
		w.g.Expect(w.sim.Nodes()).To(HaveLen(1))
	}
	for name, then := range map[string]func(w *world, first *metal3.BareMetalHost){
		"it is corrected": func(w *world, _ *metal3.BareMetalHost) {
			w.edit(func(h *metal3.BareMetalHost) {
				h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/2"
			})
			w.untilState(metal3.StateAvailable, 5*time.Minute)
		},
		"the other one goes": func(w *world, first *metal3.BareMetalHost) {
			w.g.Expect(w.kube.Delete(w.t.Context(), first)).To(Succeed())
			w.untilState(metal3.StateAvailable, 10*time.Minute)
		},
		"the other one gets another address": func(w *world, first *metal3.BareMetalHost) {
			second := w.key
			w.key = lab
			w.edit(func(h *metal3.BareMetalHost) {
				h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/9"
			})
			w.key = second
			w.untilState(metal3.StateAvailable, 5*time.Minute)
		},
		"it is deleted": func(w *world, _ *metal3.BareMetalHost) {
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
			let(time.Minute)
			w.g.Expect(w.host()).To(BeNil())
			n, _ := w.sim.Node("lab~host-1")
			w.g.Expect(n.PowerState).To(Equal("power on"), "it is not switched off by a host that it is not of")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(time.Minute)
				first := w.twin("redfish://BMC.test:443/redfish/v1/Systems/1/")
				let(10 * time.Minute)
				refused(w)
				then(w, first)
			})
		})
	}
}

// TestAHostOfAnotherNamespaceIsNotNamed: who may read one namespace only is not told what hosts there are in another,
// nor how their BMC's address is written there. The log says which host it is.
func TestAHostOfAnotherNamespaceIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "redfish-virtualmedia://bmc.test:443/redfish/v1/Systems/1/"
		})
		defer func() { w.stop() }()
		var mu sync.Mutex
		var logged []string
		w.mu.Lock()
		w.log = funcr.New(func(_, args string) {
			mu.Lock()
			defer mu.Unlock()
			logged = append(logged, args)
		}, funcr.Options{}).GetSink()
		w.mu.Unlock()
		w.untilAtRest()
		before := len(w.events.said())
		h := &metal3.BareMetalHost{
			ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "mine"},
			Spec:       metal3.BareMetalHostSpec{Online: true, BootMACAddress: otherMAC, BMC: w.host().Spec.BMC},
		}
		h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
		w.g.Expect(w.kube.Create(t.Context(), h)).To(Succeed())
		w.key = client.ObjectKeyFromObject(h)
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
		w.g.Expect(condition(w.host(), "Stalled")).To(And(HaveField("Reason", "MachineOfAnotherHost"),
			HaveField("Message", And(ContainSubstring("a host of another namespace"), ContainSubstring(h.Spec.BMC.Address)))))
		status, err := json.Marshal(w.host().Status)
		w.g.Expect(err).NotTo(HaveOccurred())
		w.g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		w.until("gone", time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
		told := w.events.said()[before:]
		w.g.Expect(told).To(And(ContainSubstring("without touching a machine"), ContainSubstring("another namespace")))
		for _, secret := range []string{"host-1", "lab/", ":443"} {
			w.g.Expect(string(status)).NotTo(ContainSubstring(secret))
			w.g.Expect(told).NotTo(ContainSubstring(secret))
		}
		mu.Lock()
		defer mu.Unlock()
		w.g.Expect(logged).To(ContainElement(ContainSubstring(`"otherHost"="lab/host-1"`)))
	})
}

// TestTwoHostsThatAreNew: the older one is registered, whichever is looked at first.
func TestTwoHostsThatAreNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		let(time.Second) // timestamps of the API server are whole seconds
		w.twin(w.host().Spec.BMC.Address)
		let(10 * time.Minute)
		w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("lab/host-1"))
		w.g.Expect(w.sim.Nodes()).To(HaveLen(1))
		w.key = lab
		w.untilState(metal3.StateAvailable, time.Minute)
	})
}

// named is an Ironic that has a node of one host's full name; empty for none.
func named(name string) func(*metal3.BareMetalHost) bool {
	return func(h *metal3.BareMetalHost) bool { return h.Name == name }
}

// TestWhoseTheMachineIs: who comes first, by what the hosts' status says.
func TestWhoseTheMachineIs(t *testing.T) {
	const address = "redfish://bmc.test/redfish/v1/Systems/1"
	host := func(name string, age time.Duration, state policy.State, id string) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))}}
		h.Spec.BMC.Address = address
		h.Status.Provisioning.State, h.Status.Provisioning.ID = state, id
		wantInstall(h) // nothing else than is there
		return h
	}
	for name, c := range map[string]struct {
		a, b               *metal3.BareMetalHost
		refusedA, refusedB bool
	}{
		"the older one":                 {host("b", time.Hour, "", ""), host("a", 0, "", ""), false, true},
		"of one age, by name":           {host("b", 0, "", ""), host("a", 0, "", ""), true, false},
		"the one that has a node":       {host("a", time.Hour, "", ""), host("b", 0, metal3.StateAvailable, "id"), true, false},
		"the one that is in use":        {host("a", time.Hour, metal3.StateAvailable, "id"), host("b", 0, metal3.StateProvisioned, ""), true, false},
		"a foreign system":              {host("a", time.Hour, metal3.StateExternallyProvisioned, ""), host("b", 2*time.Hour, metal3.StateAvailable, "id"), false, true},
		"both in use: nobody knows":     {host("a", time.Hour, metal3.StateProvisioned, "x"), host("b", 0, metal3.StateProvisioned, "y"), false, false},
		"both in use, one was detached": {host("a", time.Hour, metal3.StateProvisioned, ""), host("b", 0, metal3.StateProvisioned, "y"), true, false},
		"both have a node: the older":   {host("b", time.Hour, metal3.StateAvailable, "x"), host("a", 0, metal3.StateAvailable, "y"), false, true},
		"one is taken down, in between": {host("a", 0, metal3.StateDeprovisioning, "x"), host("b", time.Hour, metal3.StateInspecting, "y"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(policy.JudgeDouble(c.a, []*metal3.BareMetalHost{c.b}, named("")).Why != "").To(Equal(c.refusedA))
			g.Expect(policy.JudgeDouble(c.b, []*metal3.BareMetalHost{c.a}, named("")).Why != "").To(Equal(c.refusedB))
		})
	}
	g := NewWithT(t)
	one, two, three := host("a", 0, "", ""), host("b", time.Hour, metal3.StateProvisioned, "x"), host("c", 0, metal3.StateProvisioned, "y")
	g.Expect(policy.JudgeDouble(one, []*metal3.BareMetalHost{two, three}, named(""))).To(Equal(policy.JudgeDouble(one, []*metal3.BareMetalHost{three, two}, named(""))),
		"in whatever order they are found")
	other := host("b", 0, metal3.StateProvisioned, "y")
	other.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/2"
	g.Expect(policy.JudgeDouble(host("a", 0, "", ""), []*metal3.BareMetalHost{other}, named(""))).To(BeZero(), "two systems of one BMC")
}

// TestWhoseTheMachineIsOfALostStatus: a host was moved without its status, or restored, and Ironic has its node.
func TestWhoseTheMachineIsOfALostStatus(t *testing.T) {
	host := func(name string, age time.Duration, state policy.State, operational metal3.OperationalStatus) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))}}
		h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
		h.Status.Provisioning.State, h.Status.OperationalStatus = state, operational
		return h
	}
	lost := host("lost", 0, "", "")
	for name, other := range map[string]*metal3.BareMetalHost{
		"another that lost its, and is older": host("other", time.Hour, "", ""),
		"a detached one":                      host("other", time.Hour, metal3.StateProvisioned, metal3.OperationalStatusDetached),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(policy.JudgeDouble(other, []*metal3.BareMetalHost{lost}, named("")).Why).To(BeEmpty())
			g.Expect(policy.JudgeDouble(other, []*metal3.BareMetalHost{lost}, named("lost")).Why).NotTo(BeEmpty(), "it would have a second node of the machine")
			if other.Status.Provisioning.State == "" { // one that was installed there is not passed over
				g.Expect(policy.JudgeDouble(lost, []*metal3.BareMetalHost{other}, named("lost")).Why).To(BeEmpty(), "it keeps its machine")
			}
		})
	}
}

// TestAMachineGetsNoSecondNode: a host of a backup says that it uses a machine, its node is gone, and Ironic has another
// host's node of that machine. Neither is worked on until somebody says whose it is.
func TestAMachineGetsNoSecondNode(t *testing.T) {
	host := func(name string, state policy.State) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
		h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
		h.Status.Provisioning.State, h.Status.Provisioning.ID = state, name
		wantInstall(h) // nothing else than is there
		return h
	}
	for name, c := range map[string]struct {
		other        policy.State
		refusedOther bool
	}{
		"that is inspected": {metal3.StateInspecting, true},
		"that is in use":    {metal3.StateProvisioned, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			restored, other := host("restored", metal3.StateProvisioned), host("other", c.other)
			g.Expect(policy.JudgeDouble(restored, []*metal3.BareMetalHost{other}, named("other")).Why).NotTo(BeEmpty())
			g.Expect(policy.JudgeDouble(other, []*metal3.BareMetalHost{restored}, named("other")).Why != "").To(Equal(c.refusedOther))
		})
	}
}

// TestADetachedHostStaysSoBesideOneThatHasANode, also while Ironic has lost that node: which of the two has the machine is
// not left to who is first to enrol one.
func TestADetachedHostStaysSoBesideOneThatHasANode(t *testing.T) {
	g := NewWithT(t)
	host := func(name string, state policy.State, operational metal3.OperationalStatus) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
		h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
		h.Status.Provisioning.State, h.Status.Provisioning.ID, h.Status.OperationalStatus = state, name, operational
		return h
	}
	detached := host("detached", metal3.StateProvisioned, metal3.OperationalStatusDetached)
	other := host("other", metal3.StateAvailable, metal3.OperationalStatusOK)
	g.Expect(policy.JudgeDouble(detached, []*metal3.BareMetalHost{other}, named("")).Why).NotTo(BeEmpty())
	g.Expect(policy.JudgeDouble(detached, []*metal3.BareMetalHost{other}, named("other")).Why).NotTo(BeEmpty())
}

// TestOfTwoDetachedHostsNoneIsAttached: each may have been given the address since it had its node, and then what it says to
// be installed is on another machine. That one of them has lost its status does not make the other the one.
func TestOfTwoDetachedHostsNoneIsAttached(t *testing.T) {
	g := NewWithT(t)
	detached := func(name string, age time.Duration) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))}}
		h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
		h.Status.Provisioning.State, h.Status.Provisioning.ID, h.Status.OperationalStatus = metal3.StateProvisioned, name, metal3.OperationalStatusDetached
		return h
	}
	older, younger := detached("b", time.Hour), detached("a", 0)
	g.Expect(policy.JudgeDouble(older, []*metal3.BareMetalHost{younger}, named("")).Why).NotTo(BeEmpty())
	g.Expect(policy.JudgeDouble(younger, []*metal3.BareMetalHost{older}, named("")).Why).NotTo(BeEmpty())
	younger.Status = metal3.BareMetalHostStatus{}
	younger.Annotations = map[string]string{names.Detached: ""}
	g.Expect(policy.JudgeDouble(older, []*metal3.BareMetalHost{younger}, named("")).Why).NotTo(BeEmpty())
	younger.Annotations = nil
	g.Expect(policy.JudgeDouble(older, []*metal3.BareMetalHost{younger}, named("")).Why).To(BeEmpty(), "it is a new host, which has no say")
}

// TestADetachedHostHasNoClaimToAMachineThatItWasGivenSince: the other one may have lost all that told of its machine.
func TestADetachedHostHasNoClaimToAMachineThatItWasGivenSince(t *testing.T) {
	const here, elsewhere = "redfish://bmc.test/redfish/v1/Systems/1", "redfish://former.test/redfish/v1/Systems/1"
	for name, c := range map[string]struct {
		from                  string // the address that it had when it was detached
		hasNode               bool   // the other host
		refusesIt, refusesNew bool
	}{
		"another machine, the other host has its node": {elsewhere, true, true, false},
		"another address, the other host is a new one": {elsewhere, false, true, true}, // of the same machine, maybe
		"the same one": {here, false, false, true},
		"not recorded": {"", false, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := func(name, address string) *metal3.BareMetalHost {
				h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
				h.Spec.BMC.Address = address
				return h
			}
			detached, fresh := host("detached", here), host("fresh", here)
			fresh.CreationTimestamp = metav1.NewTime(time.Unix(1e9, 0))
			detached.Status.Provisioning.State, detached.Status.OperationalStatus = metal3.StateProvisioned, metal3.OperationalStatusDetached
			node := ""
			if c.hasNode {
				node = fresh.Name
			}
			if c.from != "" {
				meta.SetStatusCondition(&detached.Status.Conditions, metav1.Condition{
					Type: "MachineRecorded", Status: metav1.ConditionTrue, Reason: "OfItsNode", Message: nodespec.MachineText(host("detached", c.from)),
				})
			}
			g.Expect(policy.JudgeDouble(detached, []*metal3.BareMetalHost{fresh}, named(node)).Why != "").To(Equal(c.refusesIt))
			g.Expect(policy.JudgeDouble(fresh, []*metal3.BareMetalHost{detached}, named(node)).Why != "").To(Equal(c.refusesNew))
		})
	}
}

// TestAHostHasNoClaimToAMachineThatItWasGivenBesideOneThatIsThere: its address was changed without the admission policies, or by a
// backup, and what its status says is of its former machine. The other host has lost its node, as with Ironic's database.
func TestAHostHasNoClaimToAMachineThatItWasGivenBesideOneThatIsThere(t *testing.T) {
	for _, state := range []metal3.ProvisioningState{metal3.StateAvailable, metal3.StateProvisioned} {
		t.Run(string(state), func(t *testing.T) {
			g := NewWithT(t)
			host := func(name string, age time.Duration) *metal3.BareMetalHost {
				h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))}}
				h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
				h.Status.Provisioning.ID, h.Status.Provisioning.State = name, state
				return h
			}
			moved, there := host("moved", time.Hour), host("there", 0)
			moved.Status.Provisioning.State = metal3.StateProvisioned
			former := moved.DeepCopy()
			former.Spec.BMC.Address = "redfish://former.test/redfish/v1/Systems/1"
			meta.SetStatusCondition(&moved.Status.Conditions, metav1.Condition{
				Type: "MachineRecorded", Status: metav1.ConditionTrue, Reason: "OfItsNode", Message: nodespec.MachineText(former),
			})
			g.Expect(policy.JudgeDouble(moved, []*metal3.BareMetalHost{there}, named("")).Why).NotTo(BeEmpty())
			g.Expect(policy.JudgeDouble(there, []*metal3.BareMetalHost{moved}, named("")).Why).To(BeEmpty())
		})
	}
}

// TestADetachedHostHoldsUpNoneThatIsAttached: that its status tells of a node of before makes it no better known, and the
// other one was attached all the time.
func TestADetachedHostHoldsUpNoneThatIsAttached(t *testing.T) {
	g := NewWithT(t)
	host := func(name, id string) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
		h.Spec.BMC.Address = "redfish://bmc.test/redfish/v1/Systems/1"
		h.Status.Provisioning.State, h.Status.Provisioning.ID = metal3.StateProvisioned, id
		return h
	}
	attached, detached := host("attached", ""), host("detached", "id")
	detached.Status.OperationalStatus = metal3.OperationalStatusDetached
	g.Expect(policy.JudgeDouble(attached, []*metal3.BareMetalHost{detached}, named("")).Why).To(BeEmpty())
}

// TestTwoHostsOfOneBMCByTwoProtocols: by one of them the machine of the other would be booted.
func TestTwoHostsOfOneBMCByTwoProtocols(t *testing.T) {
	for address, same := range map[string]bool{"ipmi://BMC.test": true, "bmc.test:623": true, "ipmi://bmc.test:6230": false, "ipmi://other.test": false} {
		t.Run(address, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				let(time.Minute)
				w.twin(address)
				let(10 * time.Minute)
				if !same {
					w.g.Expect(w.sim.Nodes()).To(HaveLen(2))
					return
				}
				w.g.Expect(w.sim.Nodes()).To(HaveLen(1))
				w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("lab/host-1"), ContainSubstring("another protocol")))
			})
		})
	}
}

// TestAHostLearnsThatItsMachineIsItsOwnAgain: the other host, which was in use, has been given
// back. That is a change of its status alone.
func TestAHostLearnsThatItsMachineIsItsOwnAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		w.twin("redfish-virtualmedia://bmc.test/redfish/v1/Systems/2")
		w.untilState(metal3.StateAvailable, 2*time.Minute)
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, 2*time.Minute)
		second := w.key
		w.key = lab
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.BootMACAddress = otherMAC })
		let(time.Minute)
		w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("lab/host-2"), "which is in use")
		w.key = second
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		let(time.Hour)
		w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("lab/host-1"), "which is older")
		w.key = lab
		w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty())
	})
}

// TestAHostThatIsAttachedAtTheBMCOfAnother: an installed host is detached, as who changes the address of its BMC is told
// to, is given that of another installed host by mistake, and attached. The machine there is the other one's, which has
// its node there all along: it is not switched off by the spec of the first one, and not given back by its deletion.
func TestAHostThatIsAttachedAtTheBMCOfAnother(t *testing.T) {
	for name, c := range map[string]struct {
		online bool
		ends   func(w *world)
	}{
		"it is to be off": {ends: func(*world) {}},
		"it is deleted": {online: true, ends: func(w *world) {
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				first := w.twin("redfish-virtualmedia://bmc.test/redfish/v1/Systems/2")
				w.edit(wantInstall)
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				let(time.Minute)
				w.annotate(names.Detached, "")
				w.until("detached", time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.OperationalStatus == metal3.OperationalStatusDetached
				})
				let(time.Minute)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online, h.Spec.BMC.Address = c.online, first.Spec.BMC.Address })
				cleaned := w.sim.Steps()["deploy.erase_devices_metadata"]
				w.sim.ResetCounts()
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
				let(time.Minute)
				w.sim.Edit("lab~host-2", map[string]any{"power_state": "power on"}) // as that BMC shows
				let(10 * time.Minute)
				c.ends(w)
				let(time.Hour)
				w.g.Expect(w.sim.Steps()["deploy.erase_devices_metadata"]).To(Equal(cleaned), "the machine of the other host is cleaned")
				w.g.Expect(w.sim.Counts()[putPower]).To(BeZero(), "the machine of the other host is switched")
				if h := w.host(); h != nil {
					w.g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("lab/host-1"), "it says why")
				}
			})
		})
	}
}

// TestDeletingOneOfTwoHostsInUseTouchesNothing: both were deployed before it was known that they are of one machine, and nobody
// knows whose system is on it. Neither is taken down for one of them; once the other one is gone, it is.
func TestDeletingOneOfTwoHostsInUseTouchesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world)
		then func(w *world)
	}{
		"deleted": {func(w *world) {
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		}, func(w *world) {
			w.g.Expect(w.host()).To(BeNil())
			w.g.Expect(w.events.said()).To(ContainSubstring("deleted without touching a machine"))
		}},
		"another image": {func(w *world) {
			w.edit(askFor("http://images.test/second.img"))
		}, func(w *world) {
			w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineOfAnotherHost"))
			w.edit(askFor("http://images.test/first.img"))
			let(time.Hour)
			w.g.Expect(w.host().Status.ErrorType).To(BeEmpty(), w.host().Status.ErrorMessage)
			w.untouchedSince()
			w.edit(askFor("http://images.test/second.img"))
			let(time.Minute)
			w.untouchedSince()
			w.key = lab
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
			let(time.Hour)
			w.g.Expect(w.host()).To(BeNil())
			w.key.Name = "host-2"
			w.until("deployed anew", time.Hour, func(h *metal3.BareMetalHost) bool {
				return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.Provisioning.Image.URL == "http://images.test/second.img"
			})
		}},
		"deleted, the other one somebody else's": {func(w *world) {
			w.key = lab
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
			let(time.Hour)
			w.key.Name = "host-2"
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
		}, func(w *world) { w.g.Expect(w.host()).To(BeNil()) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, askFor("http://images.test/first.img"))
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				w.twin("redfish-virtualmedia://bmc-by-another-name.test/redfish/v1/Systems/1")
				w.edit(askFor("http://images.test/first.img"))
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.BootMACAddress = "52:54:00:00:00:01" }) // as that of the first one
				let(time.Hour)
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty(), w.host().Status.ErrorMessage)
				w.sim.ResetCounts()
				c.end(w)
				let(time.Hour)
				w.untouchedSince()
				c.then(w)
			})
		})
	}
}

// untouchedSince checks that no request was made since they were counted that could change a machine.
func (w *world) untouchedSince() {
	w.t.Helper()
	for _, request := range []string{"power", "provision"} {
		w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/"+request]).To(BeZero(), request)
	}
}
