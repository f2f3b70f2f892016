package disks

import (
	"path"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// driveType is the first row that fits. device is the path in sysfs, bus udev's
// name of the path to the disk.
func driveType(m source.Machine, name, device, bus string) wire.DriveType {
	for _, row := range []struct {
		match bool
		is    wire.DriveType
	}{
		{strings.HasPrefix(name, "dasd"), dasdType(m, name)},
		{strings.Contains(bus, "-iscsi-") || strings.Contains(device, "/session"), wire.DriveTypeISCSI},
		{strings.Contains(bus, "-fc-") || strings.HasPrefix(bus, "fc-") || strings.Contains(device, "/rport-"), wire.DriveTypeFc},
		{isMultipath(m, name), wire.DriveTypeMultipath},
		{isLVM(m, name), wire.DriveTypeLvm},
		{strings.HasPrefix(name, "md"), wire.DriveTypeRaid},
		{strings.HasPrefix(name, "fd"), wire.DriveTypeFdd},
		{strings.HasPrefix(name, "sr"), wire.DriveTypeOdd},
		{strings.HasPrefix(name, "nvme") || strings.HasPrefix(name, "mmcblk"), wire.DriveTypeSsd},
		{!knownController(name), wire.DriveTypeUnknown},
		{m.Line(blockDir, name, "queue/rotational") == "0", wire.DriveTypeSsd},
	} {
		if row.match {
			return row.is
		}
	}
	return wire.DriveTypeHdd
}

// dasdType reads what the channel device of a DASD says: the discipline of its
// driver, and whether its space is allocated on use (extent space efficient).
func dasdType(m source.Machine, name string) wire.DriveType {
	device := path.Join(blockDir, name, "device")
	switch m.Line(device, "discipline") {
	case "ECKD":
		if m.Line(device, "ese") == "1" {
			return wire.DriveTypeEckdEse
		}
		return wire.DriveTypeEckd
	case "FBA":
		return wire.DriveTypeFba
	default:
		return wire.DriveTypeUnknown
	}
}

// controllers are how the kernel names of disks begin whose kind of controller
// is known. Their number follows, or for IDE and SCSI a letter.
var controllers = []string{"sd", "nvme", "vd", "xvd", "hd", "mmcblk", "sr", "md", "dasd"}

func knownController(name string) bool {
	for _, prefix := range controllers {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
