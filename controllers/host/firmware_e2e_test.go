//go:build e2e

package host_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// TestFirmwareOnTheRealIronic prepares a host with a mirrored volume, BIOS
// settings and a firmware update on a real Ironic and a simulated BMC, installs it,
// and changes its settings and firmware again in a reboot.
func TestFirmwareOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startSimulated(t)
	images := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 4096)) }))
	t.Cleanup(images.Close)
	meta := metav1.ObjectMeta{Namespace: "default", Name: "real"}
	g.Expect(r.kube.Create(t.Context(), &metal3.HostFirmwareSettings{ObjectMeta: meta, Spec: metal3.HostFirmwareSettingsSpec{
		Settings: metal3.DesiredSettingsMap{"SysProfile": intstr.FromString("DenseConfig"), "PowerDelaySeconds": intstr.FromInt32(90), "QuietBoot": intstr.FromString("false")},
	}})).To(Succeed())
	g.Expect(r.kube.Create(t.Context(), &metal3.HostFirmwareComponents{ObjectMeta: meta, Spec: metal3.HostFirmwareComponentsSpec{
		Updates: []metal3.FirmwareUpdate{{Component: "bios", URL: images.URL + "/bios-2.1.0.bin"}},
	}})).To(Succeed())
	r.create(t, func(h *metal3.BareMetalHost) {
		h.Spec.RAID = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root", SizeGibibytes: new(100)}}}
	})
	r.until(t, "prepared", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorType == ""
	})
	h := r.host(t)
	g.Expect(h.Status.Provisioning.RAID).To(Equal(h.Spec.RAID))
	g.Expect(h.Status.ErrorCount).To(BeZero())
	g.Expect(r.volumes(t)).To(ContainElement("RAID1"))
	settings := r.settings(t)
	g.Expect(settings.Status.Settings).To(And(HaveKeyWithValue("SysProfile", "DenseConfig"), HaveKeyWithValue("PowerDelaySeconds", "90")))
	g.Expect(settings.Status.Settings).NotTo(HaveKey("SetupPassword"))
	schema := &metal3.FirmwareSchema{}
	g.Expect(r.kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: settings.Status.FirmwareSchema.Name}, schema)).To(Succeed())
	g.Expect(schema.Spec.Schema["SysProfile"].AllowableValues).To(ContainElement("Custom"))
	g.Expect(r.components(t).Status.Components).To(ContainElement(And(HaveField("Component", "bios"), HaveField("CurrentVersion", "2.1.0"))))

	r.edit(t, func(h *metal3.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
	})
	r.until(t, "provisioned", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
	})
	g.Expect(r.kube.Create(t.Context(), &metal3.HostUpdatePolicy{ObjectMeta: meta, Spec: metal3.HostUpdatePolicySpec{
		FirmwareSettings: metal3.HostUpdatePolicyOnReboot, FirmwareUpdates: metal3.HostUpdatePolicyOnReboot,
	}})).To(Succeed())
	settings.Spec.Settings["SysProfile"] = intstr.FromString("Custom")
	g.Expect(r.kube.Update(t.Context(), settings)).To(Succeed())
	components := r.components(t)
	components.Spec.Updates = []metal3.FirmwareUpdate{{Component: "bios", URL: images.URL + "/bios-2.2.0.bin"}}
	g.Expect(r.kube.Update(t.Context(), components)).To(Succeed())
	r.annotate(t, names.Reboot, `{"mode":"hard"}`)
	r.until(t, "in servicing", func(h *metal3.BareMetalHost) bool {
		return h.Status.OperationalStatus == metal3.OperationalStatusServicing
	})
	r.until(t, "serviced and on", func(h *metal3.BareMetalHost) bool {
		return h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn &&
			r.settings(t).Status.Settings["SysProfile"] == "Custom"
	})
	g.Expect(r.components(t).Status.Components).To(ContainElement(And(HaveField("Component", "bios"), HaveField("CurrentVersion", "2.2.0"))))
	g.Expect(r.host(t).Status.Provisioning.State).To(Equal(metal3.StateProvisioned), "what runs on it was left alone")
	g.Expect(r.volumes(t)).To(ContainElement("RAID1"))
}

// TestWishDuringThePowerOnOfTheRealIronic: a firmware wish and a reboot annotation
// reach an externally provisioned host in the moment in which its machine is started.
// It is rebooted all the same, and serviced in between.
func TestWishDuringThePowerOnOfTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startSimulated(t)
	r.create(t, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Online = true, false })
	r.until(t, "adopted", func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateExternallyProvisioned && h.Status.ErrorType == ""
	})
	settings := func() *metal3.HostFirmwareSettings {
		s := &metal3.HostFirmwareSettings{}
		if r.kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "real"}, s) != nil {
			return nil
		}
		return s
	}
	g.Eventually(settings, patience).Should(And(Not(BeNil()), HaveField("Status.Settings", HaveKey("SysProfile"))))
	g.Expect(r.kube.Create(t.Context(), &metal3.HostUpdatePolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "real"}, Spec: metal3.HostUpdatePolicySpec{FirmwareSettings: metal3.HostUpdatePolicyOnReboot},
	})).To(Succeed())
	var once atomic.Bool
	arrives := func(q *http.Request) {
		if q.Method != http.MethodPut || !strings.HasSuffix(q.URL.Path, "/states/power") || !once.CompareAndSwap(false, true) {
			return
		}
		s := settings()
		s.Spec.Settings = metal3.DesiredSettingsMap{"SysProfile": intstr.FromString("DenseConfig")}
		if err := r.kube.Update(t.Context(), s); err != nil {
			t.Errorf("wish: %v", err)
		}
		r.annotate(t, names.Reboot, `{"mode":"hard"}`)
	}
	r.asks.Store(&arrives)
	r.edit(t, func(h *metal3.BareMetalHost) { h.Spec.Online = true })
	r.until(t, "serviced and on", func(h *metal3.BareMetalHost) bool {
		_, asked := h.Annotations[names.Reboot]
		return !asked && h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn &&
			settings().Status.Settings["SysProfile"] == "DenseConfig"
	})
}

// startSimulated is a world whose machine has a simulated BMC.
func startSimulated(t *testing.T) *realWorld {
	t.Helper()
	o := ironictest.HallOptions{Redfish: &lab.RedfishOptions{Delays: simulator.Delays{Task: 2 * time.Second, POST: time.Second}}}
	return startRealOn(t, o, func(h *ironictest.Hall) *ironictest.Machine { return h.AddSimulated(t, simulator.System{}) })
}

// volumes are the RAID types of the machine's volumes, as its BMC shows them.
func (r *realWorld) volumes(t *testing.T) []string {
	t.Helper()
	var collection struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	r.redfish(t, "/redfish/v1/Systems/"+r.machine.System+"/Storage/RAID.1/Volumes", &collection)
	var kinds []string
	for _, member := range collection.Members {
		var volume struct{ RAIDType string }
		r.redfish(t, member.ID, &volume)
		kinds = append(kinds, volume.RAIDType)
	}
	return kinds
}

// redfish reads a resource of the machine's BMC.
func (r *realWorld) redfish(t *testing.T, path string, into any) {
	t.Helper()
	g := NewWithT(t)
	bmc := r.hall.Lab.Redfish
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, bmc.URL+path, http.NoBody)
	g.Expect(err).NotTo(HaveOccurred())
	request.SetBasicAuth(bmc.User, bmc.Password)
	answer, err := bmc.HTTP.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	g.Expect(json.NewDecoder(answer.Body).Decode(into)).To(Succeed())
}

func (r *realWorld) settings(t *testing.T) *metal3.HostFirmwareSettings {
	t.Helper()
	s := &metal3.HostFirmwareSettings{}
	NewWithT(t).Expect(r.kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "real"}, s)).To(Succeed())
	return s
}

func (r *realWorld) components(t *testing.T) *metal3.HostFirmwareComponents {
	t.Helper()
	c := &metal3.HostFirmwareComponents{}
	NewWithT(t).Expect(r.kube.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "real"}, c)).To(Succeed())
	return c
}
