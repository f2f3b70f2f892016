package simulator

import (
	"strings"
	"time"
)

var chassisRoutes = map[string]handler{
	"GET /redfish/v1/Managers":                                   listManagers,
	"GET /redfish/v1/Managers/{system}":                          getManager,
	"POST /redfish/v1/Managers/{system}/Actions/Manager.Reset":   resetManager,
	"GET /redfish/v1/Chassis":                                    listChassis,
	"GET /redfish/v1/Chassis/{system}":                           getChassis,
	"GET /redfish/v1/Chassis/{system}/Power":                     getPower,
	"GET /redfish/v1/Chassis/{system}/Thermal":                   getThermal,
	"GET /redfish/v1/Chassis/{system}/Sensors":                   listSensors,
	"GET /redfish/v1/Chassis/{system}/Sensors/{sensor}":          getSensor,
	"GET /redfish/v1/Chassis/{system}/NetworkAdapters":           listAdapters,
	"GET /redfish/v1/Chassis/{system}/NetworkAdapters/{adapter}": getAdapter,
}

func listManagers(c *call) (reply, error) {
	return ok(collection("Manager", "Managers", path("Managers"), links(c.s.order, "Managers")))
}

func getManager(c *call) (reply, error) {
	id := c.sys.ID
	return ok(resource("Manager.v1_19_1.Manager", id, "BMC of "+c.sys.Name, path("Managers", id), object{
		"ManagerType": "BMC", "Manufacturer": c.sys.Manufacturer, "Model": "Simulated BMC", "FirmwareVersion": c.sys.firmware[ComponentBMC],
		"UUID": c.sys.UUID, "ServiceEntryPointUUID": c.s.uuid, "PowerState": On, "Status": status("OK"),
		"DateTime": time.Now().UTC().Format(time.RFC3339), "VirtualMedia": link("Managers", id, "VirtualMedia"),
		"Links": object{"ManagerForServers": []object{link("Systems", id)}, "ManagerForChassis": []object{link("Chassis", id)}},
		"Actions": object{"#Manager.Reset": object{
			"target":                            path("Managers", id, "Actions", "Manager.Reset"),
			"ResetType@Redfish.AllowableValues": []ResetType{ResetForceRestart, ResetGracefulRestart},
		}},
	}))
}

func listChassis(c *call) (reply, error) {
	return ok(collection("Chassis", "Chassis", path("Chassis"), links(c.s.order, "Chassis")))
}

func getChassis(c *call) (reply, error) {
	id := c.sys.ID
	return ok(resource("Chassis.v1_25_1.Chassis", id, "Chassis of "+c.sys.Name, path("Chassis", id), object{
		"ChassisType": "RackMount", "Manufacturer": c.sys.Manufacturer, "Model": c.sys.Model, "SerialNumber": c.sys.SerialNumber,
		"PowerState": c.sys.state.Power, "Status": status(c.sys.Health), "Power": link("Chassis", id, "Power"), "Thermal": link("Chassis", id, "Thermal"),
		"Sensors": link("Chassis", id, "Sensors"), "NetworkAdapters": link("Chassis", id, "NetworkAdapters"),
		"Links": object{"ComputerSystems": []object{link("Systems", id)}, "ManagedBy": []object{link("Managers", id)}},
	}))
}

// sensor is a reading that depends on whether the machine is on.
type sensor struct {
	id, name, kind, units, context string
	on, off                        float64
}

// sensors are those of every chassis.
var sensors = []sensor{
	{"Inlet", "Inlet temperature", "Temperature", "Cel", "Intake", 22, 21},
	{"CPU1", "CPU 1 temperature", "Temperature", "Cel", "CPU", 48, 21},
	{"Fan1", "Fan 1", "Rotational", "RPM", "Fan", 5400, 0},
	{"Fan2", "Fan 2", "Rotational", "RPM", "Fan", 5460, 0},
	{"Power", "Power consumption", "Power", "W", "PowerSupply", 210, 8},
}

// reading is what a sensor shows now; the lock is held.
func (sys *system) reading(s sensor) float64 {
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
	return ok(collection("Sensor", "Sensors", path("Chassis", c.sys.ID, "Sensors"), links(ids, "Chassis", c.sys.ID, "Sensors")))
}

func getSensor(c *call) (reply, error) {
	for _, s := range sensors {
		if s.id == c.r.PathValue("sensor") {
			return ok(resource("Sensor.v1_9_0.Sensor", s.id, s.name, path("Chassis", c.sys.ID, "Sensors", s.id), object{
				"Reading": c.sys.reading(s), "ReadingType": s.kind, "ReadingUnits": s.units, "PhysicalContext": s.context, "Status": status("OK"),
			}))
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

func getThermal(c *call) (reply, error) {
	address := path("Chassis", c.sys.ID, "Thermal")
	temperatures, fans := []object{}, []object{}
	for _, s := range sensors {
		entry := object{"MemberId": s.id, "Name": s.name, "PhysicalContext": s.context, "Status": status("OK")}
		switch s.kind {
		case "Temperature":
			entry["@odata.id"], entry["ReadingCelsius"] = address+"#/Temperatures/"+s.id, c.sys.reading(s)
			entry["UpperThresholdCritical"] = 95
			temperatures = append(temperatures, entry)
		case "Rotational":
			entry["@odata.id"], entry["Reading"], entry["ReadingUnits"] = address+"#/Fans/"+s.id, c.sys.reading(s), "RPM"
			fans = append(fans, entry)
		}
	}
	return ok(resource("Thermal.v1_7_3.Thermal", "Thermal", "Thermal", address, object{
		"Status": status("OK"), "Temperatures": temperatures, "Fans": fans,
	}))
}

func getPower(c *call) (reply, error) {
	address := path("Chassis", c.sys.ID, "Power")
	watts := 0.0
	for _, s := range sensors {
		if s.kind == "Power" {
			watts = c.sys.reading(s)
		}
	}
	return ok(resource("Power.v1_7_3.Power", "Power", "Power", address, object{
		"PowerControl": []object{{"@odata.id": address + "#/PowerControl/0", "MemberId": "0", "Name": "System power", "PowerConsumedWatts": watts}},
		"PowerSupplies": []object{{
			"@odata.id": address + "#/PowerSupplies/0", "MemberId": "0", "Name": "Power supply 1", "PowerCapacityWatts": 800,
			"LastPowerOutputWatts": watts, "LineInputVoltage": 230, "Status": status("OK"),
		}},
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
	return ok(collection("NetworkAdapter", "Network Adapters", path("Chassis", c.sys.ID, "NetworkAdapters"),
		links(c.sys.adapters(), "Chassis", c.sys.ID, "NetworkAdapters")))
}

func getAdapter(c *call) (reply, error) {
	id := c.r.PathValue("adapter")
	version, known := c.sys.firmware[ComponentNIC+id]
	if !known {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("NetworkAdapter.v1_11_0.NetworkAdapter", id, "Network adapter "+id, path("Chassis", c.sys.ID, "NetworkAdapters", id), object{
		"Manufacturer": "ACME", "Model": "Simulated NIC", "Status": status("OK"),
		"Controllers": []object{{"FirmwarePackageVersion": version}},
	}))
}
