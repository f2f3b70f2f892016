package simulator

import (
	"cmp"
	"net/http"
	"strings"
	"time"
)

var managerRoutes = map[string]handler{
	"GET /redfish/v1/Managers":                                   listManagers,
	"GET /redfish/v1/Managers/{system}":                          getManager,
	"PATCH /redfish/v1/Managers/{system}":                        patchManager,
	"POST /redfish/v1/Managers/{system}/Actions/Manager.Reset":   resetManager,
	"GET /redfish/v1/Managers/{system}/NetworkProtocol":          getNetworkProtocol,
	"PATCH /redfish/v1/Managers/{system}/NetworkProtocol":        patchNetworkProtocol,
	"GET /redfish/v1/Managers/{system}/EthernetInterfaces":       listManagerNICs,
	"GET /redfish/v1/Managers/{system}/EthernetInterfaces/{nic}": getManagerNIC,
}

// defaultOffset is the zone of the clocks.
const defaultOffset = "+00:00"

// clock is the time that the BMC believes; the lock is held.
func (sys *system) clock() time.Time {
	now := time.Now()
	if sys != nil {
		now = now.Add(sys.ClockSkew)
	}
	return now.UTC()
}

// SetClock sets how far the clock of a system's BMC is ahead.
func (s *Server) SetClock(id string, skew time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sys, err := s.system(id)
	if err != nil {
		return err
	}
	sys.ClockSkew = skew
	return nil
}

func listManagers(c *call) (reply, error) {
	return ok(collection("Manager", "Managers", path("Managers"), links(c.s.idsIn("Managers"), "Managers")))
}

func getManager(c *call) (reply, error) {
	id := c.sys.ManagerID
	body := resource("Manager.v1_19_1.Manager", id, "BMC of "+c.sys.Name, path("Managers", id), object{
		"ManagerType": "BMC", "Manufacturer": c.sys.Manufacturer, "Model": cmp.Or(c.sys.ManagerModel, "Simulated BMC"), "FirmwareVersion": c.sys.firmware[ComponentBMC],
		"UUID": c.sys.UUID, "ServiceEntryPointUUID": c.s.uuid, "PowerState": On, "Status": status("OK"),
		"DateTime": c.sys.clock().Format(time.RFC3339), "DateTimeLocalOffset": cmp.Or(c.sys.offset, defaultOffset), "VirtualMedia": link("Managers", id, "VirtualMedia"),
		"NetworkProtocol": link("Managers", id, "NetworkProtocol"), "EthernetInterfaces": link("Managers", id, "EthernetInterfaces"),
		"LogServices": link("Managers", id, "LogServices"),
		"Links":       object{"ManagerForServers": []object{link("Systems", c.sys.ID)}, "ManagerForChassis": []object{link("Chassis", c.sys.ChassisID)}},
		"Actions": object{"#Manager.Reset": object{
			"target":                            path("Managers", id, "Actions", "Manager.Reset"),
			"ResetType@Redfish.AllowableValues": []ResetType{ResetForceRestart, ResetGracefulRestart},
		}},
	})
	if oem := c.sys.managerOEM(); oem != nil {
		body["Oem"] = oem
	}
	return ok(body)
}

// patchManager sets the clock.
func patchManager(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	skew, offset := c.sys.ClockSkew, c.sys.offset
	for name, value := range c.body {
		text, _ := value.(string)
		switch name {
		case "DateTime":
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return reply{}, faultAt(name, wrongFormat, "The value '%v' for the property %s is not a time.", value, name)
			}
			skew = time.Until(at).Round(time.Millisecond)
		case "DateTimeLocalOffset":
			if _, err := time.Parse("-07:00", text); err != nil {
				return reply{}, faultAt(name, wrongFormat, "The value '%v' for the property %s is not an offset.", value, name)
			}
			offset = text
		default:
			return reply{}, faultAt(name, unknownProperty, "The property %s cannot be changed.", name)
		}
	}
	c.sys.ClockSkew, c.sys.offset = skew, offset
	return done()
}

// network is what a manager's NetworkProtocol shows.
type network struct {
	hostName string
	ntp      []string
	ipmi     bool
}

func getNetworkProtocol(c *call) (reply, error) {
	address := path("Managers", c.sys.ManagerID, "NetworkProtocol")
	n := c.sys.network
	return ok(resource("ManagerNetworkProtocol.v1_10_1.ManagerNetworkProtocol", "NetworkProtocol", "Manager Network Protocol", address, object{
		"HostName": n.hostName, "FQDN": n.hostName, "Status": status("OK"),
		"HTTP":  object{"ProtocolEnabled": false, "Port": 80},
		"HTTPS": object{"ProtocolEnabled": true, "Port": 443, "Certificates": object{"@odata.id": address + "/HTTPS/Certificates"}},
		"SSH":   object{"ProtocolEnabled": true, "Port": 22}, "IPMI": object{"ProtocolEnabled": n.ipmi, "Port": 623},
		"NTP": object{"ProtocolEnabled": len(n.ntp) > 0, "NTPServers": append([]string{}, n.ntp...), "Port": 123},
	}))
}

func patchNetworkProtocol(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	n := c.sys.network
	for name, value := range c.body {
		part, _ := value.(object)
		switch {
		case name == "HostName":
			n.hostName, _ = value.(string)
		case name == "NTP" && part != nil:
			if list, given := part["NTPServers"].([]any); given {
				n.ntp = patched(n.ntp, list)
			}
		case name == "IPMI" && part != nil:
			n.ipmi = part["ProtocolEnabled"] == true
		case strings.HasPrefix(name, "@"):
		default:
			return reply{}, faultAt(name, unknownProperty, "The property %s cannot be changed.", name)
		}
	}
	c.sys.network = n
	return done()
}

// patched is a list after a PATCH: an empty object leaves its element, null takes
// it away.
func patched(before []string, list []any) []string {
	var after []string
	for i, entry := range list {
		switch entry := entry.(type) {
		case string:
			if entry != "" {
				after = append(after, entry)
			}
		case object:
			if i < len(before) {
				after = append(after, before[i])
			}
		}
	}
	return after
}

// managerNIC is the one interface of each BMC.
const managerNIC = "eth0"

func listManagerNICs(c *call) (reply, error) {
	return ok(collection("EthernetInterface", "Ethernet Interfaces", path("Managers", c.sys.ManagerID, "EthernetInterfaces"),
		links([]string{managerNIC}, "Managers", c.sys.ManagerID, "EthernetInterfaces")))
}

func getManagerNIC(c *call) (reply, error) {
	if c.r.PathValue("nic") != managerNIC {
		return reply{}, notFound(c.r.URL.Path)
	}
	return ok(resource("EthernetInterface.v1_12_1.EthernetInterface", managerNIC, "BMC interface", path("Managers", c.sys.ManagerID, "EthernetInterfaces", managerNIC), object{
		"MACAddress": "52:54:00:00:00:fe", "SpeedMbps": 1000, "LinkStatus": "LinkUp", "InterfaceEnabled": true, "HostName": c.sys.network.hostName,
		"IPv4Addresses": []object{{"Address": "127.0.0.1", "SubnetMask": "255.0.0.0", "AddressOrigin": "DHCP", "Gateway": "127.0.0.1"}}, "Status": status("OK"),
	}))
}

// date shows a clock that is wrong in the header Date too; the lock is held.
func (sys *system) date(h http.Header) {
	if sys != nil && sys.ClockSkew != 0 {
		h.Set("Date", sys.clock().Format(http.TimeFormat))
	}
}
