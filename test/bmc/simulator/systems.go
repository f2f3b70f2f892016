package simulator

import "strings"

var systemRoutes = map[string]handler{
	"GET /redfish/v1/Systems":                                                   listSystems,
	"GET /redfish/v1/Systems/{system}":                                          getSystem,
	"PATCH /redfish/v1/Systems/{system}":                                        patchSystem,
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
		"SerialNumber": sys.SerialNumber, "AssetTag": sys.AssetTag, "Status": status(sys.Health),
		"PowerState": sys.power(), "BiosVersion": sys.firmware[ComponentBIOS], "IndicatorLED": "Off",
		"Boot":               sys.bootObject(),
		"ProcessorSummary":   object{"Count": sys.Processors, "Model": processorModel, "Status": status("OK")},
		"MemorySummary":      object{"TotalSystemMemoryGiB": sys.MemoryGiB, "Status": status("OK")},
		"Processors":         link("Systems", id, "Processors"),
		"EthernetInterfaces": link("Systems", id, "EthernetInterfaces"),
		"LogServices":        link("Systems", id, "LogServices"),
		"Links": object{
			"ManagedBy": []object{link("Managers", id)}, "Chassis": []object{link("Chassis", id)},
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
	return ok(body)
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
