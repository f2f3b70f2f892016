package host

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// shows tells from now on in which version of all that is stored something was first
// shown to somebody who watches; 0 for not yet.
func (w *world) shows(list client.ObjectList, ok func(client.Object) bool) (version func() uint64) {
	w.t.Helper()
	watching, err := w.kube.Watch(w.t.Context(), list)
	w.g.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(watching.Stop)
	found := make(chan uint64, 1)
	go func() {
		for event := range watching.ResultChan() {
			o, is := event.Object.(client.Object)
			if !is || event.Type == watch.Deleted || !ok(o) {
				continue
			}
			at, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64) // the server's are numbers
			select {
			case found <- at:
			default:
			}
		}
	}()
	return func() uint64 {
		select {
		case at := <-found:
			return at
		default:
			return 0
		}
	}
}

// TestFirmwareResourcesExistBeforeAHostIsRegistered: whoever waits for the end of the
// registration finds them, and a machine that has nothing to tell costs nothing.
func TestFirmwareResourcesExistBeforeAHostIsRegistered(t *testing.T) {
	every := func(client.Object) bool { return true }
	registered := func(o client.Object) bool {
		h, is := o.(*metal3.BareMetalHost)
		return is && h.Status.Provisioning.State != policy.StateNone && h.Status.Provisioning.State != metal3.StateRegistering
	}
	const idrac, ipmi = "idrac-virtualmedia://bmc.test/redfish/v1/Systems/1", "ipmi://192.0.2.1"
	bios := []map[string]any{{"name": "BootMode", "value": "Bios", "attribute_type": "Enumeration", "allowable_values": []any{"Bios", "Uefi"}}}
	parts := []map[string]any{{"component": "bios", "initial_version": "1", "current_version": "1", "created_at": "2026-01-01T00:00:00Z", "updated_at": nil}}
	for name, c := range map[string]struct {
		address              string
		external             bool
		options              simulator.Options
		settings, components bool
	}{
		"settings and components":                 {address: idrac, options: simulator.Options{BIOS: bios, Firmware: parts}, settings: true, components: true},
		"settings alone":                          {address: idrac, options: simulator.Options{BIOS: bios}, settings: true},
		"components alone":                        {address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/1", options: simulator.Options{Firmware: parts}, components: true},
		"a machine that is in use":                {address: idrac, external: true, options: simulator.Options{BIOS: bios, Firmware: parts}, settings: true, components: true},
		"nothing to tell":                         {address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/1"},
		"a kind of BMC that tells Ironic nothing": {address: ipmi, options: simulator.Options{BIOS: bios, Firmware: parts}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, c.options, policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.BMC.Address, h.Spec.ExternallyProvisioned = c.address, c.external
				})
				defer w.stop()
				host := w.shows(&metal3.BareMetalHostList{}, registered)
				settings, components := w.shows(&metal3.HostFirmwareSettingsList{}, every), w.shows(&metal3.HostFirmwareComponentsList{}, every)
				available := w.shows(&metal3.BareMetalHostList{}, func(o client.Object) bool {
					h, is := o.(*metal3.BareMetalHost)
					return is && h.Status.Provisioning.State == metal3.StateAvailable
				})
				listed := w.shows(&metal3.HostFirmwareComponentsList{}, func(o client.Object) bool {
					f, is := o.(*metal3.HostFirmwareComponents)
					return is && len(f.Status.Components) > 0
				})
				described := w.shows(&metal3.HostFirmwareSettingsList{}, func(o client.Object) bool {
					s, is := o.(*metal3.HostFirmwareSettings)
					return is && s.Status.Settings["BootMode"] == "Bios"
				})
				w.until("registered", time.Minute, func(h *metal3.BareMetalHost) bool { return registered(h) })
				if !c.external {
					w.untilState(metal3.StateAvailable, time.Minute)
				}
				let(time.Minute)
				end, made := host(), map[string]uint64{"settings": settings(), "components": components()}
				for kind, wanted := range map[string]bool{"settings": c.settings, "components": c.components} {
					if wanted {
						g.Expect(made[kind]).To(And(BeNumerically(">", 0), BeNumerically("<", end)), kind)
					} else {
						g.Expect(made[kind]).To(BeZero(), kind)
					}
				}
				told := map[string]uint64{"settings": described(), "components": listed()}
				g.Expect(told["settings"] > 0).To(Equal(c.settings), "data follows")
				g.Expect(told["components"] > 0).To(Equal(c.components))
				if rest := available(); rest > 0 {
					g.Expect(told).To(HaveEach(BeNumerically("<", rest)), "and is there before the host is available")
				}
				if !c.settings && !c.components {
					g.Expect(w.api.Counts()).NotTo(HaveKey(And(ContainSubstring("hostfirmware"), Not(HavePrefix("watch ")))), "nothing is written")
				}
				most := 1
				if c.components {
					most = 2
				}
				g.Expect(w.sim.Counts()["GET /v1/nodes/{node}/firmware"]).To(BeNumerically("<=", most))
			})
		})
	}
}

// TestAnIronicThatTellsNothingOfFirmwareHoldsNobodyUp: without a wish, a host goes on.
func TestAnIronicThatTellsNothingOfFirmwareHoldsNobodyUp(t *testing.T) {
	for name, status := range map[string]int{"refused": http.StatusNotAcceptable, "not found": http.StatusNotFound} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.BMC.Address = "idrac-virtualmedia://bmc.test/redfish/v1/Systems/1"
				})
				defer w.stop()
				w.sim.Intercept(func(r *http.Request) *simulator.Fault {
					if strings.HasSuffix(r.URL.Path, "/bios") || strings.HasSuffix(r.URL.Path, "/firmware") {
						return &simulator.Fault{Status: status, Text: "no such thing"}
					}
					return nil
				})
				for _, object := range []client.Object{
					&metal3.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name}, Spec: metal3.HostFirmwareSettingsSpec{Settings: metal3.DesiredSettingsMap{}}},
					&metal3.HostFirmwareComponents{ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: lab.Name}, Spec: metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{}}},
				} {
					w.g.Expect(w.kube.Create(t.Context(), object)).To(Succeed())
				}
				w.untilState(metal3.StateAvailable, time.Minute)
				w.g.Expect(w.host().Status.ErrorType).To(BeEmpty())
			})
		})
	}
}
