package contract

import (
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// part makes a part of the case's machine be as described.
func (w *World) part(kind, id string, condition simulator.Condition) {
	w.T.Helper()
	w.Expect(w.Simulator.SetPart(w.ID, simulator.Part{Kind: kind, ID: id}, condition)).To(Succeed())
}

func (w *World) chassisPath() string { return "/redfish/v1/Chassis/" + w.ID }

func health(address string, w *World) any { return at(w.get(address), "Status", "Health") }

func cooling(w *World) {
	w.Boots()
	thermal, err := w.Chassis().ThermalSubsystem()
	w.Expect(err).NotTo(HaveOccurred())
	fans, err := thermal.Fans()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(fans).To(HaveLen(2))
	stopped := 0.0
	w.part(simulator.PartFan, "Fan1", simulator.Condition{Health: "Critical", Reading: &stopped})
	fan := w.chassisPath() + "/ThermalSubsystem/Fans/Fan1"
	w.Expect(health(fan, w)).To(Equal("Critical"))
	w.Expect(at(w.get(fan), "SpeedPercent", "SpeedRPM")).To(BeZero())
	for _, address := range []string{w.chassisPath() + "/ThermalSubsystem", w.chassisPath(), w.systemPath(), w.chassisPath() + "/Sensors/Fan1"} {
		w.Expect(health(address, w)).To(Equal("Critical"), address)
	}
	w.Expect(w.get(w.systemPath() + "/LogServices/SEL/Entries")["Members"]).To(ContainElement(
		And(HaveKeyWithValue("Severity", "Critical"), HaveKeyWithValue("Message", ContainSubstring("Fan1")))))
	w.part(simulator.PartFan, "Fan1", simulator.Condition{Health: "OK"})
	w.Expect(health(w.systemPath(), w)).To(Equal("OK"), "it was mended")
	w.Expect(w.get(w.chassisPath() + "/ThermalSubsystem/ThermalMetrics")["TemperatureReadingsCelsius"]).NotTo(BeEmpty())
	w.Expect(w.status(http.MethodGet, w.chassisPath()+"/ThermalSubsystem/Fans/Fan9", nil)).To(Equal(http.StatusNotFound))
}

func supplies(w *World) {
	power, err := w.Chassis().PowerSubsystem()
	w.Expect(err).NotTo(HaveOccurred())
	list, err := power.PowerSupplies()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(HaveLen(2))
	w.part(simulator.PartSupply, "PSU2", simulator.Condition{Health: "Critical", State: "UnavailableOffline"})
	w.Expect(at(w.get(w.chassisPath()+"/PowerSubsystem/PowerSupplies/PSU2"), "Status")).To(And(HaveKeyWithValue("State", "UnavailableOffline"), HaveKeyWithValue("Health", "Critical")))
	w.Expect(at(w.get(w.chassisPath()+"/Power"), "PowerSupplies", 1, "Status", "Health")).To(Equal("Critical"), "the old place too")
	w.Expect(health(w.chassisPath()+"/PowerSubsystem", w)).To(Equal("Critical"))
	w.Expect(w.status(http.MethodGet, w.chassisPath()+"/PowerSubsystem/PowerSupplies/PSU9", nil)).To(Equal(http.StatusNotFound))
}

func sensorStates(w *World) {
	hot := 99.0
	w.part(simulator.PartSensor, "Inlet", simulator.Condition{Health: "Critical", Reading: &hot})
	inlet := w.get(w.chassisPath() + "/Sensors/Inlet")
	w.Expect(inlet).To(HaveKeyWithValue("Reading", 99.0))
	w.Expect(at(inlet, "Thresholds", "UpperCritical", "Reading")).To(BeNumerically("<", 99))
	w.part(simulator.PartSensor, "CPU1", simulator.Condition{State: "Absent"})
	w.Expect(w.get(w.chassisPath() + "/Sensors/CPU1")).To(HaveKeyWithValue("Reading", BeNil()))
}

func memoryModules(w *World) {
	list, err := w.System().Memory()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(HaveLen(2))
	w.part(simulator.PartMemory, "DIMM2", simulator.Condition{Health: "Warning"})
	w.Expect(health(w.systemPath()+"/Memory/DIMM2", w)).To(Equal("Warning"))
	w.Expect(at(w.get(w.systemPath()), "MemorySummary", "Status", "Health")).To(Equal("Warning"))
	w.part(simulator.PartProcessor, "CPU1", simulator.Condition{Health: "Critical"})
	w.Expect(health(w.systemPath()+"/Processors/CPU1", w)).To(Equal("Critical"))
	w.Expect(w.status(http.MethodGet, w.systemPath()+"/Memory/DIMM9", nil)).To(Equal(http.StatusNotFound))
	w.Expect(w.Simulator.SetPart(w.ID, simulator.Part{Kind: "soul", ID: "1"}, simulator.Condition{})).NotTo(Succeed())
}

// drivesThatFail: what will fail says so, and what is no part of a RAID cannot be.
func drivesThatFail(w *World) {
	left := 3.0
	w.Expect(w.Simulator.AddSystem(simulator.System{ID: w.ID, Vendor: simulator.Dell, Storage: []simulator.Storage{{ID: "s", RAIDTypes: []string{"RAID1"}, Drives: []simulator.Drive{
		{ID: "a", LifeLeft: &left}, {ID: "b", RAIDStatus: "NonRAID"}, {ID: "c", RAIDStatus: "Foreign"}, {ID: "d"},
	}}}})).To(Succeed())
	home := w.systemPath() + "/Storage/s"
	w.part(simulator.PartDrive, "a", simulator.Condition{Health: "OK", Predicted: true})
	w.Expect(w.get(home + "/Drives/a")).To(And(HaveKeyWithValue("FailurePredicted", true), HaveKeyWithValue("PredictedMediaLifeLeftPercent", 3.0)))
	w.Expect(at(w.get(home+"/Drives/b"), "Oem", "Dell", "DellPhysicalDisk", "RaidStatus")).To(Equal("NonRAID"))
	for _, pair := range [][]string{{"a", "b"}, {"c", "d"}} {
		var drives []map[string]any
		for _, id := range pair {
			drives = append(drives, map[string]any{"@odata.id": home + "/Drives/" + id})
		}
		w.refusal(http.StatusBadRequest, http.MethodPost, home+"/Volumes", map[string]any{"RAIDType": "RAID1", "Links": map[string]any{"Drives": drives}})
	}
}
