package admission

import (
	"strings"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/address"
)

// Expressions that several rules share.
var (
	bmcAddress  = str("spec.bmc.address")
	hardware    = list("spec.raid.hardwareRAIDVolumes")
	software    = list("spec.raid.softwareRAIDVolumes")
	inspect     = annotation(names.Inspect, "")
	uninspected = "(" + either(str("spec.inspectionMode")+` == "disabled"`, inspect+` == "disabled"`) + ")"
)

const (
	uuidPattern   = `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`
	macAddress    = `^[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}$`
	devicePattern = `^/dev/(?:disk/by-path/)?[^/]+$`
	// jsonObject is as far as CEL can tell JSON: the shape.
	jsonObject = `^\s*\{(?s:.*)\}\s*$`
)

func hostRules() []Rule {
	rules := append(reachRules(), raidRules()...)
	rules = append(rules, imageRules()...)
	rules = append(rules, secretsRule(), rebootRule())
	rules = append(rules, annotationRules()...)
	return append(rules, changeRules()...)
}

// reachRules are about how the machine is reached and booted.
func reachRules() []Rule {
	known := strings.Join(address.Schemes(), ", ")
	return []Rule{
		{
			Name: "address", Holds: either(bmcAddress+` == ""`, matches(bmcAddress, addressPattern())),
			Message: "spec.bmc.address is not an address of a known type (" + known + "): " +
				"write scheme://host[:port][/path], for example redfish-virtualmedia://192.0.2.1/redfish/v1/Systems/1",
			Rest: "IPv6 addresses and port numbers that cannot be: the host shows `registration error`",
		},
		{
			Name:  "name",
			Holds: matches(str("metadata.name"), `^[A-Za-z0-9._-]*$`) + " && !" + matches(str("metadata.name"), uuidPattern),
			Message: "metadata.name must not be a UUID and may hold letters, digits, '.', '_' and '-' only, " +
				"because Ironic takes a UUID for a node's id: choose another name",
		},
		{
			Name: "boot MAC needed",
			Holds: either(bmcAddress+` == ""`, str("spec.bootMACAddress")+` != ""`,
				"!("+either(matches(bmcAddress, macPattern()), uninspected)+")"),
			Message: "spec.bootMACAddress is missing: libvirt addresses need it, and every host whose inspection is disabled; " +
				"set it to the MAC address of the interface that the machine boots from",
		},
		{
			Name:    "boot MAC valid",
			Holds:   either(str("spec.bootMACAddress")+` == ""`, matches(str("spec.bootMACAddress"), macAddress)),
			Message: "spec.bootMACAddress is not a MAC address: write six pairs of hexadecimal digits with colons, such as 52:54:00:12:34:56",
		},
		{
			Name:  "secure boot",
			Holds: either(str("spec.bootMode")+` != "UEFISecureBoot"`, bmcAddress+` == ""`, matches(bmcAddress, redfishPattern())),
			Message: "spec.bootMode UEFISecureBoot needs a BMC of the Redfish family, and spec.bmc.address names another: " +
				"use a redfish address, or the boot mode UEFI",
		},
		{
			Name:  "root device",
			Holds: either(str("spec.rootDeviceHints.deviceName")+` == ""`, matches(str("spec.rootDeviceHints.deviceName"), devicePattern)),
			Message: "spec.rootDeviceHints.deviceName must be a path in /dev/ or /dev/disk/by-path/, because other links are not known " +
				"before the machine runs: use such a path, or hints like wwn and serialNumber",
		},
		{
			Name:  "power off disabled",
			Holds: either("!"+value("spec.disablePowerOff", "false"), value("spec.online", "false")),
			Message: "spec.disablePowerOff is set on a host that is to be off (spec.online is false): " +
				"set spec.online to true, or allow to power it off",
		},
		{
			Name:  "firmware",
			Holds: value("spec.firmware", "null") + " == null",
			Message: "spec.firmware is no longer supported: " +
				"remove it and set the BIOS settings of the machine in the HostFirmwareSettings object of the same name",
		},
	}
}

// raidRules are about volumes.
func raidRules() []Rule {
	return []Rule{
		{
			Name:  "RAID driver",
			Holds: either(hardware+".size() == 0", bmcAddress+` == ""`, matches(bmcAddress, redfishPattern())),
			Message: "spec.raid.hardwareRAIDVolumes needs a BMC of the Redfish family, and spec.bmc.address names another: " +
				"use a redfish address, or spec.raid.softwareRAIDVolumes",
		},
		{
			Name:  "one kind of RAID",
			Holds: either(hardware+".size() == 0", software+".size() == 0"),
			Message: "spec.raid names both hardwareRAIDVolumes and softwareRAIDVolumes: " +
				"keep one of the lists and remove the other",
		},
		{
			Name: "physical disks",
			Holds: hardware + `.all(v, v.?physicalDisks.orValue([]).size() == 0 || v.?controller.orValue("") != "" && ` +
				`v.?numberOfPhysicalDisks.orValue(v.physicalDisks.size()) == v.physicalDisks.size())`,
			Message: "a volume in spec.raid.hardwareRAIDVolumes names physicalDisks, but no controller or another numberOfPhysicalDisks: " +
				"name the controller, and set numberOfPhysicalDisks to the number of disks or leave it out",
		},
	}
}

// imageRules are about spec.image, of hosts and of claims.
func imageRules() []Rule {
	url := str("spec.image.url")
	oci := matches(url, `^(?i:oci):`)
	absent := value("spec.image", "null") + " == null"
	return []Rule{
		{
			Name:  "image URL",
			Holds: either(absent, matches(url, `^(?i:https?|ftp|gopher|oci)://[^\s/?#]+(?:[/?#]\S*)?$`)),
			Message: "spec.image.url is not a URL of type http, https, ftp, gopher or oci: " +
				"give the full address of the image, or remove spec.image",
		},
		{
			Name: "checksum",
			Holds: either(absent, url+` == ""`, oci, str("spec.image.format")+` == "live-iso"`,
				str("spec.image.checksum")+` != ""`),
			Message: "spec.image.checksum is missing: set it to the checksum of the image or to the URL of a file with it " +
				"(live ISOs and OCI images need none)",
		},
		{
			Name:  "OCI checksum",
			Holds: either(absent, "!"+oci, str("spec.image.checksum")+` == ""`),
			Message: "spec.image.checksum is set for an OCI image, which is checked by its own digest: " +
				"remove spec.image.checksum, or name the digest in spec.image.url",
		},
	}
}

// secretsRule keeps the instance's Secrets in the object's own namespace.
func secretsRule() Rule {
	var parts []string
	for _, field := range []string{"userData", "networkData", "metaData"} {
		parts = append(parts, "("+ownNamespace("spec."+field+".namespace")+")")
	}
	return Rule{
		Name: "secrets", Holds: strings.Join(parts, " && "),
		Message: "spec.userData, spec.networkData and spec.metaData must name Secrets of the object's own namespace: " +
			"copy the Secret there, and leave the namespace out",
	}
}

// ownNamespace asks whether a reference stays in the object's namespace.
func ownNamespace(path string) string {
	return either(str(path)+` == ""`, str(path)+" == self.metadata.namespace")
}
