package inventory

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

const blockDir = "/sys/block"

// disks lists the block devices that a host can be installed on, or that a
// person wants to see and not be offered.
func (h host) disks(ctx context.Context) (Apply, error) {
	names := h.names(blockDir)
	links := h.links()
	mounts := h.mounts()
	disks := []wire.Disk{}
	paths := map[string]int{}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		udev := h.udev(name)
		if h.leftOut(name, udev) {
			continue
		}
		disk := h.disk(name, udev, links[name])
		h.judge(&disk, name, udev, mounts)
		paths[disk.ByPath]++
		disks = append(disks, disk)
	}
	for i := range disks {
		if paths[disks[i].ByPath] > 1 { // two names of one path identify neither
			disks[i].ByPath = ""
		}
		disks[i].ID = idOf(disks[i])
	}
	return func(inv *wire.Inventory) { inv.Disks = disks }, nil
}

// leftOut tells which devices are no disks at all.
func (h host) leftOut(name string, udev map[string]string) bool {
	for _, prefix := range []string{"loop", "zram", "ram", "nbd"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if strings.HasPrefix(name, "dm-") && !isMultipath(udev) && !isLVM(udev) {
		return true
	}
	return h.line(blockDir, name, "hidden") == "1" || h.number(blockDir, name, "size") == 0
}

func isMultipath(udev map[string]string) bool { return strings.HasPrefix(udev["DM_UUID"], "mpath-") }
func isLVM(udev map[string]string) bool       { return strings.HasPrefix(udev["DM_UUID"], "LVM-") }

func (h host) disk(name string, udev map[string]string, byID string) wire.Disk {
	base := filepath.Join(blockDir, name)
	disk := wire.Disk{
		Name: name, Path: devDir + name, SizeBytes: h.number(base, "size") * 512, ByID: byID,
		Model: firstOf(udev["ID_MODEL"], h.line(base, "device/model")), Vendor: firstOf(h.line(base, "device/vendor"), udev["ID_VENDOR"]),
		Serial:    firstOf(udev["SCSI_IDENT_SERIAL"], udev["ID_SCSI_SERIAL"], udev["ID_SERIAL_SHORT"], udev["ID_SERIAL"]),
		WWN:       firstOf(udev["ID_WWN_WITH_EXTENSION"], udev["ID_WWN"], udev["DM_WWN"], strings.TrimPrefix(strings.TrimPrefix(byID, byIDDir), "wwn-")),
		Removable: h.line(base, "removable") == "1", Holders: strings.Join(h.holders(name), ","),
		HasUUID: h.readable(filepath.Join(base, "device/vpd_pg83")), Bootable: h.bootable(name),
		DriveType: h.driveType(name, udev),
	}
	if strings.HasPrefix(disk.Vendor, "0x") { // a PCI id, not a name
		disk.Vendor = ""
	}
	if path := udev["ID_PATH"]; path != "" && h.exists(byPathDir, path) {
		disk.ByPath = byPathDir + path
	}
	if hctl := h.names(base, "device/scsi_device"); len(hctl) > 0 {
		disk.HCTL = hctl[0]
	}
	return disk
}

// links maps kernel names to the most telling link below by-id.
func (h host) links() map[string]string {
	out := map[string]string{}
	for _, name := range h.names(byIDDir) {
		if !strings.HasPrefix(name, "wwn-") && !strings.HasPrefix(name, "nvme-eui") {
			continue
		}
		if target, err := os.Readlink(h.dir.Path(byIDDir + name)); err == nil {
			if kernel := filepath.Base(target); out[kernel] == "" {
				out[kernel] = byIDDir + name
			}
		}
	}
	return out
}

// udev reads the device's properties from udev's database.
func (h host) udev(name string) map[string]string {
	out := map[string]string{}
	raw, err := os.ReadFile(h.dir.Path("/run/udev/data/b" + h.line(blockDir, name, "dev")))
	if err != nil {
		return out
	}
	fields(string(raw), "=", func(key, value string) {
		if name, ok := strings.CutPrefix(key, "E:"); ok {
			out[name] = value
		}
	})
	return out
}

// holders lists what is built on the disk or its partitions.
func (h host) holders(name string) []string {
	all := h.names(blockDir, name, "holders")
	for _, part := range h.partitions(name) {
		all = append(all, h.names(blockDir, name, part, "holders")...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (h host) partitions(name string) []string {
	var out []string
	for _, entry := range h.names(blockDir, name) {
		if h.exists(blockDir, name, entry, "partition") {
			out = append(out, entry)
		}
	}
	return out
}

// bootable looks for the boot sector's signature.
func (h host) bootable(name string) bool {
	f, err := os.Open(h.dir.Path(devDir + name))
	if err != nil {
		return false
	}
	defer f.Close()
	sector := make([]byte, 512)
	_, err = io.ReadFull(f, sector)
	return err == nil && sector[510] == 0x55 && sector[511] == 0xaa
}

func (h host) readable(path string) bool {
	f, err := os.Open(h.dir.Path(path))
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// driveType is the first row that fits.
func (h host) driveType(name string, udev map[string]string) wire.DriveType {
	path, _ := os.Readlink(h.dir.Path(filepath.Join(blockDir, name)))
	bus := firstOf(udev["ID_PATH"], path)
	rotational := h.line(blockDir, name, "queue/rotational")
	for _, row := range []struct {
		match bool
		is    wire.DriveType
	}{
		{strings.HasPrefix(name, "dasd"), wire.DriveTypeEckd},
		{strings.Contains(bus, "-iscsi-") || strings.Contains(path, "/session"), wire.DriveTypeISCSI},
		{strings.Contains(bus, "-fc-") || strings.HasPrefix(bus, "fc-") || strings.Contains(path, "/rport-"), wire.DriveTypeFc},
		{isMultipath(udev), wire.DriveTypeMultipath},
		{isLVM(udev), wire.DriveTypeLvm},
		{strings.HasPrefix(name, "md"), wire.DriveTypeRaid},
		{strings.HasPrefix(name, "fd"), wire.DriveTypeFdd},
		{strings.HasPrefix(name, "sr"), wire.DriveTypeOdd},
		{strings.HasPrefix(name, "nvme"), wire.DriveTypeSsd},
		{rotational == "1", wire.DriveTypeHdd},
		{rotational == "0", wire.DriveTypeSsd},
	} {
		if row.match {
			return row.is
		}
	}
	return wire.DriveTypeUnknown
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
