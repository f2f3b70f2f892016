package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var updateRoutes = map[string]handler{
	"GET /redfish/v1/UpdateService":                                     getUpdateService,
	"GET /redfish/v1/UpdateService/FirmwareInventory":                   listFirmware,
	"GET /redfish/v1/UpdateService/FirmwareInventory/{firmware}":        getFirmware,
	"POST /redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate": simpleUpdate,
}

// The components that firmware can be for. Network adapters are ComponentNIC
// followed by the adapter's Id.
const (
	ComponentBIOS = "bios"
	ComponentBMC  = "bmc"
	ComponentNIC  = "nic:"
)

// Image is what a firmware image holds.
type Image struct {
	// Component is ComponentBIOS, ComponentBMC or ComponentNIC with an Id.
	Component string
	Version   string
}

// imageName is how IdentifyByName wants images to be called.
var imageName = regexp.MustCompile(`^(bios|bmc|nic-([A-Za-z0-9.]+))-v?([0-9][A-Za-z0-9.]*?)(\.(bin|exe|fwpkg|img|pldm))?$`)

// IdentifyByName reads component and version off the last element of an image's
// URL: bios-2.1.0.bin, bmc-7.10.exe, nic-NIC1-22.5.0.fwpkg.
func IdentifyByName(image string) (Image, error) {
	u, err := url.Parse(image)
	if err != nil {
		return Image{}, fmt.Errorf("the image's URL cannot be read: %w", err)
	}
	name := u.Path[strings.LastIndex(u.Path, "/")+1:]
	parts := imageName.FindStringSubmatch(name)
	if parts == nil {
		return Image{}, fmt.Errorf("the image %q is not a firmware image for this machine", name)
	}
	component := parts[1]
	if parts[2] != "" {
		component = ComponentNIC + parts[2]
	}
	return Image{Component: component, Version: parts[3]}, nil
}

// inventoryID is the Id of a component in the firmware inventory.
func inventoryID(sys *system, component string) string {
	return sys.ID + "." + strings.ReplaceAll(component, ":", ".")
}

// components are the components of a system in a stable order.
func (sys *system) components() []string {
	list := make([]string, 0, len(sys.firmware))
	for component := range sys.firmware {
		list = append(list, component)
	}
	slices.Sort(list)
	return list
}

// updatesMissing is the quirk of a BMC without updates; the lock is held.
func (c *call) updatesMissing() error {
	if c.of.has(NoUpdateService) {
		return notFound(c.r.URL.Path)
	}
	return nil
}

func getUpdateService(c *call) (reply, error) {
	if err := c.updatesMissing(); err != nil {
		return reply{}, err
	}
	return ok(resource("UpdateService.v1_14_0.UpdateService", "UpdateService", "Update Service", path("UpdateService"), object{
		"ServiceEnabled": true, "Status": status("OK"), "FirmwareInventory": link("UpdateService", "FirmwareInventory"),
		"Actions": object{"#UpdateService.SimpleUpdate": object{
			"target": path("UpdateService", "Actions", "UpdateService.SimpleUpdate"),
			"TransferProtocol@Redfish.AllowableValues": []string{"HTTP", "HTTPS"},
		}},
	}))
}

func listFirmware(c *call) (reply, error) {
	if err := c.updatesMissing(); err != nil {
		return reply{}, err
	}
	var ids []string
	for _, id := range c.s.order {
		sys := c.s.systems[id]
		for _, component := range sys.components() {
			ids = append(ids, inventoryID(sys, component))
		}
	}
	return ok(collection("SoftwareInventory", "Firmware Inventory", path("UpdateService", "FirmwareInventory"),
		links(ids, "UpdateService", "FirmwareInventory")))
}

// inventory finds the component with an Id in the inventory; the lock is held.
func (s *Server) inventory(id string) (*system, string, bool) {
	for at := len(id); at > 0; at = strings.LastIndex(id[:at], ".") {
		sys, known := s.systems[id[:at]]
		if !known {
			continue
		}
		for component := range sys.firmware {
			if inventoryID(sys, component) == id {
				return sys, component, true
			}
		}
	}
	return nil, "", false
}

func getFirmware(c *call) (reply, error) {
	id := c.r.PathValue("firmware")
	sys, component, found := c.s.inventory(id)
	if !found || c.updatesMissing() != nil {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("SoftwareInventory.v1_10_0.SoftwareInventory", id, strings.ToUpper(component)+" of "+sys.Name,
		path("UpdateService", "FirmwareInventory", id), object{
			"Version": sys.firmware[component], "SoftwareId": component, "Updateable": true, "Status": status("OK"),
			"Manufacturer": sys.Manufacturer, "RelatedItem": []object{link("Systems", sys.ID)},
		}))
}

func simpleUpdate(c *call) (reply, error) {
	image, _ := c.body["ImageURI"].(string)
	if image == "" {
		return reply{}, faultAt("ImageURI", missingParameter, "The action SimpleUpdate requires the parameter ImageURI.")
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if err := c.updatesMissing(); err != nil {
		return reply{}, err
	}
	sys, component, err := c.updateTarget()
	if err != nil {
		return reply{}, err
	}
	found, unknown := c.s.opts.Identify(image)
	if unknown == nil && component == "" {
		component = found.Component
	}
	if unknown == nil && sys.firmware[component] == "" {
		unknown = fmt.Errorf("the machine has no component %q", component)
	}
	waits := ""
	if component == ComponentBIOS && sys.state.Power == On {
		waits = taskStarting
	}
	j := job{name: "Update of " + cmp.Or(component, "firmware") + " of " + sys.Name, waits: waits}
	if unknown != nil {
		j.waits = ""
	}
	j.run = func() error {
		if unknown != nil {
			return unknown
		}
		return c.s.install(sys, component, found.Version)
	}
	return c.fetched(image, sys, j)
}

// fetched reads the image without the lock, then begins the job; the lock is held
// before and after.
func (c *call) fetched(image string, sys *system, j job) (reply, error) {
	if c.s.opts.Fetch != nil {
		c.s.mu.Unlock()
		err := c.s.opts.Fetch(c.r.Context(), image)
		c.s.mu.Lock()
		if err != nil {
			j.waits = ""
			j.run = func() error { return fmt.Errorf("the image could not be read: %w", err) }
		}
	}
	return c.accepted(c.s.begin(sys, j)), nil
}

// install is the end of an update; the lock is held.
func (s *Server) install(sys *system, component, version string) error {
	if !sys.strikes(FirmwareUnchanged) {
		sys.firmware[component] = version
	}
	if component == ComponentBMC {
		s.restart(sys)
	}
	return nil
}

// updateTarget reads the system, and the component if one is named, off the
// targets of an update; the lock is held. Without targets it is the only system.
func (c *call) updateTarget() (*system, string, error) {
	targets, _ := c.body["Targets"].([]any)
	if len(targets) == 0 {
		if sys := c.s.only(); sys != nil {
			return sys, "", nil
		}
		return nil, "", faultAt("Targets", missingParameter, "The action SimpleUpdate requires the parameter Targets where there are several systems.")
	}
	target, _ := targets[0].(string)
	for _, home := range []string{"Systems", "Managers"} {
		if sys := c.s.behind(home, strings.TrimPrefix(target, path(home)+"/")); sys != nil {
			return sys, "", nil
		}
	}
	if sys, component, ok := c.s.inventory(strings.TrimPrefix(target, path("UpdateService", "FirmwareInventory")+"/")); ok {
		return sys, component, nil
	}
	return nil, "", &refusal{
		status: http.StatusBadRequest, key: wrongParameter, property: "Targets",
		text: fmt.Sprintf("The value '%s' for the parameter Targets is not in the list of acceptable values.", target),
	}
}
