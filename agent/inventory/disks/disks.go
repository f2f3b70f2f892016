// Package disks lists a machine's disks and tells which of them an operating
// system may be installed on. What a disk is comes from sysfs and udev's
// database; the main type is [Reader], which keeps what it found until the
// kernel reports a change of devices.
package disks

import (
	"context"
	"path"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/diskuse"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	blockDir  = "/sys/block"
	devDir    = "/dev/"
	byIDDir   = "/dev/disk/by-id"
	byPathDir = "/dev/disk/by-path"
	// mapperPrefix begins the kernel's names of what the device mapper has made.
	mapperPrefix = "dm-"
	// sector is the unit of all sizes in sysfs, bytes.
	sector = 512
)

// found is a disk with what is needed to judge it.
type found struct {
	disk wire.Disk
	// device is its path in sysfs, which tells the bus.
	device string
	// numbers are "major:minor" of the disk, its partitions and all that is built on them.
	numbers []string
	// labels are the names of its partitions.
	labels []string
	// mapped tells that the device mapper has made it of others.
	mapped bool
}

// Reader reads one machine's disks.
type Reader struct {
	machine source.Machine
	devices devices
	kept    kept
}

// NewReader returns a reader of the machine's disks.
func NewReader(m source.Machine) *Reader { return &Reader{machine: m} }

// Read lists the disks in the order of their kernel names. The mount table is
// that of the machine's first process.
func (r *Reader) Read(ctx context.Context, table []mounts.Mount) ([]wire.Disk, error) {
	if disk, ok := r.appliance(); ok {
		return []wire.Disk{disk}, nil
	}
	all, err := r.kept.get(r.machine, func() ([]found, bool, error) { return r.look(ctx) })
	if err != nil {
		return nil, err
	}
	judge, err := newJudge(r.machine, table)
	if err != nil {
		return nil, err
	}
	disks := make([]wire.Disk, 0, len(all))
	for _, f := range all {
		disks = append(disks, judge.verdict(f))
	}
	return disks, nil
}

// look reads all disks; whole is false when a device has not answered in time.
func (r *Reader) look(ctx context.Context) (all []found, whole bool, err error) {
	m := r.machine
	links := idLinks(m)
	paths := map[string]int{}
	for _, name := range m.Names(blockDir) {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		if leftOut(m, name) {
			continue
		}
		f := read(m, name, links[name])
		paths[f.disk.ByPath]++
		all = append(all, f)
	}
	whole = r.devices.ask(ctx, m, all)
	shared := sharedNames(all)
	for i := range all {
		if paths[all[i].disk.ByPath] > 1 { // two names of one path identify neither
			all[i].disk.ByPath = ""
		}
		if shared[all[i].disk.WWN] {
			all[i].disk.ByID = ""
		}
		all[i].disk.ID = ID(all[i].disk)
	}
	return all, whole, nil
}

// sharedNames are the world-wide names that several disks have, as some of equal make
// do. udev has one link for all of them, which names now the one and now the other, so
// it identifies none. Paths of one disk share theirs rightly, and a multipath disk has
// that of its paths.
func sharedNames(all []found) map[string]bool {
	first, shared := map[string]wire.Disk{}, map[string]bool{}
	for _, f := range all {
		d := f.disk
		other, known := first[d.WWN]
		switch {
		case d.WWN == "", f.mapped:
		case !known:
			first[d.WWN] = d
		case d.SizeBytes != other.SizeBytes, d.Serial != other.Serial && d.Serial != "" && other.Serial != "":
			shared[d.WWN] = true
		}
	}
	return shared
}

// ID is the disk's id in the protocol: the most stable name that it has.
func ID(d wire.Disk) string { return source.First(d.ByID, d.ByPath, d.Path) }

// leftOut tells which block devices are no disks at all.
func leftOut(m source.Machine, name string) bool {
	for _, prefix := range []string{"loop", "zram", "ram", "nbd"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	if strings.HasPrefix(name, mapperPrefix) && !isMultipath(m, name) && !isLVM(m, name) {
		return true
	}
	return m.Line(blockDir, name, "hidden") == "1" || m.Number(blockDir, name, "size") == 0
}

// mapperUUID tells who made a device of the device mapper.
func mapperUUID(m source.Machine, name string) string {
	if !strings.HasPrefix(name, mapperPrefix) {
		return ""
	}
	return m.Line(blockDir, name, "dm/uuid")
}

func isMultipath(m source.Machine, name string) bool {
	return strings.HasPrefix(mapperUUID(m, name), "mpath-")
}

func isLVM(m source.Machine, name string) bool {
	return strings.HasPrefix(mapperUUID(m, name), "LVM-")
}

// read returns all of a disk but what only the device itself can tell.
func read(m source.Machine, name, byID string) found {
	base := path.Join(blockDir, name)
	number := m.Line(base, "dev")
	db := udev(m, number)
	parts := diskuse.Partitions(m, name)
	f := found{device: m.Link(base), numbers: diskuse.Numbers(m, name, parts), mapped: strings.HasPrefix(name, mapperPrefix)}
	f.disk = wire.Disk{
		Name: name, Path: devDir + name, SizeBytes: m.Number(base, "size") * sector, ByID: byID,
		Model:     source.First(db["ID_MODEL"], m.Line(base, "device/model")),
		Vendor:    vendor(source.First(m.Line(base, "device/vendor"), db["ID_VENDOR"])),
		Serial:    source.First(db["SCSI_IDENT_SERIAL"], db["ID_SCSI_SERIAL"], db["ID_SERIAL_SHORT"], db["ID_SERIAL"], m.Line(base, "device/serial"), m.Line(base, "serial")),
		WWN:       source.First(db["ID_WWN_WITH_EXTENSION"], db["ID_WWN"], db["DM_WWN"], strings.TrimPrefix(strings.TrimPrefix(byID, byIDDir+"/"), "wwn-"), m.Line(base, "wwid")),
		Removable: m.Line(base, "removable") == "1",
		DriveType: driveType(m, name, f.device, db["ID_PATH"]),
	}
	if bus := db["ID_PATH"]; bus != "" && m.Exists(byPathDir, bus) {
		f.disk.ByPath = path.Join(byPathDir, bus)
	}
	if hctl := m.Names(base, "device/scsi_device"); len(hctl) > 0 {
		f.disk.HCTL = hctl[0]
	}
	for _, part := range parts {
		f.labels = append(f.labels, label(m, path.Join(base, part), m.Line(base, part, "dev")))
	}
	f.disk.Holders = strings.Join(diskuse.Holders(m, name, parts), ",")
	return f
}

// vendor drops PCI ids, which virtual devices have in place of a name.
func vendor(text string) string {
	if strings.HasPrefix(text, "0x") {
		return ""
	}
	return text
}

// idLinks maps kernel names to the first link below by-id that names the device
// for ever.
func idLinks(m source.Machine) map[string]string {
	out := map[string]string{}
	for _, name := range m.Names(byIDDir) {
		if !strings.HasPrefix(name, "wwn-") && !strings.HasPrefix(name, "nvme-eui") {
			continue
		}
		kernel := path.Base(m.Link(byIDDir, name))
		if out[kernel] == "" {
			out[kernel] = path.Join(byIDDir, name)
		}
	}
	return out
}

// label is the partition's name in its table.
func label(m source.Machine, base, number string) string {
	if name := unescape(udev(m, number)["ID_PART_ENTRY_NAME"]); name != "" {
		return name
	}
	name := ""
	source.Fields(m.Line(base, "uevent"), "=", func(key, value string) {
		if key == "PARTNAME" {
			name = value
		}
	})
	return name
}

// applianceSize is what hubs are told of the disk of an appliance.
const applianceSize = 100 << 30

// appliance finds the one disk of a machine that was started from an appliance
// image: a device of the mapper whose name begins with "agent". It stands for
// the whole list.
func (r *Reader) appliance() (wire.Disk, bool) {
	for _, name := range r.machine.Names(blockDir) {
		if !strings.HasPrefix(name, mapperPrefix) || !strings.HasPrefix(r.machine.Line(blockDir, name, "dm/name"), applianceName) {
			continue
		}
		disk := wire.Disk{
			Name: name, Path: devDir + name, SizeBytes: applianceSize, DriveType: wire.DriveTypeSsd,
			InstallationEligibility: wire.DiskInstallationEligibility{Eligible: true},
		}
		disk.ID = ID(disk)
		return disk, true
	}
	return wire.Disk{}, false
}
