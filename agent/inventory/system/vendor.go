package system

import (
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	dmiDir       = "/sys/class/dmi/id"
	sysInfoFile  = "/proc/sysinfo"
	unknown      = "unknown"
	oracleCloud  = "OracleCloud.com"
	ibmZ         = "IBM/S390"
	zPartition   = "LPAR"
	controlField = "Control Program"
)

// Vendor returns who made the machine. What firmware does not tell is the text
// "unknown". Hubs recognise some platforms by these texts, so two of them are
// replaced: the product of oVirt and the manufacturer of Oracle's cloud.
func Vendor(m source.Machine, table smbios.Table) (*wire.SystemVendor, error) {
	uname, err := m.Kernel.Uname()
	if err != nil {
		return nil, err
	}
	if uname.Machine == s390x {
		return vendorOfIBMZ(m), nil
	}
	v := &wire.SystemVendor{
		Manufacturer: orUnknown(m.Line(dmiDir, "sys_vendor")),
		ProductName:  orUnknown(m.Line(dmiDir, "product_name")),
		SerialNumber: orUnknown(m.Line(dmiDir, "product_serial")),
		Virtual:      virtual(m, table, uname.Machine),
	}
	if family := m.Line(dmiDir, "product_family"); family == "oVirt" || family == "RHV" {
		v.ProductName = "oVirt"
	}
	if m.Line(dmiDir, "chassis_asset_tag") == oracleCloud {
		v.Manufacturer = oracleCloud
	}
	return v, nil
}

// vendorOfIBMZ reads /proc/sysinfo, which stacks the levels that the system
// runs on: machine, logical partition (LPAR), virtual machines (VM00 is the
// innermost) with the program that runs them. The machine's serial number is not
// taken: all partitions share it.
func vendorOfIBMZ(m source.Machine) *wire.SystemVendor {
	v := &wire.SystemVendor{Manufacturer: ibmZ, ProductName: zPartition, SerialNumber: unknown}
	raw, err := m.Read(sysInfoFile)
	if err != nil {
		return v
	}
	source.Fields(string(raw), ":", func(key, value string) {
		level, field, _ := strings.Cut(key, " ")
		if level == "VM00" && field == controlField {
			v.ProductName, v.Virtual = value, true // "z/VM    7.3.0", "KVM/Linux"
		}
	})
	return v
}

func orUnknown(text string) string { return source.First(text, unknown) }
