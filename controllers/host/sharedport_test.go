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
