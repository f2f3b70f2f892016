package disks

import (
	"encoding/binary"
	"path"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// identification is the page of vital product data that names the device
// (SPC-4, 7.8.6).
const identification = 0x83

// maxPage bounds a page of vital product data, bytes.
const maxPage = 64 << 10

// hasUUID tells whether the device has the page: some platforms demand that
// disks can be told apart by it. The kernel keeps the page for SCSI devices;
// where it does not, the device is asked.
func hasUUID(m source.Machine, name string) bool {
	base := path.Join(blockDir, name)
	if raw, err := m.Head(maxPage, base, "device/vpd_pg83"); err == nil {
		return hasDesignator(raw)
	}
	if !m.Exists(base, "device/scsi_device") && !m.Exists(base, "device/scsi_generic") {
		return false // asking a device that is not SCSI is noise in its log
	}
	raw, err := m.Kernel.Inquiry(devDir+name, identification)
	return err == nil && hasDesignator(raw)
}

// hasDesignator checks the page: device type, page code, length (two bytes),
// then designators of four bytes of header each, the last of which is the
// length of what follows.
func hasDesignator(page []byte) bool {
	if len(page) < 4 || page[1] != identification {
		return false
	}
	rest := page[4:]
	rest = rest[:min(len(rest), int(binary.BigEndian.Uint16(page[2:4])))]
	for len(rest) >= 4 {
		length := int(rest[3])
		if length > 0 && 4+length <= len(rest) {
			return true
		}
		rest = rest[min(len(rest), 4+length):]
	}
	return false
}
