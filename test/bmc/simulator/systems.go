package simulator

import (
	"fmt"
	"slices"
	"strings"
)

var systemRoutes = map[string]handler{
	"GET /redfish/v1/Systems":                                                   listSystems,
	"GET /redfish/v1/Systems/{system}":                                          getSystem,
	"PATCH /redfish/v1/Systems/{system}":                                        patchSystem,
	"GET /redfish/v1/Systems/{system}/Settings":                                 getSystemSettings,
	"PATCH /redfish/v1/Systems/{system}/Settings":                               patchSystemSettings,
	"POST /redfish/v1/Systems/{system}/Actions/ComputerSystem.Reset":            resetSystem,
	"GET /redfish/v1/Systems/{system}/EthernetInterfaces":                       listNICs,
	"GET /redfish/v1/Systems/{system}/EthernetInterfaces/{nic}":                 getNIC,
	"GET /redfish/v1/Systems/{system}/Processors":                               listProcessors,
	"GET /redfish/v1/Systems/{system}/Processors/{processor}":                   getProcessor,
	"GET /redfish/v1/Systems/{system}/SecureBoot":                               getSecureBoot,
	"PATCH /redfish/v1/Systems/{system}/SecureBoot":                             patchSecureBoot,
	"POST /redfish/v1/Systems/{system}/SecureBoot/Actions/SecureBoot.ResetKeys": resetKeys,
}

func listSystems(c *call) (reply, error) {
	return ok(collection("ComputerSystem", "Systems", path("Systems"), links(c.s.order, "Systems")))
}

func getSystem(c *call) (reply, error) {
	sys := c.sys
	id := sys.ID
	body := resource("ComputerSystem.v1_22_0.ComputerSystem", id, sys.Name, path("Systems", id), object{
		"UUID": sys.UUID, "SystemType": "Physical", "Manufacturer": sys.Manufacturer, "Model": sys.Model,
		"SerialNumber": sys.SerialNumber, "AssetTag": sys.AssetTag, "Status": status(sys.worst()),
		"PowerState": sys.power(), "BiosVersion": sys.firmware[ComponentBIOS], "IndicatorLED": "Off",
		"Boot":               sys.bootObject(),
		"ProcessorSummary":   object{"Count": sys.Processors, "Model": processorModel, "Status": status(sys.worst(PartProcessor))},
		"MemorySummary":      object{"TotalSystemMemoryGiB": sys.MemoryGiB, "Status": status(sys.worst(PartMemory))},
		"Processors":         link("Systems", id, "Processors"),
		"Memory":             link("Systems", id, "Memory"),
		"EthernetInterfaces": link("Systems", id, "EthernetInterfaces"),
		"LogServices":        link("Systems", id, "LogServices"),
		"Links": object{
			"ManagedBy": []object{link("Managers", c.sys.ManagerID)}, "Chassis": []object{link("Chassis", c.sys.ChassisID)},
		},
		"Actions": object{"#ComputerSystem.Reset": object{
			"target":                            path("Systems", id, "Actions", "ComputerSystem.Reset"),
			"ResetType@Redfish.AllowableValues": sys.resetTypes(),
		}},
	})
	for name, missing := range map[string]Quirk{"SecureBoot": NoSecureBoot, "Storage": NoStorage, "Bios": NoBIOS, "VirtualMedia": MediaOnManager} {
		if !sys.has(missing) {
			body[name] = link("Systems", id, name)
		}
	}
	if !sys.has(NoBootProgress) {
		body["BootProgress"] = object{"LastState": sys.progress}
	}
	if sys.Vendor == HPE {
		body["Oem"] = object{"Hpe": sys.hpe()}
	}
	return ok(body)
}

// hpe is the vendor's part of the system; the lock is held.
func (sys *system) hpe() object {
	state, found := "PowerOff", "vMainDeviceDiscoveryNotComplete"
	switch {
	case sys.progress == osRunning:
		state, found = "FinishedPost", "vMainDeviceDiscoveryComplete"
	case sys.state.Power == On:
		state = "InPost"
	}
	return object{"PostState": state, "DeviceDiscoveryComplete": object{"DeviceDiscovery": found, "AMSDeviceDiscovery": "NoAMS", "SmartArrayDiscovery": "Complete"}}
}

func patchSystem(c *call) (reply, error) {
	for name := range c.body {
		if name != "Boot" && name != "AssetTag" && name != "IndicatorLED" && !strings.HasPrefix(name, "@") {
			return reply{}, faultAt(name, unknownProperty, "The property %s cannot be changed.", name)
		}
	}
	if boot, ok := c.body["Boot"].(object); ok {
		if err := c.setBoot(boot); err != nil {
			return reply{}, err
		}
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if tag, ok := c.body["AssetTag"].(string); ok {
		c.sys.AssetTag = tag
	}
	return done()
}

func listNICs(c *call) (reply, error) {
	ids := make([]string, 0, len(c.sys.NICs))
	for _, nic := range c.sys.NICs {
		ids = append(ids, nic.MAC)
	}
	return ok(collection("EthernetInterface", "Ethernet Interfaces", path("Systems", c.sys.ID, "EthernetInterfaces"),
		links(ids, "Systems", c.sys.ID, "EthernetInterfaces")))
}

func getNIC(c *call) (reply, error) {
	id := c.r.PathValue("nic")
	i := slices.IndexFunc(c.sys.NICs, func(nic NIC) bool { return nic.MAC == id })
	if i < 0 {
		return reply{}, notFound(c.r.URL.Path)
	}
	nic := c.sys.NICs[i]
	return ok(resource("EthernetInterface.v1_12_1.EthernetInterface", id, "NIC "+id, path("Systems", c.sys.ID, "EthernetInterfaces", id), object{
		"MACAddress": nic.MAC, "PermanentMACAddress": nic.MAC, "SpeedMbps": nic.SpeedMbps, "LinkStatus": "LinkUp",
		"InterfaceEnabled": true, "Status": status("OK"),
	}))
}

// processorModel is what all processors are called.
const processorModel = "Simulated CPU"

func listProcessors(c *call) (reply, error) {
	ids := make([]string, 0, c.sys.Processors)
	for i := range c.sys.Processors {
		ids = append(ids, processorID(i))
	}
	return ok(collection("Processor", "Processors", path("Systems", c.sys.ID, "Processors"), links(ids, "Systems", c.sys.ID, "Processors")))
}

func processorID(i int) string { return fmt.Sprintf("CPU%d", i+1) }

func getProcessor(c *call) (reply, error) {
	id := c.r.PathValue("processor")
	for i := range c.sys.Processors {
		if processorID(i) != id {
			continue
		}
		return ok(resource("Processor.v1_19_0.Processor", id, "Processor "+id, path("Systems", c.sys.ID, "Processors", id), object{
			"ProcessorType": "CPU", "ProcessorArchitecture": "x86", "InstructionSet": "x86-64", "Model": processorModel,
			"Manufacturer": "ACME", "MaxSpeedMHz": 2100, "TotalCores": 8, "TotalThreads": 16, "Socket": id, "Status": c.sys.partStatus(PartProcessor, id),
		}))
	}
	return reply{}, notFound(c.r.URL.Path)
}
