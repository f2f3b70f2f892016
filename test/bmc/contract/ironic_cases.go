package contract

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

func register(w *IronicWorld) {
	n := w.Manageable()
	w.Expect(n.PowerState).To(Equal(ironic.PowerOff), "known since the verification")
	wrong, _ := w.Enrol()
	w.Update(wrong, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": "wrong"}, SendSecrets: true})
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), wrong.UUID, ironic.Transition{Target: ironic.TargetManage})
	})
	w.Eventually(func() (*ironic.Node, error) { return w.Gateway.Get(w.T.Context(), wrong.UUID) }, w.Patience, w.Look).Should(
		And(HaveField("ProvisionState", ironic.StateEnroll), HaveField("LastError", Not(BeEmpty()))), "the BMC refuses the credentials")
}

// settings reads what Ironic knows of the BIOS settings, by name.
func (w *IronicWorld) settings(n *ironic.Node) map[string]ironic.BIOSSetting {
	w.T.Helper()
	list, err := w.Gateway.BIOS(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	byName := map[string]ironic.BIOSSetting{}
	for _, s := range list {
		byName[s.Name] = s
	}
	return byName
}

// version reads what Ironic knows of a component's version.
func (w *IronicWorld) version(n *ironic.Node, component string) string {
	w.T.Helper()
	list, err := w.Gateway.Firmware(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	for _, c := range list {
		if c.Component == component {
			return c.CurrentVersion
		}
	}
	return ""
}

func registerReads(w *IronicWorld) {
	n := w.Manageable()
	s := w.settings(n)
	w.Expect(s).To(HaveKeyWithValue(setting, And(
		HaveField("Value", "Enabled"), HaveField("AttributeType", "Enumeration"), HaveField("AllowableValues", ConsistOf("Enabled", "Disabled")),
		HaveField("ReadOnly", HaveValue(BeFalse())))))
	w.Expect(s).To(HaveKeyWithValue(number, And(
		HaveField("AttributeType", "Integer"), HaveField("LowerBound", HaveValue(Equal(60))), HaveField("UpperBound", HaveValue(Equal(240))))))
	w.Expect(s).To(HaveKeyWithValue(readOnly, HaveField("ReadOnly", HaveValue(BeTrue()))))
	w.Expect(w.version(n, "bios")).To(Equal("1.0.0"))
	w.Expect(w.version(n, "bmc")).To(Equal("1.0.0"))
}

func ironicPower(w *IronicWorld) {
	n := w.Manageable()
	for _, step := range []struct {
		target ironic.PowerState
		after  ironic.PowerState
	}{
		{ironic.PowerOn, ironic.PowerOn},
		{ironic.PowerRebooting, ironic.PowerOn},
		{ironic.PowerSoftOff, ironic.PowerOff},
		{ironic.PowerOn, ironic.PowerOn},
		{ironic.PowerOff, ironic.PowerOff},
	} {
		before := w.Machine.PowerChanges()
		w.Accepted(func() error {
			return w.Gateway.SetPower(w.T.Context(), n.UUID, ironic.PowerRequest{Target: step.target})
		})
		w.Eventually(func() (*ironic.Node, error) { return w.Gateway.Get(w.T.Context(), n.UUID) }, w.Patience, w.Look).Should(
			And(HaveField("PowerState", step.after), HaveField("TargetPowerState", ironic.PowerUnknown), HaveField("Reservation", "")), string(step.target))
		w.Expect(w.Machine.PowerChanges()).To(BeNumerically(">", before), "the machine was switched")
	}
}

func ironicMedia(w *IronicWorld) {
	n := w.Manageable()
	images := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { // Ironic looks whether it is there
		http.ServeContent(rw, r, "data.iso", time.Time{}, bytes.NewReader(make([]byte, 4096)))
	}))
	w.T.Cleanup(images.Close)
	w.Accepted(func() error { return w.Gateway.AttachMedia(w.T.Context(), n.UUID, images.URL+"/data.iso") })
	shown := func(want bool) {
		w.T.Helper()
		w.Eventually(func() (bool, error) {
			devices, err := w.Gateway.VirtualMedia(w.T.Context(), n.UUID)
			for _, d := range devices {
				if d.Inserted {
					return true, err
				}
			}
			return false, err
		}, w.Patience, w.Look).Should(Equal(want))
	}
	shown(true)
	w.Accepted(func() error { return w.Gateway.DetachMedia(w.T.Context(), n.UUID) })
	shown(false)
}

func ironicSecureBoot(w *IronicWorld) {
	n := w.Manageable()
	api := ironictest.Ironic{URL: w.Hall.Ironic.URL, HTTP: w.Hall.Ironic.HTTPClient()}
	for _, enable := range []bool{true, false} {
		w.Eventually(func() error { // busy while the node is locked
			return api.Call(w.T.Context(), http.MethodPut, "/v1/nodes/"+n.UUID+"/states/secure_boot", map[string]any{"target": enable}, nil)
		}, w.Patience, w.Look).Should(Succeed())
		w.Eventually(func() (*ironic.Node, error) { return w.Gateway.Get(w.T.Context(), n.UUID) }, w.Patience, w.Look).Should(
			And(HaveField("SecureBoot", HaveValue(Equal(enable))), HaveField("Reservation", "")))
	}
}

func applyBIOS(w *IronicWorld) {
	n := w.Manageable()
	n = w.clean(n, ironic.StateManageable, ironic.ApplyBIOSStep(map[string]any{setting: "Disabled", number: "90", yesNo: "false"}))
	w.Expect(w.redfish().bios().Attributes).To(And(HaveKeyWithValue(setting, "Disabled"), HaveKeyWithValue(number, 90.0), HaveKeyWithValue(yesNo, false)))
	w.Expect(w.settings(n)).To(And(HaveKeyWithValue(setting, HaveField("Value", "Disabled")), HaveKeyWithValue(number, HaveField("Value", "90"))))
}

func refuseBIOS(w *IronicWorld) {
	w.Expect(w.failed(w.Manageable(), ironic.ApplyBIOSStep(map[string]any{number: "7"}))).To(ContainSubstring(number))
}

func factoryReset(w *IronicWorld) {
	n := w.Manageable()
	n = w.clean(n, ironic.StateManageable, ironic.ApplyBIOSStep(map[string]any{setting: "Disabled"}))
	w.clean(n, ironic.StateManageable, ironic.Step{Interface: "bios", Name: "factory_reset"})
	w.Expect(w.redfish().bios().Attributes).To(HaveKeyWithValue(setting, "Enabled"))
}

// asTask is a machine whose storage works at once, but as a task.
func asTask() simulator.System {
	list := simulator.DefaultStorage()
	list[0].ApplyTimes, list[0].Tasks = []simulator.ApplyTime{simulator.Immediate}, true
	return simulator.System{Storage: list}
}

// Steps that the operator of hosts asks for.
var (
	deleteVolumes = ironic.Step{Interface: "raid", Name: "delete_configuration"}
	createVolumes = ironic.Step{Interface: "raid", Name: "create_configuration"}
)

func createRAID(w *IronicWorld) {
	n := w.Update(w.Manageable(), ironic.Desired{Interfaces: ironic.Interfaces{RAID: "redfish"}})
	target := []ironic.LogicalDisk{{Level: "1", Name: "root", Root: true, SizeGiB: 100}, {Level: "0", Name: "data", SizeGiB: 200, NumberOfDisks: 1}}
	w.Accepted(func() error { return w.Gateway.SetRAID(w.T.Context(), n.UUID, target) })
	n = w.clean(n, ironic.StateManageable, deleteVolumes, createVolumes)
	w.Expect(w.redfish().volumes()).To(ConsistOf(
		And(HaveField("Name", "root"), HaveField("RAIDType", BeEquivalentTo("RAID1")), HaveField("CapacityBytes", HaveValue(Equal(100<<30)))),
		And(HaveField("Name", "data"), HaveField("RAIDType", BeEquivalentTo("RAID0")), HaveField("CapacityBytes", HaveValue(Equal(200<<30)))),
	))
	n, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(n.RAIDConfig).To(HaveKeyWithValue("logical_disks", ConsistOf(
		And(HaveKeyWithValue("raid_level", "1"), HaveKeyWithValue("name", "root")), HaveKeyWithValue("raid_level", "0"))), "as Ironic reads it back")
	n = w.clean(n, ironic.StateManageable, deleteVolumes)
	w.Expect(w.redfish().volumes()).To(BeEmpty())
	w.Expect(n.RAIDConfig).To(HaveKeyWithValue("logical_disks", BeEmpty()))
}

func ironicUpdateBIOS(w *IronicWorld) {
	n := w.clean(w.Manageable(), ironic.StateManageable, updateFirmware("bios", biosImage))
	w.Expect(w.redfish().System().BiosVersion).To(Equal("2.1.0"))
	w.Expect(w.version(n, "bios")).To(Equal("2.1.0"))
}

func ironicUpdateBMC(w *IronicWorld) {
	n := w.clean(w.Manageable(), ironic.StateManageable, updateFirmware("bmc", bmcImage))
	w.Expect(w.redfish().Manager().FirmwareVersion).To(Equal("7.10"))
	w.Expect(w.version(n, "bmc")).To(Equal("7.10"))
}

// withNIC is a machine with a network adapter that has firmware.
func withNIC() simulator.System {
	return simulator.System{Firmware: simulator.Firmware{NICs: map[string]string{"NIC1": "20.0.0"}}}
}

func ironicUpdateNIC(w *IronicWorld) {
	n := w.Manageable()
	w.Expect(w.version(n, "nic:NIC1")).To(Equal("20.0.0"))
	n = w.clean(n, ironic.StateManageable, updateFirmware("nic:NIC1", nicImage))
	w.Expect(w.version(n, "nic:NIC1")).To(Equal("22.5.0"))
}

func ironicUpdateFails(w *IronicWorld) {
	w.Expect(w.failed(w.Manageable(), updateFirmware("bios", strangeFile))).To(ContainSubstring("readme.txt"))
}

func subscribeEvents(w *IronicWorld) {
	n := w.Manageable()
	l := w.redfish().listen(0)
	want := ironic.Subscription{Destination: l.URL + "/" + n.UUID, Context: "contract", Headers: map[string]string{"X-Token": "hush"}}
	id, err := w.Gateway.CreateSubscription(w.T.Context(), n.UUID, want)
	w.Expect(err).NotTo(HaveOccurred())
	again, err := w.Gateway.CreateSubscription(w.T.Context(), n.UUID, want)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(again).To(Equal(id), "found instead of made twice")
	w.Expect(w.bmcs().Emit(w.Machine.System, simulator.Event{Type: string(schemas.AlertEventType), Severity: "Warning", Message: "Fan 1 stands still."})).To(Succeed())
	w.Eventually(func() []string { return l.messages(w.Machine.System) }, w.Patience, w.Look).Should(ContainElement("Fan 1 stands still."))
	w.Expect(l.tokens).To(HaveEach("hush"))
	w.Expect(w.Gateway.DeleteSubscription(w.T.Context(), n.UUID, id)).To(Succeed())
	w.Expect(w.Gateway.DeleteSubscription(w.T.Context(), n.UUID, id)).To(Succeed(), "gone already")
}

func inspectByBMC(w *IronicWorld) {
	n := w.Update(w.Manageable(), ironic.Desired{Interfaces: ironic.Interfaces{Inspect: "redfish"}})
	w.Do(n, ironic.Transition{Target: ironic.TargetInspect}, ironic.StateManageable)
	i, err := w.Gateway.Inventory(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(i.MemoryMiB).To(BeEquivalentTo(65536))
	w.Expect(i.CPU.Architecture).To(Equal("x86_64"))
	w.Expect(i.NICs).To(ContainElement(HaveField("MAC", w.Machine.MAC)))
	w.Expect(i.Disks).To(HaveLen(4))
}

// updateFirmware is the clean step that flashes a component from a URL.
func updateFirmware(component, url string) ironic.Step {
	return ironic.Step{Interface: "firmware", Name: "update", Args: map[string]any{"settings": []map[string]any{{"component": component, "url": url}}}}
}
