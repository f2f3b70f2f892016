package link

import (
	"path"
	"regexp"
	"slices"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
)

// NoSuchDisk is asked for when no disk fits the hints: the hub then says so,
// instead of wiping a disk that nobody named.
const NoSuchDisk = "/dev/not-found-by-hints"

const gibibyte = 1 << 30

// InstallationDisk returns the id of the disk that fits all hints. It reports
// false when there are no hints or no inventory yet. Hints with nothing that
// this inventory can compare match no disk rather than every disk.
func InstallationDisk(disks []agentv1.HostDisk, hints *metal3v1.RootDeviceHints) (string, bool) {
	if hints == nil || *hints == (metal3v1.RootDeviceHints{}) || len(disks) == 0 {
		return "", false
	}
	fallback := NoSuchDisk
	for i := range disks {
		disk := &disks[i]
		if !disk.InstallationEligibility.Eligible || !fits(disk, hints) && !pathFits(disk, disks, hints) {
			continue
		}
		if disk.DriveType == multipath {
			return disk.ID, true
		}
		if fallback == NoSuchDisk {
			fallback = disk.ID
		}
	}
	return fallback, true
}

// multipath is the drive type of a disk with several paths, which are disks of the
// inventory, too.
const multipath = "Multipath"

// pathFits reports whether one of the paths of a multipath disk has all that the hints
// ask for: the disk itself has no vendor, model, serial number and place. Its paths
// share its world-wide name.
func pathFits(disk *agentv1.HostDisk, disks []agentv1.HostDisk, hints *metal3v1.RootDeviceHints) bool {
	return disk.DriveType == multipath && disk.Wwn != "" && slices.ContainsFunc(disks, func(path agentv1.HostDisk) bool {
		return path.DriveType != multipath && path.Wwn == disk.Wwn && path.SizeBytes == disk.SizeBytes && fits(&path, hints)
	})
}

// place is where a disk is plugged in, by a name below /dev/disk/by-path. udev gives a
// SATA disk two of them, with the number of the device behind the port and without.
func place(name string) string {
	return firstOfPort.ReplaceAllString(path.Base(name), "$1")
}

var firstOfPort = regexp.MustCompile(`(-ata-[0-9]+)\.0$`)

// fits reports whether the disk has all that the hints ask for, and that at
// least one of them could be compared.
func fits(disk *agentv1.HostDisk, h *metal3v1.RootDeviceHints) bool {
	checks := []struct{ asked, ok bool }{
		{h.DeviceName != "", h.DeviceName == disk.Path || disk.ByPath != "" && place(h.DeviceName) == place(disk.ByPath)},
		{h.HCTL != "", h.HCTL == disk.Hctl},
		{h.Model != "", strings.Contains(disk.Model, h.Model)},
		{h.Vendor != "", strings.Contains(disk.Vendor, h.Vendor)},
		{h.SerialNumber != "", h.SerialNumber == disk.Serial},
		{h.MinSizeGigabytes > 0, disk.SizeBytes >= int64(h.MinSizeGigabytes)*gibibyte},
		{h.WWN != "", h.WWN == disk.Wwn},
		// The agent reports the longest form of a WWN: an extension can only be compared as its suffix.
		{h.WWNWithExtension != "", h.WWNWithExtension == disk.Wwn},
		{h.WWNVendorExtension != "", strings.HasSuffix(disk.Wwn, strings.TrimPrefix(h.WWNVendorExtension, "0x"))},
		{h.Rotational != nil, h.Rotational != nil && *h.Rotational == (disk.DriveType == "HDD")},
	}
	asked := false
	for _, c := range checks {
		if c.asked && !c.ok {
			return false
		}
		asked = asked || c.asked
	}
	return asked
}
