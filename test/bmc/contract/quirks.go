package contract

import (
	"io"
	"maps"
	"net/http"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// QuirkCases has one case for each quirk. Those of shared services are run on a
// BMC of its own ([OwnBMC]).
var QuirkCases = func() map[simulator.Quirk]func(w *World) {
	all := maps.Clone(basicQuirks)
	for _, table := range ownQuirks {
		maps.Copy(all, table)
	}
	return all
}()

// ownQuirks are the cases that run on a BMC of their own, by topic.
var ownQuirks = []map[simulator.Quirk]func(w *World){
	accountQuirks, etagQuirks, eventQuirks, mediaQuirks, systemQuirks, settingsQuirks, storageQuirks, answerQuirks,
}

// basicQuirks are the cases of what needs no more than a system.
var basicQuirks = map[simulator.Quirk]func(w *World){
	simulator.GracefulIgnored: func(w *World) {
		w.Reset(schemas.OnResetType)
		w.Quirk(simulator.GracefulIgnored, simulator.Always)
		w.Reset(schemas.GracefulShutdownResetType)
		w.Expect(w.System().PowerState).To(Equal(schemas.OnPowerState))
		w.Reset(schemas.ForceOffResetType)
		w.Expect(w.System().PowerState).To(Equal(schemas.OffPowerState))
	},
	simulator.GracefulUnsupported: func(w *World) {
		w.Quirk(simulator.GracefulUnsupported, simulator.Always)
		types, err := w.System().GetSupportedResetTypes()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(types).NotTo(ContainElement(schemas.GracefulShutdownResetType))
		answer := w.Do(http.MethodPost, w.systemPath()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "GracefulShutdown"})
		w.Expect(answer.status).To(Equal(http.StatusBadRequest))
	},
	simulator.NoPowerState: func(w *World) {
		w.Quirk(simulator.NoPowerState, 1)
		w.Expect(w.System().PowerState).To(BeEmpty())
		w.Expect(w.System().PowerState).To(Equal(schemas.OffPowerState))
	},
	simulator.BootLost: func(w *World) {
		w.Quirk(simulator.BootLost, 1)
		w.setBoot(schemas.Boot{BootSourceOverrideTarget: schemas.CdBootSource, BootSourceOverrideEnabled: schemas.ContinuousBootSourceOverrideEnabled})
		w.Boots()
		w.Expect(w.System().Boot.BootSourceOverrideTarget).To(Equal(schemas.NoneBootSource))
	},
	simulator.NoHTTPBoot: func(w *World) {
		w.Quirk(simulator.NoHTTPBoot, simulator.Always)
		w.Expect(w.System().Boot.AllowableBootSourceOverrideTargetValues).NotTo(ContainElement(schemas.UefiHTTPBootSource))
		for _, boot := range []map[string]any{{"BootSourceOverrideTarget": "UefiHttp"}, {"HttpBootUri": imageURL}} {
			w.Expect(w.Do(http.MethodPatch, w.systemPath(), map[string]any{"Boot": boot}).status).To(Equal(http.StatusBadRequest))
		}
	},
	simulator.MediaNotInserted: func(w *World) {
		w.Quirk(simulator.MediaNotInserted, 1)
		w.insert(w.systemCD())
		w.Expect(w.systemCD().Inserted).To(HaveValue(BeFalse()))
		w.insert(w.systemCD())
		w.Expect(w.systemCD().Inserted).To(HaveValue(BeTrue()))
	},
	simulator.MediaNotEjected: func(w *World) {
		w.insert(w.systemCD())
		w.Quirk(simulator.MediaNotEjected, 1)
		for _, want := range []bool{true, false} {
			_, err := w.systemCD().EjectMedia()
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.systemCD().Inserted).To(HaveValue(Equal(want)))
		}
	},
	simulator.MediaNeedsTransfer: func(w *World) {
		w.Quirk(simulator.MediaNeedsTransfer, simulator.Always)
		params := &schemas.VirtualMediaInsertMediaParameters{Image: imageURL}
		_, err := w.systemCD().InsertMedia(params)
		w.Refused(err, http.StatusBadRequest)
		w.Expect(err.Error()).To(ContainSubstring("TransferProtocolType"))
		protocol := schemas.HTTPTransferProtocolType
		params.TransferProtocolType = &protocol
		_, err = w.systemCD().InsertMedia(params)
		w.Expect(err).NotTo(HaveOccurred())
	},
	simulator.MediaOnManager: func(w *World) {
		w.Quirk(simulator.MediaOnManager, simulator.Always)
		media, err := w.System().VirtualMedia()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(media).To(BeEmpty())
		w.Expect(w.Do(http.MethodGet, w.systemPath()+"/VirtualMedia", nil).status).To(Equal(http.StatusNotFound))
		w.mediaThere(w.managerCD)
	},
	simulator.MediaByPatch: func(w *World) {
		w.Quirk(simulator.MediaByPatch, simulator.Always)
		cd := w.systemCD()
		w.Expect(cd.SupportsMediaInsert).To(BeFalse())
		w.Expect(w.Do(http.MethodGet, cd.ODataID, nil).header.Get("Allow")).To(ContainSubstring("PATCH"), "Ironic looks there")
		w.mediaThere(w.systemCD)
		w.Expect(w.Do(http.MethodPost, cd.ODataID+"/Actions/VirtualMedia.EjectMedia", map[string]any{}).status).To(Equal(http.StatusNotFound))
	},
	simulator.NoBIOS: func(w *World) {
		w.Quirk(simulator.NoBIOS, simulator.Always)
		bios, err := w.System().Bios()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(bios).To(BeNil())
		for _, address := range []string{"/Bios", "/Bios/Settings"} {
			w.Expect(w.Do(http.MethodGet, w.systemPath()+address, nil).status).To(Equal(http.StatusNotFound))
		}
	},
	simulator.NoBIOSRegistry: func(w *World) {
		w.Quirk(simulator.NoBIOSRegistry, simulator.Always)
		files, err := w.API.GetService().Registries()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(files).NotTo(ContainElement(HaveField("Registry", w.bios().AttributeRegistry)))
	},
	simulator.BIOSNotApplied: func(w *World) {
		w.Quirk(simulator.BIOSNotApplied, 1)
		w.Expect(w.bios().UpdateBiosAttributes(schemas.SettingsAttributes{setting: "Disabled"})).To(Succeed())
		w.Boots()
		w.Expect(w.bios().Attributes).To(HaveKeyWithValue(setting, "Enabled"))
		w.Expect(w.pending()).NotTo(ContainSubstring(setting))
	},
	simulator.NoSecureBoot: func(w *World) {
		w.Quirk(simulator.NoSecureBoot, simulator.Always)
		sb, err := w.System().SecureBoot()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(sb).To(BeNil())
		w.Expect(w.Do(http.MethodPatch, w.systemPath()+"/SecureBoot", map[string]any{"SecureBootEnable": true}).status).To(Equal(http.StatusNotFound))
	},
	simulator.NoStorage: func(w *World) {
		address := w.storage0().ODataID
		w.Quirk(simulator.NoStorage, simulator.Always)
		list, err := w.System().Storage()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(list).To(BeEmpty())
		w.Expect(w.Do(http.MethodGet, address, nil).status).To(Equal(http.StatusNotFound))
	},
	simulator.NoRAIDType: func(w *World) {
		w.Quirk(simulator.NoRAIDType, simulator.Always)
		w.Expect(w.create(map[string]any{"RAIDType": "RAID1", "Links": w.drives(2), applyTime: "Immediate"}).status).To(Equal(http.StatusCreated))
		w.Expect(w.volumes()).To(ConsistOf(HaveField("RAIDType", BeEmpty())))
		w.Expect(w.storage0().StorageControllers[0].SupportedRAIDTypes).To(BeEmpty()) //nolint:staticcheck // where Ironic reads it
	},
	simulator.EventLost: func(w *World) {
		l := w.listen(0)
		w.subscribe(l.URL, schemas.AlertEventType)
		w.Quirk(simulator.EventLost, 1)
		for _, text := range []string{"first", "second"} {
			w.Expect(w.Simulator.Emit(w.ID, simulator.Event{Type: "Alert", Severity: "OK", Message: text})).To(Succeed())
		}
		w.Eventually(func() []string { return l.messages(w.ID) }, w.Patience, w.Look).Should(Equal([]string{"second"}))
	},
	simulator.FirmwareUnchanged: func(w *World) {
		w.Quirk(simulator.FirmwareUnchanged, 1)
		w.Expect(w.Done(w.update(nicImage)).TaskState).To(Equal(schemas.CompletedTaskState))
		w.Expect(w.inventory()).NotTo(ContainElement(HaveField("Version", "22.5.0")))
	},
	simulator.TaskWithoutLocation: func(w *World) {
		w.Quirk(simulator.TaskWithoutLocation, 1)
		w.Expect(w.update(nicImage).TaskMonitor).To(BeEmpty())
		w.Expect(w.update(nicImage).TaskMonitor).NotTo(BeEmpty())
	},
	simulator.TaskLost: func(w *World) {
		w.Quirk(simulator.TaskLost, 1)
		task := w.update(nicImage)
		w.Expect(w.Do(http.MethodGet, task.TaskMonitor, nil).status).To(Equal(http.StatusNotFound))
		w.Eventually(w.inventory, w.Patience, w.Look).Should(ContainElement(HaveField("Version", "22.5.0")), "the work is done")
	},
	simulator.TaskFails: func(w *World) {
		w.Quirk(simulator.TaskFails, 1)
		w.Expect(w.Done(w.update(nicImage)).TaskState).To(Equal(schemas.ExceptionTaskState))
		w.Expect(w.inventory()).NotTo(ContainElement(HaveField("Version", "22.5.0")))
	},
	simulator.NoBootProgress: func(w *World) {
		w.Quirk(simulator.NoBootProgress, simulator.Always)
		w.Reset(schemas.OnResetType)
		w.Expect(w.System().BootProgress.LastState).To(BeEmpty())
	},
	simulator.ETagRequired: func(w *World) {
		w.Quirk(simulator.ETagRequired, simulator.Always)
		body := map[string]any{"AssetTag": "a"}
		w.Expect(w.Do(http.MethodPatch, w.systemPath(), body).status).To(Equal(http.StatusPreconditionRequired))
		tag := w.Do(http.MethodGet, w.systemPath(), nil).header.Get("ETag")
		w.Expect(w.Do(http.MethodPatch, w.systemPath(), body, "If-Match", tag).status).To(BeNumerically("<", 300))
		w.Expect(w.bios().UpdateBiosAttributes(schemas.SettingsAttributes{setting: "Disabled"})).To(Succeed(), "gofish sends the ETag")
	},
	simulator.Slow: func(w *World) {
		w.slowSystem(simulator.Delays{Slow: 80 * time.Millisecond})
		w.Quirk(simulator.Slow, 1)
		begin := time.Now()
		w.System()
		w.Expect(time.Since(begin)).To(BeNumerically(">=", 80*time.Millisecond))
	},
	simulator.Unavailable: func(w *World) {
		w.Quirk(simulator.Unavailable, 2)
		for _, want := range []int{http.StatusServiceUnavailable, http.StatusServiceUnavailable, http.StatusOK} {
			w.Expect(w.Do(http.MethodGet, w.systemPath(), nil).status).To(Equal(want))
		}
	},
	simulator.ConnectionCut: func(w *World) {
		w.Quirk(simulator.ConnectionCut, simulator.Always)
		_, err := schemas.GetComputerSystem(w.API, w.systemPath())
		w.Expect(err).To(MatchError(io.EOF))
		w.Quirk(simulator.ConnectionCut, 0)
		w.System()
	},
	simulator.NoEventService: func(w *World) {
		w.Quirk(simulator.NoEventService, simulator.Always)
		w.Expect(w.Do(http.MethodGet, "/redfish/v1", nil).body).NotTo(ContainSubstring("EventService"))
		for _, address := range []string{"/redfish/v1/EventService", "/redfish/v1/EventService/Subscriptions"} {
			w.Expect(w.Do(http.MethodGet, address, nil).status).To(Equal(http.StatusNotFound))
		}
		body := map[string]any{"Destination": "http://x/y", "Protocol": "Redfish"}
		w.Expect(w.Do(http.MethodPost, "/redfish/v1/EventService/Subscriptions", body).status).To(Equal(http.StatusNotFound))
	},
	simulator.NoUpdateService: func(w *World) {
		w.Quirk(simulator.NoUpdateService, simulator.Always)
		w.Expect(w.Do(http.MethodGet, "/redfish/v1", nil).body).NotTo(ContainSubstring("UpdateService"))
		for _, address := range []string{"/redfish/v1/UpdateService", "/redfish/v1/UpdateService/FirmwareInventory"} {
			w.Expect(w.Do(http.MethodGet, address, nil).status).To(Equal(http.StatusNotFound))
		}
		action := "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
		w.Expect(w.Do(http.MethodPost, action, map[string]any{"ImageURI": nicImage}).status).To(Equal(http.StatusNotFound))
	},
	simulator.NoSessions: func(w *World) {
		w.Quirk(simulator.NoSessions, simulator.Always)
		_, err := w.tryConnect(false, w.Password)
		w.Refused(err, http.StatusMethodNotAllowed)
		w.System()
	},
	simulator.SessionLost: func(w *World) {
		api := w.Connect(false, w.Password)
		w.Quirk(simulator.SessionLost, 1)
		for range 2 {
			_, err := schemas.GetComputerSystem(api, w.systemPath())
			w.Refused(err, http.StatusUnauthorized)
		}
		w.System()
	},
}

// OwnBMC are the quirks of what systems share: they need a BMC of their own.
var OwnBMC = func() map[simulator.Quirk]bool {
	own := map[simulator.Quirk]bool{
		simulator.NoEventService: true, simulator.NoUpdateService: true, simulator.NoSessions: true, simulator.SessionLost: true,
	}
	for _, table := range ownQuirks {
		for quirk := range table {
			own[quirk] = true
		}
	}
	return own
}()
