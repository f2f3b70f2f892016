package contract

import (
	"net/http"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

func register1(w *IronicWorld) { w.Expect(w.Manageable().PowerState).To(Equal(ironic.PowerOff)) }

func withoutRegistry(w *IronicWorld) {
	s := w.settings(w.Manageable())
	w.Expect(s).To(HaveKeyWithValue(setting, And(HaveField("Value", "Enabled"), HaveField("AttributeType", ""))), "the value without its description")
}

func withoutBIOS(w *IronicWorld) {
	n := w.Manageable()
	w.Expect(w.settings(n)).To(BeEmpty())
	w.Expect(w.failed(n, ironic.ApplyBIOSStep(map[string]any{setting: "Disabled"}))).To(ContainSubstring("BIOS settings are not supported"))
}

// notApplied: Ironic looks again and again, until its patience with cleaning ends
// (clean_callback_timeout, half an hour).
func notApplied(w *IronicWorld) {
	n := w.Manageable()
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{
			Target: ironic.TargetClean, CleanSteps: []ironic.Step{ironic.ApplyBIOSStep(map[string]any{setting: "Disabled"})},
		})
	})
	w.Until(n.UUID, ironic.StateCleanWait)
	w.Eventually(w.redfish().pending, w.Patience, w.Look).ShouldNot(ContainSubstring(setting), "the machine has booted")
	w.Consistently(func() (ironic.ProvisionState, error) {
		now, err := w.Gateway.Get(w.T.Context(), n.UUID)
		return now.ProvisionState, err
	}, 10*time.Second, w.Look).Should(Equal(ironic.StateCleanWait))
}

func withoutRAIDTypes(w *IronicWorld) {
	n := w.Update(w.Manageable(), ironic.Desired{Interfaces: ironic.Interfaces{RAID: "redfish"}})
	made := w.redfish().create(map[string]any{"RAIDType": "RAID1", "Links": w.redfish().drives(2), applyTime: "Immediate"})
	w.Expect(made.status).To(Equal(http.StatusCreated))
	n = w.clean(n, ironic.StateManageable, deleteVolumes)
	w.Expect(w.redfish().volumes()).To(HaveLen(1), "Ironic takes it for a plain disk and leaves it alone")
	w.Expect(n.RAIDConfig).To(HaveKeyWithValue("logical_disks", BeEmpty()))
}

func withoutLocation(w *IronicWorld) {
	w.Expect(w.failed(w.Manageable(), updateFirmware("bios", biosImage))).To(ContainSubstring("Location"))
}

func taskFails(w *IronicWorld) {
	w.Expect(w.failed(w.Manageable(), updateFirmware("bios", biosImage))).To(ContainSubstring("Firmware update failed"))
}

// taskFailsUnseen: of a BMC's own update Ironic looks at the version only, and
// takes one that stays for an update that was not needed.
func taskFailsUnseen(w *IronicWorld) {
	n := w.clean(w.Manageable(), ironic.StateManageable, updateFirmware("bmc", bmcImage))
	w.Expect(w.version(n, "bmc")).To(Equal("1.0.0"))
}

func firmwareStays(w *IronicWorld) {
	n := w.clean(w.Manageable(), ironic.StateManageable, updateFirmware("bios", biosImage))
	w.Expect(w.version(n, "bios")).To(Equal("1.0.0"), "Ironic believes the task")
}

func withoutSecureBoot(w *IronicWorld) {
	n := w.Manageable()
	w.Expect(n.SecureBoot).To(BeNil())
	api := ironictest.Ironic{URL: w.Hall.Ironic.URL, HTTP: w.Hall.Ironic.HTTPClient()}
	w.Eventually(func() error { // busy while the node is locked
		return api.Call(w.T.Context(), http.MethodPut, "/v1/nodes/"+n.UUID+"/states/secure_boot", map[string]any{"target": true}, nil)
	}, w.Patience, w.Look).Should(Succeed())
	w.Eventually(func() (*ironic.Node, error) { return w.Gateway.Get(w.T.Context(), n.UUID) }, w.Patience, w.Look).Should(
		HaveField("LastError", ContainSubstring("not support")))
}
