package contract

import (
	"net/http"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

func (w *World) biosPath() string { return w.systemPath() + "/Bios" }

// registry reads the attribute registry that is served.
func (w *World) registry() map[string]any {
	w.T.Helper()
	return w.get("/redfish/v1/RegistryStore/" + simulator.DefaultBIOS().Registry.ID)
}

// missing expects links to be absent from a resource, and addresses not to be found.
func (w *World) missing(quirk simulator.Quirk, parent, name string, below ...string) {
	w.T.Helper()
	w.Expect(w.get(parent)).To(HaveKey(name))
	w.Quirk(quirk, simulator.Always)
	w.Expect(w.get(parent)).NotTo(HaveKey(name))
	for _, address := range below {
		w.Expect(w.status(http.MethodGet, address, nil)).To(Equal(http.StatusNotFound), address)
	}
}

// settingsQuirks are the cases of BIOS settings and of what is a manager's.
var settingsQuirks = map[simulator.Quirk]func(w *World){
	simulator.BIOSFails: func(w *World) {
		w.Quirk(simulator.BIOSFails, simulator.Always)
		w.refusal(http.StatusInternalServerError, http.MethodGet, w.biosPath(), nil)
	},
	simulator.BIOSResetOnly: func(w *World) {
		w.missing(simulator.BIOSResetOnly, w.biosPath(), "Attributes")
		w.Expect(w.get(w.biosPath())).To(And(HaveKey("Actions"), Not(HaveKey("@Redfish.Settings"))))
	},
	simulator.BIOSSettingsNull: func(w *World) {
		w.Quirk(simulator.BIOSSettingsNull, simulator.Always)
		w.Expect(w.get(w.biosPath())).To(HaveKeyWithValue("@Redfish.Settings", BeNil()))
	},
	simulator.BIOSNoApplyTimes: func(w *World) {
		w.Quirk(simulator.BIOSNoApplyTimes, simulator.Always)
		w.Expect(at(w.get(w.biosPath()), "@Redfish.Settings")).To(And(HaveKey("SettingsObject"), Not(HaveKey("SupportedApplyTimes"))))
	},
	simulator.BIOSNeedsApplyTime: func(w *World) {
		w.Quirk(simulator.BIOSNeedsApplyTime, simulator.Always)
		w.Expect(w.set()).To(Equal(http.StatusOK))
		w.Boots()
		w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Enabled"))
		w.Expect(w.pending()).To(ContainSubstring(setting))
		w.accepted(http.MethodPatch, w.biosPath()+"/Settings", map[string]any{
			"Attributes": map[string]any{setting: "Disabled"}, "@Redfish.SettingsApplyTime": map[string]any{"ApplyTime": "OnReset"},
		})
		w.Boots()
		w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Disabled"))
	},
	simulator.BIOSPendingCopy: func(w *World) {
		w.Quirk(simulator.BIOSPendingCopy, simulator.Always)
		w.Expect(w.set()).To(Equal(http.StatusOK))
		w.Expect(at(w.get(w.biosPath()+"/Settings"), "Attributes")).To(And(HaveKeyWithValue(setting, "Disabled"), HaveKeyWithValue(number, 60.0)))
	},
	simulator.BIOSPendingBare: func(w *World) {
		w.Quirk(simulator.BIOSPendingBare, simulator.Always)
		w.Expect(w.get(w.biosPath() + "/Settings")).NotTo(HaveKey("Attributes"))
		w.Expect(w.Simulator.SetPending(w.ID, map[string]any{setting: "Disabled"})).To(Succeed())
		w.Expect(w.get(w.biosPath() + "/Settings")).To(HaveKey("Attributes"))
	},
	simulator.BIOSPendingElsewhere: func(w *World) {
		w.Quirk(simulator.BIOSPendingElsewhere, simulator.Always)
		w.Expect(w.set()).To(Equal(http.StatusNotFound))
		address, _ := at(w.get(w.biosPath()), "@Redfish.Settings", "SettingsObject", "@odata.id").(string)
		w.Expect(address).To(HaveSuffix("/Bios/SD"))
		w.accepted(http.MethodPatch, address, map[string]any{"Attributes": map[string]any{setting: "Disabled"}}, "If-Match", w.tags(address)[0])
		w.Boots()
		w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Disabled"))
	},
	simulator.RegistryNegative: func(w *World) {
		w.Quirk(simulator.RegistryNegative, simulator.Always)
		w.Expect(at(w.registry(), "RegistryEntries", "Attributes")).To(ContainElement(HaveKeyWithValue("LowerBound", -1.0)))
	},
	simulator.RegistryOther: func(w *World) {
		w.Quirk(simulator.RegistryOther, simulator.Always)
		named, _ := w.get(w.biosPath())["AttributeRegistry"].(string)
		w.Expect(named).NotTo(Equal(simulator.DefaultBIOS().Registry.ID))
		w.Expect(named[:10]).To(Equal(simulator.DefaultBIOS().Registry.ID[:10]))
		w.Expect(w.members("/redfish/v1/Registries")).To(ConsistOf(HaveSuffix(simulator.DefaultBIOS().Registry.ID)))
	},
	simulator.RegistryNull: func(w *World) {
		w.Quirk(simulator.RegistryNull, simulator.Always)
		w.Expect(w.get(w.biosPath())).To(HaveKeyWithValue("AttributeRegistry", BeNil()))
	},
	simulator.EnumDisplayNames: func(w *World) {
		w.Quirk(simulator.EnumDisplayNames, simulator.Always)
		w.Expect(at(w.get(w.biosPath()), "Attributes", setting)).To(Equal("The value Enabled"))
		w.Expect(at(w.registry(), "RegistryEntries", "Attributes")).To(ContainElement(HaveKeyWithValue("Value", ContainElement(
			And(HaveKeyWithValue("ValueName", "Enabled"), HaveKeyWithValue("ValueDisplayName", "The value Enabled"))))))
	},
	simulator.PendingJobBlocks: func(w *World) {
		w.Quirk(simulator.PendingJobBlocks, simulator.Always)
		w.Expect(w.set()).To(Equal(http.StatusOK), "nothing waits")
		id, err := w.Simulator.AddJob(w.ID, "waits")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.set()).To(Equal(http.StatusConflict))
		w.accepted(http.MethodDelete, "/redfish/v1/JobService/Jobs/"+id, nil)
		w.Expect(w.set()).To(Equal(http.StatusOK))
	},
	simulator.NoCertificateService: func(w *World) {
		w.missing(simulator.NoCertificateService, "/redfish/v1", "CertificateService", certificateService, certificateService+"/CertificateLocations")
	},
	simulator.CertificateAfterReset: func(w *World) {
		w.Quirk(simulator.CertificateAfterReset, simulator.Always)
		before := w.replaceCertificate()
		w.Expect(w.serial()).To(Equal(before))
		w.resetManager()
		w.Expect(w.serial()).NotTo(Equal(before))
	},
	simulator.CertificateCut: func(w *World) {
		w.Quirk(simulator.CertificateCut, 1)
		before := w.replaceCertificate()
		w.Expect(w.serial()).NotTo(Equal(before))
	},
	simulator.SameOffsetRefused: func(w *World) {
		w.Quirk(simulator.SameOffsetRefused, simulator.Always)
		now := time.Now().UTC().Format(time.RFC3339)
		w.refusal(refused, http.MethodPatch, w.managerPath(), map[string]any{"DateTime": now, "DateTimeLocalOffset": "+00:00"})
		w.accepted(http.MethodPatch, w.managerPath(), map[string]any{"DateTime": now})
	},
	simulator.FractionsRefused: func(w *World) {
		w.Quirk(simulator.FractionsRefused, simulator.Always)
		w.refusal(refused, http.MethodPatch, w.managerPath(), map[string]any{"DateTime": "2026-01-01T00:00:00.5Z"})
		w.accepted(http.MethodPatch, w.managerPath(), map[string]any{"DateTime": "2026-01-01T00:00:00Z"})
	},
	simulator.LogAbsentWhenEmpty: func(w *World) {
		w.Quirk(simulator.LogAbsentWhenEmpty, simulator.Always)
		entries := w.systemPath() + "/LogServices/SEL/Entries"
		w.refusal(http.StatusNotFound, http.MethodGet, entries, nil)
		w.Expect(w.Simulator.AddLog(w.ID, simulator.Entry{})).To(Succeed())
		w.get(entries)
	},
	simulator.LogNewestFirst: func(w *World) {
		w.Quirk(simulator.LogNewestFirst, simulator.Always)
		w.Expect(w.Simulator.AddLog(w.ID, simulator.Entry{Event: simulator.Event{Message: "first"}}, simulator.Entry{Event: simulator.Event{Message: "second"}})).To(Succeed())
		w.Expect(at(w.get(w.systemPath()+"/LogServices/SEL/Entries"), "Members", 0, "Message")).To(Equal("second"))
	},
	simulator.NoThermalSubsystem: func(w *World) {
		w.missing(simulator.NoThermalSubsystem, w.chassisPath(), "ThermalSubsystem", w.chassisPath()+"/ThermalSubsystem", w.chassisPath()+"/PowerSubsystem/PowerSupplies")
		w.Expect(w.get(w.chassisPath())).To(And(HaveKey("Thermal"), Not(HaveKey("PowerSubsystem"))))
	},
	simulator.HealthMissing: func(w *World) {
		w.Quirk(simulator.HealthMissing, simulator.Always)
		w.Expect(health(w.chassisPath()+"/PowerSubsystem/PowerSupplies/PSU1", w)).To(BeNil())
	},
}
