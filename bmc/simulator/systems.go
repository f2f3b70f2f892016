package simulator

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

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

// bootTargets are the boot devices that a system lists; the lock is held.
func (sys *system) bootTargets() []string {
	targets := []string{"None", "Pxe", "Cd", "Usb", "Hdd", "BiosSetup"}
	if !sys.has(NoHTTPBoot) {
		targets = append(targets, uefiHTTP)
	}
	return targets
}

// uefiHTTP is the boot target of UEFI HTTP boot.
const uefiHTTP = "UefiHttp"

func (sys *system) bootObject() object {
	boot := sys.state.Boot
	body := object{
		"BootSourceOverrideTarget": boot.Target, "BootSourceOverrideEnabled": boot.Enabled, "BootSourceOverrideMode": boot.Mode,
		"BootSourceOverrideTarget@Redfish.AllowableValues":  sys.bootTargets(),
		"BootSourceOverrideEnabled@Redfish.AllowableValues": overrides,
		"BootSourceOverrideMode@Redfish.AllowableValues":    bootModes,
	}
	if !sys.has(NoHTTPBoot) {
		body["HttpBootUri"] = nil
		if boot.HTTPURI != "" {
			body["HttpBootUri"] = boot.HTTPURI
		}
	}
	return body
}

var (
	overrides = []string{"Disabled", "Once", "Continuous"}
	bootModes = []string{legacy, uefi}
)

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

// setBoot changes the boot override once the machine agrees.
func (c *call) setBoot(values object) error {
	c.s.mu.Lock()
	targets, ignored := c.sys.bootTargets(), c.sys.strikes(BootIgnored)
	c.s.mu.Unlock()
	edit := func(state *State) error { return editBoot(&state.Boot, values, targets) }
	if ignored {
		return edit(&State{Boot: Boot{Mode: uefi}})
	}
	return c.s.change(c.r.Context(), c.sys, edit, func(m Machine, state State) error {
		return m.BootChanged(c.r.Context(), state)
	})
}

// editBoot takes over the values of a PATCH.
func editBoot(boot *Boot, values object, targets []string) error {
	choices := map[string]struct {
		into    *string
		allowed []string
	}{
		"BootSourceOverrideTarget":  {&boot.Target, targets},
		"BootSourceOverrideEnabled": {&boot.Enabled, overrides},
		"BootSourceOverrideMode":    {&boot.Mode, bootModes},
	}
	for name, value := range values {
		text, isText := value.(string)
		choice, known := choices[name]
		switch {
		case name == "HttpBootUri" && slices.Contains(targets, uefiHTTP):
			boot.HTTPURI = text // null clears it
		case !known:
			return faultAt("Boot/"+name, unknownProperty, "The property %s is not in the list of valid properties.", name)
		case !isText || !slices.Contains(choice.allowed, text):
			return faultAt("Boot/"+name, wrongValue, "The value '%v' for the property %s is not in the list of acceptable values.", value, name)
		default:
			*choice.into = text
		}
	}
	if _, given := values["BootSourceOverrideEnabled"]; !given && boot.Target != "None" && boot.Enabled == "Disabled" {
		boot.Enabled = "Continuous" // as a target without a duration is meant
	}
	if boot.Target == uefiHTTP && boot.Mode != uefi {
		return faultAt("Boot/BootSourceOverrideTarget", wrongValue, "UefiHttp needs the boot mode UEFI.")
	}
	return nil
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
			"Manufacturer": "ACME", "MaxSpeedMHz": 2100, "TotalCores": 8, "TotalThreads": 16, "Socket": id, "Status": status("OK"),
		}))
	}
	return reply{}, notFound(c.r.URL.Path)
}

// secureBoot is what the SecureBoot resource has besides the setting.
type secureBoot struct {
	mode    string // UserMode or SetupMode
	current bool   // in this boot
}

func getSecureBoot(c *call) (reply, error) {
	if c.sys.has(NoSecureBoot) {
		return reply{}, notFound(c.r.URL.Path)
	}
	current := "Disabled"
	if c.sys.secure.current {
		current = "Enabled"
	}
	return ok(resource("SecureBoot.v1_1_0.SecureBoot", "SecureBoot", "UEFI Secure Boot", path("Systems", c.sys.ID, "SecureBoot"), object{
		"SecureBootEnable": c.sys.state.SecureBoot, "SecureBootCurrentBoot": current, "SecureBootMode": c.sys.secure.mode,
		"Actions": object{"#SecureBoot.ResetKeys": object{
			"target":                                path("Systems", c.sys.ID, "SecureBoot", "Actions", "SecureBoot.ResetKeys"),
			"ResetKeysType@Redfish.AllowableValues": keyResets,
		}},
	}))
}

func patchSecureBoot(c *call) (reply, error) {
	enable, ok := c.body["SecureBootEnable"].(bool)
	if !ok {
		return reply{}, faultAt("SecureBootEnable", wrongType, "The property SecureBootEnable must be true or false.")
	}
	c.s.mu.Lock()
	missing := c.sys.has(NoSecureBoot)
	c.s.mu.Unlock()
	if missing {
		return reply{}, notFound(c.r.URL.Path)
	}
	err := c.s.change(c.r.Context(), c.sys, func(state *State) error {
		if enable && state.Boot.Mode != uefi {
			return faultAt("SecureBootEnable", notAllowed, "Secure boot needs the boot mode UEFI.")
		}
		state.SecureBoot = enable
		return nil
	}, func(m Machine, state State) error { return m.BootChanged(c.r.Context(), state) })
	if err != nil {
		return reply{}, err
	}
	return done()
}

// keyResets are the ways to reset the keys; the first brings keys, the others leave none.
var keyResets = []string{"ResetAllKeysToDefault", "DeleteAllKeys", "DeletePK"}

func resetKeys(c *call) (reply, error) {
	kind, _ := c.body["ResetKeysType"].(string)
	if !slices.Contains(keyResets, kind) {
		return reply{}, faultAt("ResetKeysType", wrongParameter, "The value '%s' for the parameter ResetKeysType is not in the list of acceptable values.", kind)
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.sys.secure.mode = "SetupMode"
	if kind == keyResets[0] {
		c.sys.secure.mode = "UserMode"
	}
	return reply{status: http.StatusNoContent}, nil
}
