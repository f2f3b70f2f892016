package disks

import (
	"bytes"
	"encoding/binary"
	"path"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
)

// firmwareDir holds what the firmware booted from: ibft, or iscsi_bootN of
// adapters that do iSCSI themselves. acpiTable is the same, raw, where the
// kernel's module is not loaded.
const (
	firmwareDir = "/sys/firmware"
	acpiTable   = firmwareDir + "/acpi/tables/iBFT"
)

// bootTargets lists the iSCSI names of the targets that the firmware knows.
func bootTargets(m source.Machine) []string {
	var names []string
	for _, folder := range m.Names(firmwareDir) {
		if folder != "ibft" && !strings.HasPrefix(folder, "iscsi_boot") {
			continue
		}
		for _, target := range m.Names(firmwareDir, folder) {
			if !strings.HasPrefix(target, "target") {
				continue
			}
			if name := m.Line(path.Join(firmwareDir, folder, target), "target-name"); name != "" {
				names = append(names, name)
			}
		}
	}
	if len(names) > 0 {
		return names
	}
	raw, err := m.Head(64<<10, acpiTable)
	if err != nil {
		return nil
	}
	return parseIBFT(raw)
}

// Offsets in the iSCSI Boot Firmware Table, version 1.02: an ACPI header of 48
// bytes, then the control structure, which tells where the others are.
const (
	ibftHeader     = 48
	ibftControl    = 1
	ibftTarget     = 4
	ibftStructure  = 6  // id, version, length (2), index, flags
	ibftFirst      = 8  // first offset in the control structure: the initiator
	ibftNameLength = 34 // of the target's name, in its structure
	ibftNameOffset = 36
	ibftValid      = 1
)

// parseIBFT returns the names of the table's valid targets.
func parseIBFT(raw []byte) []string {
	control := structure(raw, ibftHeader, ibftControl)
	if !bytes.HasPrefix(raw, []byte("iBFT")) || control == nil {
		return nil
	}
	var names []string
	for at := ibftFirst; at+2 <= len(control); at += 2 {
		target := structure(raw, int(binary.LittleEndian.Uint16(control[at:])), ibftTarget)
		if len(target) < ibftNameOffset+2 || target[5]&ibftValid == 0 {
			continue
		}
		length, offset := int(binary.LittleEndian.Uint16(target[ibftNameLength:])), int(binary.LittleEndian.Uint16(target[ibftNameOffset:]))
		if length > 0 && offset+length <= len(raw) {
			names = append(names, string(bytes.TrimRight(raw[offset:offset+length], "\x00")))
		}
	}
	return names
}

// structure returns the structure at the offset if it is of the kind.
func structure(raw []byte, offset int, kind byte) []byte {
	if offset < ibftHeader || offset+ibftStructure > len(raw) || raw[offset] != kind {
		return nil
	}
	length := int(binary.LittleEndian.Uint16(raw[offset+2:]))
	if length < ibftStructure || offset+length > len(raw) {
		return nil
	}
	return raw[offset : offset+length]
}
