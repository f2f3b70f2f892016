package host

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// MAC addresses of a machine.
const (
	macBoot    = "52:54:00:00:00:01"
	macStays   = "52:54:00:00:00:02"
	macRemoved = "52:54:00:00:00:03"
	macNew     = "52:54:00:00:00:04"
	macPerson  = "52:54:00:00:00:99"
)

// portsInIronic are the ports of the host's node; true for those that it boots from.
func (w *world) portsInIronic() map[string]bool {
	w.t.Helper()
	request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://ironic.test/v1/ports?node_uuid="+w.host().Status.Provisioning.ID, http.NoBody)
	w.g.Expect(err).NotTo(HaveOccurred())
	answer, err := w.sim.Transport().RoundTrip(request)
	w.g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	var list struct {
		Ports []struct {
			Address string `json:"address"`
			PXE     bool   `json:"pxe_enabled"`
		} `json:"ports"`
	}
	w.g.Expect(json.NewDecoder(answer.Body).Decode(&list)).To(Succeed())
	ports := map[string]bool{}
	for _, p := range list.Ports {
		ports[p.Address] = p.PXE
	}
	return ports
}

// withNICs is the result of an inspection from virtual media: Ironic is not told that
// the machine has booted from any network.
func withNICs(macs ...string) map[string]any {
	nics, seen := []any{}, map[string]any{}
	for i, mac := range macs {
		name := "eno" + string(rune('1'+i))
		nics = append(nics, map[string]any{"name": name, "mac_address": mac})
		seen[name] = map[string]any{"mac_address": mac, "pxe_enabled": false}
	}
	return map[string]any{
		"inventory": map[string]any{
			"interfaces": nics, "cpu": map[string]any{"architecture": "x86_64", "count": 4}, "memory": map[string]any{"physical_mb": 4096},
		},
		"plugin_data": map[string]any{"all_interfaces": seen},
	}
}

// TestPortsFollowTheMachine: after a new inspection the ports of network interfaces
// that are gone go as well. Those that inspection never knew of are somebody's own.
// The machine boots from its boot MAC address, whatever inspection has made of it.
func TestPortsFollowTheMachine(t *testing.T) {
	refused := func(status int, text string) func(*http.Request) *simulator.Fault {
		return func(r *http.Request) *simulator.Fault {
			if r.Method != http.MethodDelete || !strings.HasPrefix(r.URL.Path, "/v1/ports/") {
				return nil
			}
			return &simulator.Fault{Status: status, Text: text}
		}
	}
	var cuts atomic.Int32
	for name, c := range map[string]struct {
		fault func(*http.Request) *simulator.Fault
		stays bool
	}{
		"as asked": {},
		"an answer that is lost": {fault: func(r *http.Request) *simulator.Fault {
			if r.Method != http.MethodDelete || cuts.Add(1) > 1 {
				return nil
			}
			return &simulator.Fault{Cut: true, AfterHandling: true}
		}},
		"Ironic holds on to it": {refused(http.StatusConflict, "Cannot delete the port x as it is bound to VIF y for use."), true},
		"Ironic refuses":        {refused(http.StatusBadRequest, "not allowed"), true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				cuts.Store(0)
				var again atomic.Bool
				o := simulator.Options{Inventory: func(simulator.Node) map[string]any {
					if again.Load() {
						return withNICs(macBoot, macStays, macNew)
					}
					return withNICs(macBoot, macStays, macRemoved)
				}}
				w := newWorld(t, o, policy.Settings{}, nil)
				defer w.stop()
				w.untilAtRest()
				g.Expect(w.portsInIronic()).To(Equal(map[string]bool{macBoot: true, macStays: false, macRemoved: false}))
				person, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(person.AddPorts(t.Context(), w.host().Status.Provisioning.ID, []ironic.Port{{MAC: macPerson}})).Error().NotTo(HaveOccurred())
				again.Store(true)
				w.sim.Intercept(c.fault)
				w.annotate(names.Inspect, "")
				w.until("inspected again", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
					_, asked := h.Annotations[names.Inspect]
					return !asked && h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
				})
				want := map[string]bool{macBoot: true, macStays: false, macNew: false, macPerson: false}
				if c.stays {
					want[macRemoved] = false
				}
				g.Expect(w.portsInIronic()).To(Equal(want))
				g.Expect(w.host().Status.ErrorCount).To(BeZero())
			})
		})
	}
}

// TestAHeldHostKeepsItsPorts: another host with a card of the same address is none of its business.
func TestAHeldHostKeepsItsPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{Inventory: shareACard}, policy.Settings{}, nil)
		defer func() { w.stop() }()
		w.untilAtRest()
		w.annotate(names.Hold, "")
		let(time.Minute)
		before := w.portsInIronic()
		first := w.key
		w.key = w.another("host-2", otherMAC)
		w.untilState(metal3.StateAvailable, 10*time.Minute)
		w.key = first
		w.g.Expect(w.portsInIronic()).To(Equal(before), "nothing is asked of Ironic that concerns a host on hold")
	})
}
