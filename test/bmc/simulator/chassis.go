package simulator

import (
	"strconv"
	"strings"
)

var chassisRoutes = map[string]handler{
	"GET /redfish/v1/Chassis":                                    listChassis,
	"GET /redfish/v1/Chassis/{system}":                           getChassis,
	"GET /redfish/v1/Chassis/{system}/Power":                     getPower,
	"GET /redfish/v1/Chassis/{system}/Thermal":                   getThermal,
	"GET /redfish/v1/Chassis/{system}/Sensors":                   listSensors,
	"GET /redfish/v1/Chassis/{system}/Sensors/{sensor}":          getSensor,
	"GET /redfish/v1/Chassis/{system}/NetworkAdapters":           listAdapters,
	"GET /redfish/v1/Chassis/{system}/NetworkAdapters/{adapter}": getAdapter,
}

func listChassis(c *call) (reply, error) {
	return ok(collection("Chassis", "Chassis", path("Chassis"), links(c.s.idsIn("Chassis"), "Chassis")))
}

func getChassis(c *call) (reply, error) {
	id := c.sys.ChassisID
	return ok(resource("Chassis.v1_25_1.Chassis", id, "Chassis of "+c.sys.Name, path("Chassis", id), object{
		"ChassisType": "RackMount", "Manufacturer": c.sys.Manufacturer, "Model": c.sys.Model, "SerialNumber": c.sys.SerialNumber,
		"PowerState": c.sys.state.Power, "Status": status(c.sys.worst()), "Power": link("Chassis", id, "Power"), "Thermal": link("Chassis", id, "Thermal"),
		"ThermalSubsystem": link("Chassis", id, "ThermalSubsystem"), "PowerSubsystem": link("Chassis", id, "PowerSubsystem"),
		"Sensors": link("Chassis", id, "Sensors"), "NetworkAdapters": link("Chassis", id, "NetworkAdapters"),
		"Links": object{"ComputerSystems": []object{link("Systems", c.sys.ID)}, "ManagedBy": []object{link("Managers", c.sys.ManagerID)}},
	}))
}

// sensor is a reading that depends on whether the machine is on.
type sensor struct {
	id, name, kind, units, context string
	on, off                        float64
}

// rotational is the kind of sensors that are fans.
const rotational = "Rotational"

// critical is the temperature beyond which a machine is in danger.
const critical = 95

// sensors are those of every chassis.
var sensors = []sensor{
	{"Inlet", "Inlet temperature", "Temperature", "Cel", "Intake", 22, 21},
	{"CPU1", "CPU 1 temperature", "Temperature", "Cel", "CPU", 48, 21},
	{"Fan1", "Fan 1", rotational, "RPM", "Fan", 5400, 0},
	{"Fan2", "Fan 2", rotational, "RPM", "Fan", 5460, 0},
	{"Power", "Power consumption", "Power", "W", "PowerSupply", 210, 8},
}

// reading is what a sensor shows now; the lock is held.
func (sys *system) reading(s sensor) float64 {
	for _, kind := range []string{PartSensor, PartFan} {
		if set := sys.parts[Part{kind, s.id}].Reading; set != nil {
			return *set
		}
	}
	if sys.state.Power == On {
		return s.on
	}
	return s.off
}

func listSensors(c *call) (reply, error) {
	ids := make([]string, 0, len(sensors))
	for _, s := range sensors {
		ids = append(ids, s.id)
	}
	return ok(collection("Sensor", "Sensors", path("Chassis", c.sys.ChassisID, "Sensors"), links(ids, "Chassis", c.sys.ChassisID, "Sensors")))
}

func getSensor(c *call) (reply, error) {
	for _, s := range sensors {
		if s.id == c.r.PathValue("sensor") {
			body := resource("Sensor.v1_9_0.Sensor", s.id, s.name, path("Chassis", c.sys.ChassisID, "Sensors", s.id), object{
				"Reading": c.sys.reading(s), "ReadingType": s.kind, "ReadingUnits": s.units, "PhysicalContext": s.context, "Status": c.sys.sensorStatus(s),
			})
			if s.kind == "Temperature" {
				body["Thresholds"] = object{"UpperCritical": object{"Reading": critical}}
			}
			if state := c.sys.sensorStatus(s)["State"]; state == "Absent" {
				body["Reading"] = nil
			}
			return ok(body)
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

// sensorStatus is the Status of a sensor, which a fan shares; the lock is held.
func (sys *system) sensorStatus(s sensor) object {
	if _, set := sys.parts[Part{PartFan, s.id}]; set {
		return sys.partStatus(PartFan, s.id)
	}
	return sys.partStatus(PartSensor, s.id)
}

func getThermal(c *call) (reply, error) {
	address := path("Chassis", c.sys.ChassisID, "Thermal")
	temperatures, fans := []object{}, []object{}
	for _, s := range sensors {
		entry := object{"MemberId": s.id, "Name": s.name, "PhysicalContext": s.context, "Status": c.sys.sensorStatus(s)}
		switch s.kind {
		case "Temperature":
			entry["@odata.id"], entry["ReadingCelsius"] = address+"#/Temperatures/"+s.id, c.sys.reading(s)
			entry["UpperThresholdCritical"] = critical
			temperatures = append(temperatures, entry)
		case rotational:
			entry["@odata.id"], entry["Reading"], entry["ReadingUnits"] = address+"#/Fans/"+s.id, c.sys.reading(s), "RPM"
			fans = append(fans, entry)
		}
	}
	return ok(resource("Thermal.v1_7_3.Thermal", "Thermal", "Thermal", address, object{
		"Status": status("OK"), "Temperatures": temperatures, "Fans": fans,
	}))
}

func getPower(c *call) (reply, error) {
	address := path("Chassis", c.sys.ChassisID, "Power")
	watts := 0.0
	for _, s := range sensors {
		if s.kind == "Power" {
			watts = c.sys.reading(s)
		}
	}
	list := make([]object, 0, len(supplies))
	for i, id := range supplies {
		member := strconv.Itoa(i)
		list = append(list, object{
			"@odata.id": address + "#/PowerSupplies/" + member, "MemberId": member, "Name": "Power supply " + id, "PowerCapacityWatts": 800,
			"LastPowerOutputWatts": watts / float64(len(supplies)), "LineInputVoltage": 230, "Status": c.sys.partStatus(PartSupply, id),
		})
	}
	return ok(resource("Power.v1_7_3.Power", "Power", "Power", address, object{
		"PowerControl":  []object{{"@odata.id": address + "#/PowerControl/0", "MemberId": "0", "Name": "System power", "PowerConsumedWatts": watts}},
		"PowerSupplies": list,
	}))
}

// adapters are the Ids of the network adapters with firmware of their own.
func (sys *system) adapters() []string {
	var ids []string
	for _, component := range sys.components() {
		if id, isNIC := strings.CutPrefix(component, ComponentNIC); isNIC {
			ids = append(ids, id)
		}
	}
	return ids
}

func listAdapters(c *call) (reply, error) {
	return ok(collection("NetworkAdapter", "Network Adapters", path("Chassis", c.sys.ChassisID, "NetworkAdapters"),
		links(c.sys.adapters(), "Chassis", c.sys.ChassisID, "NetworkAdapters")))
}

func getAdapter(c *call) (reply, error) {
	id := c.r.PathValue("adapter")
	version, known := c.sys.firmware[ComponentNIC+id]
	if !known {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("NetworkAdapter.v1_11_0.NetworkAdapter", id, "Network adapter "+id, path("Chassis", c.sys.ChassisID, "NetworkAdapters", id), object{
		"Manufacturer": "ACME", "Model": "Simulated NIC", "Status": status("OK"),
		"Controllers": []object{{"FirmwarePackageVersion": version}},
	}))
}
