package simulator

import (
	"fmt"
	"slices"
)

var healthRoutes = map[string]handler{
	"GET /redfish/v1/Chassis/{system}/ThermalSubsystem":                      getThermalSubsystem,
	"GET /redfish/v1/Chassis/{system}/ThermalSubsystem/ThermalMetrics":       getThermalMetrics,
	"GET /redfish/v1/Chassis/{system}/ThermalSubsystem/Fans":                 listFans,
	"GET /redfish/v1/Chassis/{system}/ThermalSubsystem/Fans/{fan}":           getFan,
	"GET /redfish/v1/Chassis/{system}/PowerSubsystem":                        getPowerSubsystem,
	"GET /redfish/v1/Chassis/{system}/PowerSubsystem/PowerSupplies":          listSupplies,
	"GET /redfish/v1/Chassis/{system}/PowerSubsystem/PowerSupplies/{supply}": getSupply,
	"GET /redfish/v1/Systems/{system}/Memory":                                listModules,
	"GET /redfish/v1/Systems/{system}/Memory/{module}":                       getModule,
}

// Part is a part of a machine that can fail.
type Part struct {
	// Kind is fan, supply, sensor, memory, processor, drive or volume, and ID its Id, such as Fan1.
	Kind, ID string
}

// The kinds of parts.
const (
	PartFan       = "fan"
	PartSupply    = "supply"
	PartSensor    = "sensor"
	PartMemory    = "memory"
	PartProcessor = "processor"
	PartDrive     = "drive"
)

// Condition is how a part is.
type Condition struct {
	// Health is OK, Warning or Critical; empty is null.
	Health string
	// State is Enabled, Absent, Disabled or UnavailableOffline; Enabled when empty.
	State string
	// Reading replaces that of a sensor or fan; nil leaves it.
	Reading *float64
	// Predicted is a drive that will fail.
	Predicted bool
}

// supplies are the power supplies of every machine, modules its memory.
var (
	supplies = []string{"PSU1", "PSU2"}
	modules  = []string{"DIMM1", "DIMM2"}
)

// failures are what the log says of failed parts, by kind.
var failures = map[string]Event{
	PartFan: {MessageID: "Alert.1.0.FanFailed", Message: "Fan %s does not turn as it should."}, PartSupply: {MessageID: "Alert.1.0.PowerSupplyFailed", Message: "Power supply %s has failed."},
	PartSensor: {MessageID: "Alert.1.0.SensorThreshold", Message: "Sensor %s is beyond a threshold."}, PartMemory: {MessageID: "Alert.1.0.MemoryErrors", Message: "Memory module %s has errors."},
	PartProcessor: {MessageID: "Alert.1.0.ProcessorFailed", Message: "Processor %s has failed."}, PartDrive: {MessageID: "Alert.1.0.DriveFailed", Message: "Drive %s has failed or will fail."},
}

// SetPart makes a part of a machine be as described: a fan that fails, a sensor
// beyond its threshold, a drive that will fail. The resources show it, the health
// of the whole follows, and the log and the subscribers hear of what is not OK.
func (s *Server) SetPart(id string, part Part, condition Condition) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	if !sys.hasPart(part) {
		return fmt.Errorf("system %s has no %s %q", id, part.Kind, part.ID)
	}
	if sys.parts == nil {
		sys.parts = map[Part]Condition{}
	}
	sys.parts[part] = condition
	if event := failures[part.Kind]; condition.Health == "Warning" || condition.Health == "Critical" || condition.Predicted {
		event.Type, event.Severity, event.Message = "Alert", condition.Health, fmt.Sprintf(event.Message, part.ID)
		if condition.Predicted {
			event.Severity = "Warning"
		}
		s.note(sys, event)
	}
	return nil
}

// hasPart says whether there is such a part; the lock is held.
func (sys *system) hasPart(part Part) bool {
	known := map[string]func() bool{
		PartFan: func() bool {
			return slices.ContainsFunc(sensors, func(s sensor) bool { return s.id == part.ID && s.kind == rotational })
		},
		PartSensor: func() bool { return slices.ContainsFunc(sensors, func(s sensor) bool { return s.id == part.ID }) },
		PartSupply: func() bool { return slices.Contains(supplies, part.ID) },
		PartMemory: func() bool { return slices.Contains(modules, part.ID) },
		PartProcessor: func() bool {
			for i := range sys.Processors {
				if processorID(i) == part.ID {
					return true
				}
			}
			return false
		},
		PartDrive: func() bool {
			return slices.ContainsFunc(sys.storage, func(s *storage) bool {
				return slices.ContainsFunc(s.Drives, func(d Drive) bool { return d.ID == part.ID })
			})
		},
	}
	find, ok := known[part.Kind]
	return ok && find()
}

// partStatus is the Status of a part; the lock is held.
func (sys *system) partStatus(kind, id string) object {
	condition, set := sys.parts[Part{kind, id}]
	if !set {
		return status("OK")
	}
	shown := object{"State": "Enabled", "Health": nil}
	if condition.State != "" {
		shown["State"] = condition.State
	}
	if condition.Health != "" {
		shown["Health"], shown["HealthRollup"] = condition.Health, condition.Health
	}
	return shown
}

// worst is the worst health of the parts of some kinds, or of all; the lock is held.
func (sys *system) worst(kinds ...string) string {
	rank := map[string]int{"Warning": 1, "Critical": 2}
	health := "OK"
	if len(kinds) == 0 {
		health = sys.Health
	}
	for part, condition := range sys.parts {
		if (len(kinds) == 0 || slices.Contains(kinds, part.Kind)) && rank[condition.Health] > rank[health] {
			health = condition.Health
		}
	}
	return health
}

func getThermalSubsystem(c *call) (reply, error) {
	home := path("Chassis", c.sys.ChassisID, "ThermalSubsystem")
	return ok(resource("ThermalSubsystem.v1_3_2.ThermalSubsystem", "ThermalSubsystem", "Thermal Subsystem", home, object{
		"Status": status(c.sys.worst(PartFan)), "Fans": object{"@odata.id": home + "/Fans"}, "ThermalMetrics": object{"@odata.id": home + "/ThermalMetrics"},
	}))
}

func getThermalMetrics(c *call) (reply, error) {
	readings := []object{}
	for _, s := range sensors {
		if s.kind == "Temperature" {
			readings = append(readings, object{
				"DataSourceUri": path("Chassis", c.sys.ChassisID, "Sensors", s.id), "DeviceName": s.name, "PhysicalContext": s.context, "Reading": c.sys.reading(s),
			})
		}
	}
	return ok(resource("ThermalMetrics.v1_3_1.ThermalMetrics", "ThermalMetrics", "Thermal Metrics",
		path("Chassis", c.sys.ChassisID, "ThermalSubsystem", "ThermalMetrics"), object{"TemperatureReadingsCelsius": readings}))
}

// fans are the sensors that turn.
func fans() []string {
	var ids []string
	for _, s := range sensors {
		if s.kind == rotational {
			ids = append(ids, s.id)
		}
	}
	return ids
}

func listFans(c *call) (reply, error) {
	home := []string{"Chassis", c.sys.ChassisID, "ThermalSubsystem", "Fans"}
	return ok(collection("Fan", "Fans", path(home...), links(fans(), home...)))
}

func getFan(c *call) (reply, error) {
	id := c.r.PathValue("fan")
	for _, s := range sensors {
		if s.id == id && s.kind == rotational {
			return ok(resource("Fan.v1_5_2.Fan", id, s.name, path("Chassis", c.sys.ChassisID, "ThermalSubsystem", "Fans", id), object{
				"Status": c.sys.partStatus(PartFan, id), "PhysicalContext": s.context,
				"SpeedPercent": object{"DataSourceUri": path("Chassis", c.sys.ChassisID, "Sensors", id), "SpeedRPM": c.sys.reading(s), "Reading": 40},
			}))
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

func getPowerSubsystem(c *call) (reply, error) {
	home := path("Chassis", c.sys.ChassisID, "PowerSubsystem")
	return ok(resource("PowerSubsystem.v1_1_2.PowerSubsystem", "PowerSubsystem", "Power Subsystem", home, object{
		"Status": status(c.sys.worst(PartSupply)), "PowerSupplies": object{"@odata.id": home + "/PowerSupplies"}, "CapacityWatts": 1600,
		"PowerSupplyRedundancy": []object{{"RedundancyType": "NPlusM", "MinNeededInGroup": 1, "MaxSupportedInGroup": 2, "Status": status(c.sys.worst(PartSupply)), "RedundancyGroup": []object{}}},
	}))
}

func listSupplies(c *call) (reply, error) {
	home := []string{"Chassis", c.sys.ChassisID, "PowerSubsystem", "PowerSupplies"}
	return ok(collection("PowerSupply", "Power Supplies", path(home...), links(supplies, home...)))
}

func getSupply(c *call) (reply, error) {
	id := c.r.PathValue("supply")
	if !slices.Contains(supplies, id) {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("PowerSupply.v1_6_0.PowerSupply", id, "Power supply "+id, path("Chassis", c.sys.ChassisID, "PowerSubsystem", "PowerSupplies", id), object{
		"Status": c.sys.partStatus(PartSupply, id), "PowerSupplyType": "AC", "PowerCapacityWatts": 800, "Model": "SIM800", "SerialNumber": "SN-" + id,
	}))
}

func listModules(c *call) (reply, error) {
	return ok(collection("Memory", "Memory", path("Systems", c.sys.ID, "Memory"), links(modules, "Systems", c.sys.ID, "Memory")))
}

func getModule(c *call) (reply, error) {
	id := c.r.PathValue("module")
	if !slices.Contains(modules, id) {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("Memory.v1_20_0.Memory", id, "Memory "+id, path("Systems", c.sys.ID, "Memory", id), object{
		"Status": c.sys.partStatus(PartMemory, id), "CapacityMiB": c.sys.MemoryGiB * 1024 / len(modules), "MemoryType": "DRAM", "MemoryDeviceType": "DDR5", "DeviceLocator": id,
	}))
}
