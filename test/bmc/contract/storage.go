package contract

import (
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// storage0 reads the first storage subsystem.
func (w *World) storage0() *schemas.Storage {
	w.T.Helper()
	list, err := w.System().Storage()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).NotTo(BeEmpty())
	return list[0]
}

// volumes reads the volumes of the first storage subsystem.
func (w *World) volumes() []*schemas.Volume {
	w.T.Helper()
	list, err := w.storage0().Volumes()
	w.Expect(err).NotTo(HaveOccurred())
	return list
}

// drives are links to the first n drives.
func (w *World) drives(n int) map[string]any {
	w.T.Helper()
	list, err := w.storage0().Drives()
	w.Expect(err).NotTo(HaveOccurred())
	links := []map[string]string{}
	for _, d := range list[:n] {
		links = append(links, map[string]string{"@odata.id": d.ODataID})
	}
	return map[string]any{"Drives": links}
}

// create asks for a volume.
func (w *World) create(values map[string]any) Answer {
	w.T.Helper()
	return w.Do(http.MethodPost, w.storage0().ODataID+"/Volumes", values)
}

// applyTime is the key for when something should be done.
const applyTime = "@Redfish.OperationApplyTime"

// monitor is the task that an answer leads to.
func monitor(a Answer) *schemas.TaskMonitorInfo {
	return &schemas.TaskMonitorInfo{TaskMonitor: a.header.Get("Location")}
}

func storage(w *World) {
	s := w.storage0()
	w.Expect(s.StorageControllers[0].SupportedRAIDTypes).To(ContainElements(BeEquivalentTo("RAID1"), BeEquivalentTo("RAID5"))) //nolint:staticcheck // where Ironic reads it
	controllers, err := s.Controllers()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(controllers).To(HaveLen(1))
	w.Expect(controllers[0].SupportedRAIDTypes).To(ContainElement(BeEquivalentTo("RAID1")))
	drives, err := s.Drives()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(len(drives)).To(BeNumerically(">=", 3))
	w.Expect(drives[0].CapacityBytes).To(HaveValue(BeNumerically(">", 1<<30)))
	w.Expect(drives[0].MediaType).To(BeEquivalentTo("SSD"))
	w.Expect(w.volumes()).To(BeEmpty())
	w.Expect(w.Do(http.MethodGet, s.ODataID+"/Volumes", nil).body).To(ContainSubstring("OnReset"), "says when volumes can be made")
	for _, gone := range []string{"/Volumes/none", "/Drives/none", "/Controllers/none", "0"} {
		w.Expect(w.Do(http.MethodGet, s.ODataID+gone, nil).status).To(Equal(http.StatusNotFound), gone)
	}
}

func raidAtOnce(w *World) {
	made := w.create(map[string]any{"RAIDType": "RAID1", "Name": "root", "CapacityBytes": 100 << 30, "Links": w.drives(2), applyTime: "Immediate"})
	w.Expect(made.status).To(Equal(http.StatusCreated))
	list := w.volumes()
	w.Expect(list).To(ConsistOf(And(HaveField("Name", "root"), HaveField("RAIDType", BeEquivalentTo("RAID1")), HaveField("CapacityBytes", HaveValue(Equal(100<<30))))))
	w.Expect(list[0].ODataID).To(Equal(made.header.Get("Location")))
	used, err := list[0].Drives()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(used).To(HaveLen(2))
	w.Expect(w.Do(http.MethodGet, used[0].ODataID, nil).body).To(ContainSubstring(list[0].ODataID), "the drive knows its volume")
	w.Expect(w.Do(http.MethodDelete, list[0].ODataID, nil).status).To(Equal(http.StatusNoContent))
	w.Expect(w.volumes()).To(BeEmpty())
	w.Expect(w.Do(http.MethodDelete, list[0].ODataID, nil).status).To(Equal(http.StatusNotFound))
}

func raidAtReset(w *World) {
	w.Expect(w.Simulator.AddSystem(simulator.System{ID: w.ID, Storage: onReset()})).To(Succeed())
	accepted := w.create(map[string]any{"RAIDType": "RAID5", "Links": w.drives(3)})
	w.Expect(accepted.status).To(Equal(http.StatusAccepted))
	waiting := w.Do(http.MethodGet, accepted.header.Get("Location"), nil)
	w.Expect(waiting.status).To(Equal(http.StatusAccepted))
	w.Expect(waiting.body).To(ContainSubstring("Pending"))
	w.Expect(w.volumes()).To(BeEmpty())
	w.Expect(w.create(map[string]any{"RAIDType": "RAID1", "Links": w.drives(2)}).status).To(Equal(http.StatusConflict), "the drives are promised")
	w.Boots()
	task := w.Done(monitor(accepted))
	w.Expect(task.TaskState).To(Equal(schemas.CompletedTaskState))
	w.Expect(task.TaskStatus).To(Equal(schemas.OKHealth))
	w.Expect(w.volumes()).To(ConsistOf(HaveField("RAIDType", BeEquivalentTo("RAID5"))))
	removed := w.Do(http.MethodDelete, w.volumes()[0].ODataID, nil)
	w.Expect(removed.status).To(Equal(http.StatusAccepted))
	w.Expect(w.volumes()).To(HaveLen(1))
	w.Boots()
	w.Done(monitor(removed))
	w.Expect(w.volumes()).To(BeEmpty())
}

// onReset is a storage that changes volumes at a reset only.
func onReset() []simulator.Storage {
	list := simulator.DefaultStorage()
	list[0].ApplyTimes = []simulator.ApplyTime{simulator.OnReset}
	return list
}

func raidTypes(w *World) {
	const disk = 480_103_981_056
	for _, c := range []struct {
		kind   string
		drives int
		bytes  int
	}{
		{"RAID0", 1, disk}, {"RAID0", 4, 4 * disk}, {"RAID1", 2, disk}, {"RAID5", 3, 2 * disk}, {"RAID6", 4, 2 * disk}, {"RAID10", 4, 2 * disk},
	} {
		made := w.create(map[string]any{"RAIDType": c.kind, "Links": w.drives(c.drives), applyTime: "Immediate"})
		w.Expect(made.status).To(Equal(http.StatusCreated), c.kind)
		w.Expect(w.volumes()).To(ConsistOf(HaveField("CapacityBytes", HaveValue(Equal(c.bytes)))), c.kind)
		w.Do(http.MethodDelete, made.header.Get("Location"), nil)
	}
}

func raidRefused(w *World) {
	ghost := map[string]any{"Drives": []map[string]string{{"@odata.id": w.storage0().ODataID + "/Drives/ghost"}}}
	for name, values := range map[string]map[string]any{
		"no type": {"Links": w.drives(2)}, "a type of other controllers": {"RAIDType": "RAID50", "Links": w.drives(4)},
		"too few drives": {"RAIDType": "RAID5", "Links": w.drives(2)}, "too many": {"RAIDType": "RAID1", "Links": w.drives(3)},
		"no drives": {"RAIDType": "RAID0"}, "no such drive": {"RAIDType": "RAID0", "Links": ghost},
		"too big": {"RAIDType": "RAID1", "Links": w.drives(2), "CapacityBytes": 1 << 50}, "too small": {"RAIDType": "RAID1", "Links": w.drives(2), "CapacityBytes": 0},
		"no such time": {"RAIDType": "RAID1", "Links": w.drives(2), applyTime: "Never"},
	} {
		w.Expect(w.create(values).status).To(Equal(http.StatusBadRequest), name)
	}
	w.Expect(w.volumes()).To(BeEmpty())
	w.Expect(w.create(map[string]any{"RAIDType": "RAID1", "Links": w.drives(2), applyTime: "Immediate"}).status).To(Equal(http.StatusCreated))
	w.Expect(w.create(map[string]any{"RAIDType": "RAID0", "Links": w.drives(1), applyTime: "Immediate"}).status).To(Equal(http.StatusConflict), "the drive is in use")
}
