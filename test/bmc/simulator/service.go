package simulator

import (
	"cmp"
	"net/http"
	"slices"
)

var serviceRoutes = map[string]handler{
	"GET /redfish":                             getVersions,
	"GET /redfish/v1":                          getRoot,
	"GET /redfish/v1/odata":                    getOData,
	"GET /redfish/v1/$metadata":                getMetadata,
	"GET /redfish/v1/Registries":               listRegistries,
	"GET /redfish/v1/Registries/{registry}":    getRegistryFile,
	"GET /redfish/v1/RegistryStore/{registry}": getRegistry,
}

// redfishVersion is the version of the protocol that is claimed.
const redfishVersion = "1.18.0"

func getVersions(*call) (reply, error) {
	return reply{status: http.StatusOK, body: object{"v1": root + "/"}}, nil
}

func getRoot(c *call) (reply, error) {
	of := c.of
	body := resource("ServiceRoot.v1_16_0.ServiceRoot", "RootService", "Simulated Redfish Service", root+"/", object{
		"RedfishVersion": redfishVersion, "UUID": c.s.uuid, "Product": "Ironflow BMC simulator", "Vendor": "ACME", "JobService": link("JobService"), "CertificateService": link("CertificateService"),
		"Systems": link("Systems"), "Managers": link("Managers"), "Chassis": link("Chassis"), "Registries": link("Registries"),
		"SessionService": link("SessionService"), "AccountService": link("AccountService"), "Tasks": link("TaskService"),
		"Links": object{"Sessions": link("SessionService", "Sessions")},
	})
	if of != nil && of.Vendor != "" {
		body["Vendor"], body["Product"] = of.Vendor, cmp.Or(of.Product, of.Model)
		body["Oem"] = object{oemKeys[of.Vendor]: object{}}
	}
	if _, there := c.licencesOf(hasLicenceService...); there {
		body["LicenseService"] = link("LicenseService")
	}
	if !of.has(NoEventService) {
		body["EventService"] = link("EventService")
	}
	if !of.has(NoUpdateService) {
		body["UpdateService"] = link("UpdateService")
	}
	return reply{status: http.StatusOK, body: body}, nil
}

// oemKeys are the names of the vendors' parts, where they are others.
var oemKeys = map[Vendor]string{Dell: "Dell", HPE: "Hpe", Lenovo: "Lenovo", Supermicro: "Supermicro", AMI: "Ami", NVIDIA: "Nvidia"}

func getOData(*call) (reply, error) {
	var value []object
	for _, name := range []string{"Systems", "Managers", "Chassis", "SessionService", "UpdateService", "EventService", "TaskService"} {
		value = append(value, object{"name": name, "kind": "Singleton", "url": path(name)})
	}
	return reply{status: http.StatusOK, body: object{"@odata.context": root + "/$metadata", "value": value}}, nil
}

func getMetadata(*call) (reply, error) {
	return reply{status: http.StatusOK, xml: `<?xml version="1.0" encoding="UTF-8"?>
<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">
  <edmx:Reference Uri="http://redfish.dmtf.org/schemas/v1/ServiceRoot_v1.xml"><edmx:Include Namespace="ServiceRoot.v1_16_0"/></edmx:Reference>
  <edmx:DataServices>
    <Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="Service">
      <EntityContainer Name="Service" Extends="ServiceRoot.v1_16_0.ServiceContainer"/>
    </Schema>
  </edmx:DataServices>
</edmx:Edmx>
`}, nil
}

// ok answers with a resource.
func ok(body object) (reply, error) { return reply{status: http.StatusOK, body: body}, nil }

// done answers without a body.
func done() (reply, error) { return reply{status: http.StatusNoContent}, nil }

func listRegistries(c *call) (reply, error) {
	ids := make([]string, 0, len(c.s.registries))
	for id := range c.s.registries {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ok(collection("MessageRegistryFile", "Registries", path("Registries"), links(ids, "Registries")))
}

func getRegistryFile(c *call) (reply, error) {
	id := c.r.PathValue("registry")
	if c.s.registries[id] == nil {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("MessageRegistryFile.v1_1_3.MessageRegistryFile", id, "BIOS attribute registry", path("Registries", id), object{
		"Registry": id, "Languages": []string{"en"},
		"Location": []object{{"Language": "en", "Uri": path("RegistryStore", id)}},
	}))
}

func getRegistry(c *call) (reply, error) {
	registry := c.s.registries[c.r.PathValue("registry")]
	if registry == nil {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(registry.object())
}
