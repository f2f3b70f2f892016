package simulator

import (
	"encoding/json"
	"strconv"
	"strings"
)

// licenceRoutes are the places where vendors show licences. Each answers for its
// vendor only.
var licenceRoutes = map[string]handler{
	"GET /redfish/v1/LicenseService":                                         getLicenceService,
	"GET /redfish/v1/LicenseService/Licenses":                                listLicences,
	"GET /redfish/v1/LicenseService/Licenses/{licence}":                      getLicence,
	"GET /redfish/v1/Managers/{system}/LicenseService":                       listHPELicences,
	"GET /redfish/v1/Managers/{system}/LicenseService/{licence}":             getHPELicence,
	"GET /redfish/v1/Managers/{system}/Oem/Dell/DellLicenses":                listDellLicences,
	"GET /redfish/v1/Managers/{system}/Oem/Dell/DellLicenses/{licence}":      getDellLicence,
	"GET /redfish/v1/Managers/{system}/LicenseManager":                       getSupermicroLicences,
	"GET /redfish/v1/Managers/{system}/LicenseManager/QueryLicense":          querySupermicroLicences,
	"GET /redfish/v1/Managers/{system}/Oem/Dell/DellAttributes/{attributes}": getDellAttributes,
}

// SetLicences changes the licences of a system's BMC.
func (s *Server) SetLicences(id string, licences []Licence) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	sys.Licences = licences
	return nil
}

// licensed says whether a licence is in force; the lock is held.
func (sys *system) licensed() bool {
	for _, l := range sys.Licences {
		if !l.Expired {
			return true
		}
	}
	return false
}

// id is a licence's name as it stands in an address.
func (l Licence) id() string { return strings.ReplaceAll(l.Name, " ", "_") }

// licencesOf are those of the system of the call if its vendor is one of these;
// the lock is held.
func (c *call) licencesOf(vendors ...Vendor) ([]Licence, bool) {
	for _, vendor := range vendors {
		if c.of != nil && c.of.Vendor == vendor {
			return c.of.Licences, true
		}
	}
	return nil, false
}

// hasLicenceService are the vendors with the standard's own.
var hasLicenceService = []Vendor{Dell, Lenovo}

func getLicenceService(c *call) (reply, error) {
	if _, there := c.licencesOf(hasLicenceService...); !there {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("LicenseService.v1_1_1.LicenseService", "LicenseService", "License Service", path("LicenseService"), object{
		"ServiceEnabled": true, "Licenses": link("LicenseService", "Licenses"),
	}))
}

func listLicences(c *call) (reply, error) {
	list, there := c.licencesOf(hasLicenceService...)
	if !there {
		return reply{}, notFound(c.r.URL.Path)
	}
	ids := make([]string, 0, len(list))
	for _, l := range list {
		ids = append(ids, l.id())
	}
	return ok(collection("License", "Licenses", path("LicenseService", "Licenses"), links(ids, "LicenseService", "Licenses")))
}

func getLicence(c *call) (reply, error) {
	list, _ := c.licencesOf(hasLicenceService...)
	for _, l := range list {
		if l.id() == c.r.PathValue("licence") {
			return ok(resource("License.v1_1_3.License", l.id(), l.Name, path("LicenseService", "Licenses", l.id()), object{
				"LicenseType": "Production", "EntitlementId": l.Name, "LicenseInfoURI": "", "Status": object{"State": l.state(), "Health": "OK"},
			}))
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

func (l Licence) state() string {
	if l.Expired {
		return "Disabled"
	}
	return "Enabled"
}

// numbered are Ids from 1.
func numbered(n int) []string {
	ids := make([]string, 0, n)
	for i := range n {
		ids = append(ids, strconv.Itoa(i+1))
	}
	return ids
}

func listHPELicences(c *call) (reply, error) {
	list, there := c.licencesOf(HPE)
	if !there {
		return reply{}, notFound(c.r.URL.Path)
	}
	home := []string{"Managers", c.sys.ManagerID, "LicenseService"}
	return ok(collection("HpeiLOLicense", "License Service", path(home...), links(numbered(len(list)), home...)))
}

func getHPELicence(c *call) (reply, error) {
	list, _ := c.licencesOf(HPE)
	n, err := strconv.Atoi(c.r.PathValue("licence"))
	if err != nil || n < 1 || n > len(list) {
		return reply{}, notFound(c.r.URL.Path)
	}
	l := list[n-1]
	return ok(resource("HpeiLOLicense.v2_3_0.HpeiLOLicense", strconv.Itoa(n), "iLO License", path("Managers", c.sys.ManagerID, "LicenseService", strconv.Itoa(n)), object{
		"License": l.Name, "LicenseType": l.Type, "LicenseExpire": nil,
	}))
}

func listDellLicences(c *call) (reply, error) {
	list, there := c.licencesOf(Dell)
	if !there {
		return reply{}, notFound(c.r.URL.Path)
	}
	home := []string{"Managers", c.sys.ManagerID, "Oem", "Dell", "DellLicenses"}
	ids := make([]string, 0, len(list))
	for _, l := range list {
		ids = append(ids, l.id())
	}
	return ok(collection("DellLicense", "DellLicenseCollection", path(home...), links(ids, home...)))
}

func getDellLicence(c *call) (reply, error) {
	list, _ := c.licencesOf(Dell)
	for _, l := range list {
		if l.id() == c.r.PathValue("licence") {
			status := "OK"
			if l.Expired {
				status = "Error"
			}
			return ok(resource("DellLicense.v1_1_0.DellLicense", l.id(), "DellLicense", path("Managers", c.sys.ManagerID, "Oem", "Dell", "DellLicenses", l.id()), object{
				"LicenseDescription": []string{l.Name}, "LicenseType": l.Type, "LicensePrimaryStatus": status,
			}))
		}
	}
	return reply{}, notFound(c.r.URL.Path)
}

func getSupermicroLicences(c *call) (reply, error) {
	if _, there := c.licencesOf(Supermicro); !there {
		return reply{}, notFound(c.r.URL.Path)
	}
	home := []string{"Managers", c.sys.ManagerID, "LicenseManager"}
	return ok(resource("LicenseManager.v1_0_0.LicenseManager", "LicenseManager", "License Manager", path(home...), object{
		"QueryLicense": object{"@odata.id": path(home...) + "/QueryLicense"},
	}))
}

// querySupermicroLicences has each licence as a text of JSON.
func querySupermicroLicences(c *call) (reply, error) {
	list, there := c.licencesOf(Supermicro)
	if !there {
		return reply{}, notFound(c.r.URL.Path)
	}
	texts := make([]string, 0, len(list))
	for i, l := range list {
		raw, err := json.Marshal(object{"ProductKey": object{"Node": object{"LicenseID": strconv.Itoa(i + 1), "LicenseName": l.Name, "CreateDate": "20240101"}}})
		if err != nil {
			return reply{}, err
		}
		texts = append(texts, string(raw))
	}
	return ok(resource("QueryLicense.v1_0_0.QueryLicense", "QueryLicense", "Query License", path("Managers", c.sys.ManagerID, "LicenseManager", "QueryLicense"), object{
		"Licenses": texts,
	}))
}

// managerOEM is the vendor's part of the manager; the lock is held.
func (sys *system) managerOEM() object {
	id := sys.ManagerID
	switch sys.Vendor {
	case Dell:
		return object{"Dell": object{
			"DellLicenseCollection": link("Managers", id, "Oem", "Dell", "DellLicenses"),
			"DelliDRACCard":         object{"LastSystemInventoryTime": sys.clock().Format("2006-01-02T15:04:05+00:00")},
			"Jobs":                  link("Managers", id, "Oem", "Dell", "Jobs"),
		}}
	case HPE:
		return object{"Hpe": object{"Links": object{"LicenseService": link("Managers", id, "LicenseService")}}}
	case Supermicro:
		return object{"Supermicro": object{"LicenseManager": link("Managers", id, "LicenseManager")}}
	case Lenovo:
		return object{"Lenovo": object{"KCSEnabled": true}}
	default:
		return nil
	}
}

// getDellAttributes shows the settings of iDRAC that others look at.
func getDellAttributes(c *call) (reply, error) {
	id := c.r.PathValue("attributes")
	if _, there := c.licencesOf(Dell); !there || id != c.sys.ManagerID {
		return reply{}, notFound(c.r.URL.Path)
	}
	on := func(enabled bool) string {
		if enabled {
			return "Enabled"
		}
		return "Disabled"
	}
	attached := "AutoAttach"
	if c.sys.has(MediaDetached) {
		attached = "Detached"
	}
	return ok(resource("DellAttributes.v1_0_0.DellAttributes", id, "OEMAttributeRegistry", path("Managers", c.sys.ManagerID, "Oem", "Dell", "DellAttributes", id), object{
		"AttributeRegistry": "ManagerAttributeRegistry.v1_0_0", "Attributes": object{
			"IPMILan.1.AlertEnable": on(!c.sys.has(EventsDisabled)), "Lockdown.1.SystemLockdown": on(c.sys.has(Lockdown)),
			"VirtualMedia.1.Attached": attached, "WebServer.1.HostHeaderCheck": on(c.sys.has(HostNameRefused)), "VirtualConsole.1.PluginType": "HTML5",
		},
	}))
}
