package address

// Family is the management protocol behind an address.
type Family string

// The families. Their driver_info keys start with the family's name.
const (
	IPMI    Family = "ipmi"
	Redfish Family = "redfish"
)

// Interfaces names the hardware interfaces that the node gets; empty ones are
// left to Ironic's default. Inspect is the one that asks the BMC alone; empty where
// that cannot tell. It converts to ironic.Interfaces.
type Interfaces struct {
	BIOS       string
	Boot       string
	Deploy     string
	Firmware   string
	Inspect    string
	Management string
	Network    string
	Power      string
	RAID       string
	Vendor     string
}

// scheme is what one address scheme means.
type scheme struct {
	family     Family
	driver     string
	interfaces Interfaces
	iso        bool // boots an ISO without a provisioning network
	needsMAC   bool // Ironic cannot tell the machine without its boot MAC
	alwaysPath bool // the path is a system id even when it looks like the service root
}

const (
	virtualMedia = "redfish-virtual-media"
	idracRedfish = "idrac-redfish"
)

// schemes is every scheme, without its transport suffix.
var schemes = map[string]scheme{
	"ipmi":    {family: IPMI, driver: "ipmi", interfaces: ipmiInterfaces},
	"libvirt": {family: IPMI, driver: "ipmi", interfaces: ipmiInterfaces, needsMAC: true},

	"redfish":       {family: Redfish, driver: "redfish", interfaces: redfishInterfaces("ipxe")},
	"ilo5-redfish":  {family: Redfish, driver: "redfish", interfaces: redfishInterfaces("ipxe")},
	"idrac-redfish": {family: Redfish, driver: "idrac", interfaces: idracInterfaces("ipxe")},

	"redfish-virtualmedia": {family: Redfish, driver: "redfish", interfaces: redfishInterfaces(virtualMedia), iso: true},
	"ilo5-virtualmedia":    {family: Redfish, driver: "redfish", interfaces: redfishInterfaces(virtualMedia), iso: true},
	"idrac-virtualmedia":   {family: Redfish, driver: "idrac", interfaces: idracInterfaces("idrac-redfish-virtual-media"), iso: true},
	"redfish-uefihttp":     {family: Redfish, driver: "redfish", interfaces: redfishInterfaces("redfish-https"), iso: true, alwaysPath: true},
}

var ipmiInterfaces = Interfaces{Boot: "ipxe", RAID: "no-raid"}

func redfishInterfaces(boot string) Interfaces {
	return Interfaces{Boot: boot, Firmware: "redfish", Inspect: "redfish", RAID: "redfish"}
}

func idracInterfaces(boot string) Interfaces {
	return Interfaces{
		Boot: boot, Firmware: "redfish", BIOS: idracRedfish, Inspect: idracRedfish, Management: idracRedfish, Power: idracRedfish,
		Vendor: idracRedfish, RAID: idracRedfish,
	}
}

// Schemes lists the schemes that Parse knows, sorted. The admission rules are
// generated from it (tools/admission).
func Schemes() []string { return sortedNames }
