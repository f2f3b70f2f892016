package simulator

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var storageRoutes = map[string]handler{
	"GET /redfish/v1/Systems/{system}/Storage":                                    listStorage,
	"GET /redfish/v1/Systems/{system}/Storage/{storage}":                          getStorage,
	"GET /redfish/v1/Systems/{system}/Storage/{storage}/Controllers":              listControllers,
	"GET /redfish/v1/Systems/{system}/Storage/{storage}/Controllers/{controller}": getController,
	"GET /redfish/v1/Systems/{system}/Storage/{storage}/Drives/{drive}":           getDrive,
	"GET /redfish/v1/Systems/{system}/Storage/{storage}/Volumes":                  listVolumes,
	"POST /redfish/v1/Systems/{system}/Storage/{storage}/Volumes":                 createVolume,
	"GET /redfish/v1/Systems/{system}/Storage/{storage}/Volumes/{volume}":         getVolume,
	"DELETE /redfish/v1/Systems/{system}/Storage/{storage}/Volumes/{volume}":      deleteVolume,
}

// storage is a storage subsystem as it is now.
type storage struct {
	Storage
	// claimed are the drives of volumes that wait to be made.
	claimed map[string]bool
}

// controllerID is the one controller of each storage subsystem.
const controllerID = "0"

func newStorage(list []Storage) ([]*storage, error) {
	var all []*storage
	drives := map[string]bool{}
	for _, d := range list {
		d.Name = cmp.Or(d.Name, d.ID)
		if d.ApplyTimes == nil {
			d.ApplyTimes = []ApplyTime{Immediate, OnReset}
		}
		d.Drives, d.Volumes = slices.Clone(d.Drives), slices.Clone(d.Volumes)
		for i := range d.Drives {
			drive := &d.Drives[i]
			if drive.ID == "" || drives[drive.ID] {
				return nil, fmt.Errorf("storage %s: the ID %q of a drive is empty or not unique in the system", d.ID, drive.ID)
			}
			drives[drive.ID] = true
			drive.MediaType, drive.Protocol = cmp.Or(drive.MediaType, "SSD"), cmp.Or(drive.Protocol, "SAS")
		}
		for i := range d.Volumes {
			d.Volumes[i].ID = cmp.Or(d.Volumes[i].ID, "Volume."+strconv.Itoa(i))
		}
		all = append(all, &storage{Storage: d, claimed: map[string]bool{}})
	}
	return all, nil
}

// storage finds the storage subsystem of the request; the lock is held.
func (c *call) storage() (*storage, error) {
	id := c.r.PathValue("storage")
	i := slices.IndexFunc(c.sys.storage, func(s *storage) bool { return s.ID == id })
	if i < 0 || c.sys.has(NoStorage) {
		return nil, notFound(c.r.URL.Path)
	}
	return c.sys.storage[i], nil
}

func (c *call) storagePath(s *storage, parts ...string) string {
	return strings.Join(append([]string{path("Systems", c.sys.ID, "Storage", s.ID)}, parts...), "/")
}

func listStorage(c *call) (reply, error) {
	if c.sys.has(NoStorage) {
		return reply{}, notFound(c.r.URL.Path)
	}
	var ids []string
	for _, s := range c.sys.storage {
		ids = append(ids, s.ID)
	}
	return ok(collection("Storage", "Storage", path("Systems", c.sys.ID, "Storage"), links(ids, "Systems", c.sys.ID, "Storage")))
}

func getStorage(c *call) (reply, error) {
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	drives := make([]object, 0, len(s.Drives))
	for _, d := range s.Drives {
		drives = append(drives, object{"@odata.id": c.storagePath(s, "Drives", d.ID)})
	}
	controller := c.controller(s)
	controller["MemberId"] = controllerID
	delete(controller, "@odata.type")
	controller["@odata.id"] = c.storagePath(s) + "#/StorageControllers/0"
	return ok(resource("Storage.v1_17_0.Storage", s.ID, s.Name, c.storagePath(s), object{
		"Status": status("OK"), "StorageControllers": []object{controller}, "StorageControllers@odata.count": 1,
		"Controllers": object{"@odata.id": c.storagePath(s, "Controllers")},
		"Drives":      drives, "Drives@odata.count": len(drives),
		"Volumes": object{"@odata.id": c.storagePath(s, "Volumes")},
	}))
}

func (c *call) controller(s *storage) object {
	body := resource("StorageController.v1_8_0.StorageController", controllerID, s.Name, c.storagePath(s, "Controllers", controllerID), object{
		"Manufacturer": "ACME", "Model": "Simulated Controller", "FirmwareVersion": defaultVersion, "Status": status("OK"),
		"SupportedControllerProtocols": []string{"PCIe"}, "SupportedDeviceProtocols": []string{"SAS", "SATA", "NVMe"},
	})
	if !c.sys.has(NoRAIDType) {
		body["SupportedRAIDTypes"] = append([]string{}, s.RAIDTypes...)
	}
	return body
}

func listControllers(c *call) (reply, error) {
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	return ok(collection("StorageController", "Controllers", c.storagePath(s, "Controllers"),
		[]object{{"@odata.id": c.storagePath(s, "Controllers", controllerID)}}))
}

func getController(c *call) (reply, error) {
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	if c.r.PathValue("controller") != controllerID {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(c.controller(s))
}

func getDrive(c *call) (reply, error) {
	s, err := c.storage()
	if err != nil {
		return reply{}, err
	}
	id := c.r.PathValue("drive")
	i := slices.IndexFunc(s.Drives, func(d Drive) bool { return d.ID == id })
	if i < 0 {
		return reply{}, notFound(c.r.URL.Path)
	}
	d := s.Drives[i]
	volumes := []object{}
	for _, v := range s.Volumes {
		if slices.Contains(v.Drives, id) {
			volumes = append(volumes, object{"@odata.id": c.storagePath(s, "Volumes", v.ID)})
		}
	}
	body := resource("Drive.v1_20_1.Drive", id, "Drive "+id, c.storagePath(s, "Drives", id), object{
		"Manufacturer": d.Manufacturer, "Model": d.Model, "SerialNumber": d.SerialNumber, "MediaType": d.MediaType,
		"Protocol": d.Protocol, "CapacityBytes": d.CapacityBytes, "BlockSizeBytes": 512, "Status": c.sys.partStatus(PartDrive, id), "HotspareType": "None",
		"FailurePredicted": c.sys.parts[Part{PartDrive, id}].Predicted, "Revision": defaultVersion, "Links": object{"Volumes": volumes},
	})
	if d.LifeLeft != nil {
		body["PredictedMediaLifeLeftPercent"] = *d.LifeLeft
	}
	if c.sys.Vendor == Dell {
		body["Oem"] = object{"Dell": object{"DellPhysicalDisk": object{"RaidStatus": cmp.Or(d.RAIDStatus, "Ready")}}}
	}
	return ok(body)
}
