package contract

import (
	"net/http"
	"slices"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"
)

// Firmware images; nobody reads them.
const (
	biosImage   = "http://127.0.0.1:1/firmware/bios-2.1.0.bin"
	bmcImage    = "http://127.0.0.1:1/firmware/bmc-7.10.exe"
	nicImage    = "http://127.0.0.1:1/firmware/nic-NIC1-22.5.0.fwpkg"
	strangeFile = "http://127.0.0.1:1/firmware/readme.txt"
)

// update asks for an update of the case's system, or of a part of it.
func (w *World) update(image string, targets ...string) *schemas.TaskMonitorInfo {
	w.T.Helper()
	if len(targets) == 0 {
		targets = []string{w.systemPath()}
	}
	service, err := w.API.GetService().UpdateService()
	w.Expect(err).NotTo(HaveOccurred())
	task, err := service.SimpleUpdate(&schemas.UpdateServiceSimpleUpdateParameters{ImageURI: image, Targets: targets})
	w.Expect(err).NotTo(HaveOccurred())
	return task
}

// inventory reads what the firmware inventory has of the case's system.
func (w *World) inventory() []*schemas.SoftwareInventory {
	w.T.Helper()
	service, err := w.API.GetService().UpdateService()
	w.Expect(err).NotTo(HaveOccurred())
	all, err := service.FirmwareInventory()
	w.Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(all, func(s *schemas.SoftwareInventory) bool { return len(s.ID) <= len(w.ID) || s.ID[:len(w.ID)] != w.ID })
}

func firmwareInventory(w *World) {
	list := w.inventory()
	w.Expect(list).To(ConsistOf(HaveField("SoftwareID", "bios"), HaveField("SoftwareID", "bmc"), HaveField("SoftwareID", "nic:NIC1")))
	w.Expect(list).To(HaveEach(And(HaveField("Version", Not(BeEmpty())), HaveField("Updateable", true))))
	w.Expect(w.Do(http.MethodGet, list[0].ODataID+"0", nil).status).To(Equal(http.StatusNotFound))
}

func updateBIOS(w *World) {
	w.Boots()
	before := w.System().BiosVersion
	task := w.update(biosImage)
	waiting := w.Do(http.MethodGet, task.TaskMonitor, nil)
	w.Expect(waiting.status).To(Equal(http.StatusAccepted))
	w.Expect(waiting.body).To(ContainSubstring("Starting"), "it waits for a reset")
	w.Expect(w.System().BiosVersion).To(Equal(before))
	w.Boots()
	w.Expect(w.Done(task).TaskState).To(Equal(schemas.CompletedTaskState))
	w.Expect(w.System().BiosVersion).To(Equal("2.1.0"))
	w.Expect(w.inventory()).To(ContainElement(And(HaveField("SoftwareID", "bios"), HaveField("Version", "2.1.0"))))
	w.Reset(schemas.ForceOffResetType)
	w.UntilPower(schemas.OffPowerState)
	w.Done(w.update("http://127.0.0.1:1/bios-2.2.0.bin"))
	w.Expect(w.System().BiosVersion).To(Equal("2.2.0"), "a machine that is off needs no reset")
}

func updateBMC(w *World) {
	i := slices.IndexFunc(w.inventory(), func(s *schemas.SoftwareInventory) bool { return s.SoftwareID == "bmc" })
	task := w.update(bmcImage, w.inventory()[i].ODataID)
	w.Expect(w.Done(task).TaskState).To(Equal(schemas.CompletedTaskState))
	w.Eventually(func() int { return w.Do(http.MethodGet, w.systemPath(), nil).status }, w.Patience, w.Look).Should(Equal(http.StatusOK), "the BMC has started again")
	w.Expect(w.Manager().FirmwareVersion).To(Equal("7.10"))
}

func updateNIC(w *World) {
	w.Done(w.update(nicImage))
	list, err := w.Chassis().NetworkAdapters()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list[0].Controllers[0].FirmwarePackageVersion).To(Equal("22.5.0"))
	w.Expect(w.Do(http.MethodGet, list[0].ODataID+"0", nil).status).To(Equal(http.StatusNotFound))
}

func updateFails(w *World) {
	task := w.Done(w.update(strangeFile))
	w.Expect(task.TaskState).To(Equal(schemas.ExceptionTaskState))
	w.Expect(task.TaskStatus).To(Equal(schemas.CriticalHealth))
	w.Expect(task.Messages[0].Message).To(ContainSubstring("readme.txt"))
	const action = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"
	for name, body := range map[string]map[string]any{
		"no image": {}, "no target among several": {"ImageURI": biosImage}, "no such target": {"ImageURI": biosImage, "Targets": []string{"/redfish/v1/Systems/none"}},
	} {
		w.Expect(w.Do(http.MethodPost, action, body).status).To(Equal(http.StatusBadRequest), name)
	}
}

func tasks(w *World) {
	task := w.Done(w.update(nicImage))
	service, err := w.API.GetService().Tasks()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(service.ServiceEnabled).To(BeTrue())
	w.Expect(w.members("/redfish/v1/TaskService/Tasks")).To(ContainElement(task.ODataID))
	w.Expect(task.PercentComplete).To(HaveValue(BeEquivalentTo(100)))
	w.Expect(task.EndTime).NotTo(BeEmpty())
	w.Expect(w.Do(http.MethodGet, "/redfish/v1/TaskService/Tasks/none", nil).status).To(Equal(http.StatusNotFound))
}

func cancelledTask(w *World) {
	w.Boots()
	before := w.System().BiosVersion
	task := w.update(biosImage)
	id := w.Do(http.MethodGet, task.TaskMonitor, nil).body
	running := &schemas.Task{}
	w.Expect(running.UnmarshalJSON(id)).To(Succeed())
	w.Expect(w.Do(http.MethodDelete, running.ODataID, nil).status).To(Equal(http.StatusNoContent))
	w.Expect(w.Do(http.MethodGet, task.TaskMonitor, nil).status).To(Equal(http.StatusNotFound))
	w.Boots()
	w.Expect(w.System().BiosVersion).To(Equal(before), "it is not done any more")
}
