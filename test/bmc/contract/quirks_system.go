package contract

import (
	"context"
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// override changes the boot override of the system: name, value ....
func (w *World) override(values ...string) int {
	w.T.Helper()
	return w.status(http.MethodPatch, w.systemPath(), map[string]any{"Boot": pairs(values...)})
}

func pairs(values ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		m["BootSourceOverride"+values[i]] = values[i+1]
	}
	return m
}

// boot is a property of the boot override as it is shown.
func (w *World) boot(name string) any {
	w.T.Helper()
	return at(w.get(w.systemPath()), "Boot", "BootSourceOverride"+name)
}

// turn asks for a reset and returns the status.
func (w *World) turn(kind string) int {
	w.T.Helper()
	return w.status(http.MethodPost, w.systemPath()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": kind})
}

// set asks for another value of the BIOS setting and returns the status.
func (w *World) set() int {
	w.T.Helper()
	return w.status(http.MethodPatch, w.systemPath()+"/Bios/Settings", map[string]any{"Attributes": map[string]any{setting: "Disabled"}})
}

// systemQuirks are the cases of boot and power.
var systemQuirks = map[simulator.Quirk]func(w *World){
	simulator.BootInSettings: func(w *World) {
		w.Quirk(simulator.BootInSettings, simulator.Always)
		w.Expect(w.override("Target", "Cd")).To(Equal(refused))
		settings, _ := at(w.get(w.systemPath()), "@Redfish.Settings", "SettingsObject", "@odata.id").(string)
		w.Expect(w.get(settings)).To(HaveKey("Boot"))
		w.accepted(http.MethodPatch, settings, map[string]any{"Boot": pairs("Target", "Cd", "Enabled", "Once")})
		w.Expect(w.boot("Target")).To(Equal("Cd"))
	},
	simulator.SettingsWithoutBoot: func(w *World) {
		w.Quirk(simulator.SettingsWithoutBoot, simulator.Always)
		settings, _ := at(w.get(w.systemPath()), "@Redfish.Settings", "SettingsObject", "@odata.id").(string)
		w.Expect(w.get(settings)).NotTo(HaveKey("Boot"))
		w.refusal(refused, http.MethodPatch, settings, map[string]any{"Boot": pairs("Target", "Cd")})
		w.Expect(w.override("Target", "Cd")).To(Equal(accepted))
	},
	simulator.UsbCdOnly: func(w *World) {
		w.Quirk(simulator.UsbCdOnly, simulator.Always)
		w.Expect(w.boot("Target@Redfish.AllowableValues")).To(And(ContainElement("UsbCd"), Not(ContainElement("Cd"))))
		w.Expect(w.override("Target", "Cd")).To(Equal(refused))
		w.Expect(w.override("Target", "UsbCd")).To(Equal(accepted))
	},
	simulator.BootFallsToOnce: func(w *World) {
		w.Quirk(simulator.BootFallsToOnce, simulator.Always)
		w.Expect(w.override("Target", "Cd", "Enabled", "Continuous")).To(Equal(accepted))
		w.Expect(w.override("Target", "Pxe")).To(Equal(accepted))
		w.Expect(w.boot("Enabled")).To(Equal("Once"))
	},
	simulator.BootModeUnknown: func(w *World) {
		w.Quirk(simulator.BootModeUnknown, simulator.Always)
		w.Expect(w.boot("Mode")).To(BeNil())
		w.Expect(w.override("Target", "Cd", "Mode", "UEFI")).To(Equal(refused))
		w.Expect(w.override("Target", "Cd")).To(Equal(accepted))
	},
	simulator.BootModeFixed: func(w *World) {
		w.Quirk(simulator.BootModeFixed, simulator.Always)
		w.Expect(w.override("Target", "Cd", "Mode", "UEFI")).To(Equal(refused))
		w.Expect(w.boot("Mode")).To(Equal("UEFI"))
	},
	simulator.BootModeFollows: func(w *World) {
		w.Quirk(simulator.BootModeFollows, simulator.Always)
		w.Expect(w.override("Target", "Cd")).To(Equal(accepted))
		w.Expect(w.boot("Mode")).To(Equal("Legacy"))
		w.Expect(w.override("Target", "Cd", "Mode", "UEFI")).To(Equal(accepted))
		w.Expect(w.boot("Mode")).To(Equal("UEFI"))
	},
	simulator.BootTargetRewritten: func(w *World) {
		w.Quirk(simulator.BootTargetRewritten, simulator.Always)
		w.Expect(w.override("Target", "Pxe", "Mode", "UEFI")).To(Equal(accepted))
		w.Expect(w.boot("Target")).To(Equal("UefiBootNext"))
	},
	simulator.BootNeedsAll: func(w *World) {
		w.Quirk(simulator.BootNeedsAll, simulator.Always)
		w.Expect(w.override("Target", "Cd", "Enabled", "Once")).To(Equal(accepted))
		w.Expect(w.boot("Target")).To(Equal("None"))
		w.Expect(w.override("Target", "Cd", "Enabled", "Once", "Mode", "UEFI")).To(Equal(accepted))
		w.Expect(w.boot("Target")).To(Equal("Cd"))
	},
	simulator.NoPersistentBoot: func(w *World) {
		w.Quirk(simulator.NoPersistentBoot, simulator.Always)
		w.Expect(w.boot("Enabled@Redfish.AllowableValues")).To(ConsistOf("Once", "Disabled"))
		w.Expect(w.override("Target", "Cd", "Enabled", "Continuous")).To(Equal(refused))
		w.Expect(w.override("Target", "Cd", "Enabled", "Once")).To(Equal(accepted))
	},
	simulator.NoBootOnceList: func(w *World) {
		w.Quirk(simulator.NoBootOnceList, simulator.Always)
		w.Expect(w.boot("Enabled@Redfish.AllowableValues")).To(BeNil())
	},
	simulator.NoBootTargets: func(w *World) {
		w.Quirk(simulator.NoBootTargets, simulator.Always)
		w.Expect(w.boot("Target@Redfish.AllowableValues")).To(BeNil())
	},
	simulator.HTTPBootNoURI: func(w *World) {
		w.Quirk(simulator.HTTPBootNoURI, simulator.Always)
		w.Expect(at(w.get(w.systemPath()), "Boot")).To(And(Not(HaveKey("HttpBootUri")), HaveKeyWithValue("BootSourceOverrideTarget@Redfish.AllowableValues", ContainElement("UefiHttp"))))
		w.refusal(refused, http.MethodPatch, w.systemPath(), map[string]any{"Boot": map[string]any{"HttpBootUri": imageURL}})
		w.Expect(w.override("Target", "UefiHttp")).To(Equal(accepted))
	},
	simulator.CDIsADrive: func(w *World) {
		m := &bootTold{}
		w.Expect(w.Simulator.AddSystem(simulator.System{ID: w.ID, Machine: m})).To(Succeed())
		w.Expect(w.override("Target", "Cd")).To(Equal(accepted))
		w.Expect(m.target).To(Equal("Cd"))
		w.Quirk(simulator.CDIsADrive, simulator.Always)
		w.Expect(w.override("Target", "Cd")).To(Equal(accepted))
		w.Expect(m.target).To(Equal("None"))
		w.Expect(w.boot("Target")).To(Equal("Cd"), "the BMC shows nothing of it")
	},
	simulator.BusyInPOST: func(w *World) {
		w.Quirk(simulator.BusyInPOST, 1)
		w.Expect(w.refusal(refused, http.MethodPatch, w.systemPath(), map[string]any{"Boot": pairs("Target", "Cd")})).To(ContainSubstring("UnableToModifyDuringSystemPOST"))
		w.Expect(w.override("Target", "Cd")).To(Equal(accepted))
	},
	simulator.BusyAfterPower: func(w *World) {
		w.Quirk(simulator.BusyAfterPower, 1)
		w.Expect(w.turn("On")).To(Equal(refused))
		w.Expect(w.turn("On")).To(Equal(accepted))
	},
	simulator.PowerConflict: func(w *World) {
		w.Quirk(simulator.PowerConflict, 1)
		w.Expect(w.turn("On")).To(Equal(http.StatusConflict))
		w.Expect(w.turn("On")).To(Equal(accepted))
	},
	simulator.RestartHangs: func(w *World) {
		w.Quirk(simulator.RestartHangs, simulator.Always)
		w.Expect(w.turn("ForceRestart")).To(Equal(accepted))
		w.Expect(w.System().PowerState).To(Equal(schemas.OffPowerState))
		w.Expect(w.turn("On")).To(Equal(accepted))
		w.Expect(w.System().PowerState).To(Equal(schemas.OnPowerState))
	},
	simulator.Lockdown: func(w *World) {
		w.Quirk(simulator.Lockdown, simulator.Always)
		id, err := w.Simulator.AddJob(w.ID, "waits")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(w.override("Target", "Cd")).To(Equal(http.StatusForbidden))
		w.Expect(w.set()).To(Equal(http.StatusForbidden))
		w.Expect(w.status(http.MethodDelete, "/redfish/v1/JobService/Jobs/"+id, nil)).To(Equal(http.StatusForbidden))
		w.Expect(w.turn("On")).To(Equal(accepted))
	},
	simulator.SecureBootLicence: func(w *World) {
		w.made(simulator.Supermicro)
		w.Quirk(simulator.SecureBootLicence, simulator.Always)
		w.Expect(w.refusal(http.StatusForbidden, http.MethodGet, w.systemPath()+"/SecureBoot", nil)).To(ContainSubstring("OemLicenseNotPassed"))
		w.Expect(w.Simulator.SetLicences(w.ID, []simulator.Licence{{Name: "SFT-DCMS-SINGLE"}})).To(Succeed())
		w.get(w.systemPath() + "/SecureBoot")
	},
	simulator.SettingsLicence: func(w *World) {
		w.made(simulator.Supermicro)
		w.Quirk(simulator.SettingsLicence, simulator.Always)
		for _, address := range []string{w.systemPath() + "/Bios", w.systemPath() + "/Storage", "/redfish/v1/UpdateService/FirmwareInventory"} {
			w.refusal(http.StatusForbidden, http.MethodGet, address, nil)
		}
		w.Expect(w.Simulator.SetLicences(w.ID, []simulator.Licence{{Name: "SFT-DCMS-SINGLE"}})).To(Succeed())
		w.get(w.systemPath() + "/Bios")
	},
	simulator.BootProgressStuck: func(w *World) {
		w.Quirk(simulator.BootProgressStuck, simulator.Always)
		w.Expect(w.turn("On")).To(Equal(accepted))
		w.Expect(at(w.get(w.systemPath()), "BootProgress", "LastState")).To(Equal("SystemHardwareInitializationComplete"))
	},
	simulator.BootProgress1970: func(w *World) {
		w.Quirk(simulator.BootProgress1970, simulator.Always)
		w.Expect(at(w.get(w.systemPath()), "BootProgress", "LastStateTime")).To(HavePrefix("1970-"))
	},
}

// bootTold is a machine that remembers what it was told to boot.
type bootTold struct{ target string }

func (m *bootTold) PowerChanged(context.Context, simulator.State, simulator.ResetType) error {
	return nil
}

func (m *bootTold) MediaChanged(context.Context, simulator.State, string) error { return nil }

func (m *bootTold) BootChanged(_ context.Context, s simulator.State) error {
	m.target = s.Boot.Target
	return nil
}
