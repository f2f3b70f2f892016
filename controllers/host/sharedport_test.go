package host

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// macShared is what the network interface between BMC and system has on every machine of
// some vendors (CDC Ethernet over USB).
const macShared = "be:3a:f2:b6:05:9f"

// shareACard is the inventory of host-1 or host-2, each with a card of the same address.
func shareACard(n simulator.Node) map[string]any {
	boot := macBoot
	if strings.HasSuffix(n.Name, "host-2") {
		boot = otherMAC
	}
	return withNICs(boot, macShared)
}

// TestMachinesWhoseBMCInterfacesHaveOneAddress: only the boot MAC address tells machines
// apart. Another interface that has the same address everywhere is no obstacle, and no
// machine keeps a port for it: Ironic could not tell by its addresses which node it is.
func TestMachinesWhoseBMCInterfacesHaveOneAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{Inventory: shareACard}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		first := w.key
		w.key = w.another("host-2", otherMAC)
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		let(time.Second) // events follow what they are about
		w.g.Expect(w.events.list()).To(ContainElement("PortsLeftOut"))
		w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty())
		w.g.Expect(w.portsInIronic()).To(Equal(map[string]bool{otherMAC: true}))
		w.key = first
		w.g.Expect(w.portsInIronic()).To(Equal(map[string]bool{macBoot: true}), "it tells nothing")

		w.edit(wantInstall) // its ports are seen to again
		w.until("deploying", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateProvisioning })
		let(time.Minute)
		w.g.Expect(w.portsInIronic()).To(Equal(map[string]bool{macBoot: true}))
	})
}

// TestAPortThatAnotherNodeHas: a node that is nobody's host keeps its port.
func TestAPortThatAnotherNodeHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{Inventory: func(simulator.Node) map[string]any { return withNICs(macBoot, macShared, macStays) }}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.g.Expect(w.sim.Put(simulator.Seed{
			Fields: map[string]any{"uuid": "11111111-2222-3333-4444-555555555555", "name": "rack-9", "driver": "redfish", "provision_state": "available"},
			Ports:  map[string]bool{macShared: false},
		})).To(Succeed())
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.g.Expect(w.portsInIronic()).To(Equal(map[string]bool{macBoot: true, macStays: false}))
		let(time.Second) // events follow what they are about
		w.g.Expect(w.events.texts).To(ContainElement(And(ContainSubstring(macShared), ContainSubstring("rack-9"))))
	})
}

// refusesOddMACs answers as Ironic does: POST ports takes 48 bits and nothing else.
func refusesOddMACs(r *http.Request) *simulator.Fault {
	if r.Method != http.MethodPost || r.URL.Path != "/v1/ports" {
		return nil
	}
	raw, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(raw))
	var body struct {
		Address string `json:"address"`
	}
	_ = json.Unmarshal(raw, &body)
	if len(body.Address) == 17 {
		return nil
	}
	return &simulator.Fault{Status: http.StatusBadRequest, Text: "Expected a MAC address but received " + body.Address + "."}
}

// TestOddHardwareAddresses: a card whose address cannot be that of a port is no obstacle.
func TestOddHardwareAddresses(t *testing.T) {
	for name, mac := range map[string]string{
		"InfiniBand, 20 octets": "a0:00:02:20:fe:80:00:00:00:00:00:00:e4:1d:2d:03:00:50:e0:21",
		"none":                  "",
		"zeros":                 "00:00:00:00:00:00",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{Inventory: func(simulator.Node) map[string]any { return withNICs(macBoot, mac, macStays) }}, policy.Settings{}, nil)
				defer func() { w.stop() }()
				w.sim.Intercept(refusesOddMACs)
				w.untilState(metal3.StateAvailable, 10*time.Minute)
				w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty())
				w.g.Expect(w.portsInIronic()).To(Equal(map[string]bool{macBoot: true, macStays: false}))
			})
		})
	}
}

// TestAnInventoryWithTheBootMACOfAnotherHostStops: the BMC of a machine in use has a DNS name, too, which nobody can tell from
// another BMC. What inspection finds tells: nothing more is done to the machine, also not by the deletion of the host that is wrong.
func TestAnInventoryWithTheBootMACOfAnotherHostStops(t *testing.T) {
	inUse := simulator.Options{AutomatedClean: true, RamdiskSteps: assisted(nil).RamdiskSteps, Inventory: func(n simulator.Node) map[string]any {
		if info, _ := n.Fields["driver_info"].(map[string]any); info["redfish_address"] == "https://192.0.2.8" {
			return withNICs(otherMAC, macShared)
		}
		return withNICs(macBoot, macStays, macShared)
	}}
	correct := func(w *world) {
		w.edit(func(h *metal3.BareMetalHost) {
			h.Spec.BMC.Address = "redfish-virtualmedia://192.0.2.8/redfish/v1/Systems/1"
		})
		w.until("left alone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return condition(h, "Stalled").Reason == "MachineMayBeInUse" })
		w.annotate(names.Inspect, "") // nobody knows what the other machine runs before somebody says that nothing is needed of it
		w.untilState(metal3.StateAvailable, 10*time.Minute)
	}
	for name, then := range map[string]func(w *world, stopped func(), inUse types.NamespacedName){
		"a restart": func(w *world, stopped func(), _ types.NamespacedName) {
			w.stop()
			w.start(w.with.Settings)
			let(10 * time.Minute)
			stopped()
		},
		"another attempt": func(w *world, stopped func(), _ types.NamespacedName) {
			w.annotate(names.Retry, "now")
			w.annotate(names.Inspect, "")
			let(10 * time.Minute)
			stopped()
		},
		"it is deleted": func(w *world, _ func(), _ types.NamespacedName) {
			w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed())
			let(time.Minute)
			w.g.Expect(w.host()).To(BeNil())
		},
		"its address is corrected": func(w *world, _ func(), _ types.NamespacedName) { correct(w) },
		"its address is corrected after a restart": func(w *world, _ func(), _ types.NamespacedName) {
			w.stop()
			w.start(w.with.Settings)
			let(time.Minute)
			correct(w)
		},
		"the other one goes": func(w *world, _ func(), inUse types.NamespacedName) {
			other := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: inUse.Namespace, Name: inUse.Name}}
			w.g.Expect(w.kube.Delete(w.t.Context(), other)).To(Succeed())
			w.untilState(metal3.StateAvailable, 10*time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, inUse, policy.Settings{}, wantInstall)
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, 10*time.Minute)
				w.g.Expect(w.kube.Create(t.Context(), &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "host-2"}, Spec: metal3.BareMetalHostSpec{
					Online: true, InspectionMode: "fast", BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1", CredentialsName: "bmc"},
				}})).To(Succeed())
				w.key.Name = "host-2"
				stopped := func() {
					w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateInspecting), w.host().Status.ErrorMessage)
					w.g.Expect(condition(w.host(), "Stalled")).To(And(HaveField("Reason", "MachineOfAnotherHost"),
						HaveField("Message", And(ContainSubstring("lab/host-1"), ContainSubstring(macBoot), ContainSubstring("correct or delete")))))
				}
				w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorMessage != "" })
				let(10 * time.Minute)
				stopped()
				before := w.touched()
				then(w, stopped, lab)
				if w.host() == nil || w.host().Status.Provisioning.State == metal3.StateInspecting {
					made := w.touched()
					delete(made, "DELETE /v1/nodes/{node}") // the record of it, not the machine
					w.g.Expect(made).To(Equal(before))
				}
			})
		})
	}
}

// TestAnInventoryWithAHostOfAnotherNamespaceNamesItToNobody: nor is a host stopped by an inspection that was made before.
func TestAnInventoryWithAHostOfAnotherNamespaceNamesItToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{Inventory: func(simulator.Node) map[string]any { return withNICs(macBoot, otherMAC) }}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "mine"}, Spec: metal3.BareMetalHostSpec{
			BootMACAddress: otherMAC, BMC: metal3.BMCDetails{Address: "redfish-virtualmedia://192.0.2.7/redfish/v1/Systems/1", CredentialsName: "bmc"},
		}}
		w.g.Expect(w.kube.Create(t.Context(), h)).To(Succeed())
		let(10 * time.Minute)
		w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty(), "its network interface may have been moved to the other machine since")
		w.annotate(names.Inspect, "")
		w.until("refused", 5*time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorMessage != "" })
		w.g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring("a host of another namespace"), ContainSubstring(otherMAC),
			Not(ContainSubstring("tenant")), Not(ContainSubstring("mine"))))
		w.g.Expect(w.kube.Delete(t.Context(), h)).To(Succeed())
		w.untilState(metal3.StateAvailable, 5*time.Minute)
	})
}
