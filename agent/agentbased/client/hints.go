package client

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/hub/wire"
)

// noSuchDisk is asked for when no disk fits: the hub then says so, instead of wiping a disk
// that nobody named.
const noSuchDisk = "/dev/not-found-by-hints"

const gibibyte = 1 << 30

// fitting are the disks that have all that the hints ask for, those first that can be
// installed. A multipath disk stands for its paths, which share its world-wide name.
func fitting(disks []wire.Disk, h *manifests.RootDeviceHints) []wire.Disk {
	var out []wire.Disk
	for _, disk := range disks {
		paths := disk.DriveType == wire.DriveTypeMultipath && disk.WWN != "" && slices.ContainsFunc(disks, func(other wire.Disk) bool {
			return other.DriveType != wire.DriveTypeMultipath && other.WWN == disk.WWN && other.SizeBytes == disk.SizeBytes && fits(&other, h)
		})
		if disk.InstallationEligibility.Eligible && (paths || fits(&disk, h)) {
			out = append(out, disk)
		}
	}
	slices.SortStableFunc(out, func(a, b wire.Disk) int {
		return rank(a) - rank(b)
	})
	return out
}

// rank has disks of several paths before the paths themselves.
func rank(d wire.Disk) int {
	if d.DriveType == wire.DriveTypeMultipath {
		return 0
	}
	return 1
}

// place is where a disk is plugged in, by a name below /dev/disk/by-path. udev gives a
// SATA disk two of them, with the number of the device behind the port and without.
func place(name string) string { return firstOfPort.ReplaceAllString(path.Base(name), "$1") }

var firstOfPort = regexp.MustCompile(`(-ata-[0-9]+)\.0$`)

// fits is the comparison that baremetal-operator makes with the same hints.
func fits(d *wire.Disk, h *manifests.RootDeviceHints) bool {
	for _, c := range []struct{ asked, ok bool }{
		{h.DeviceName != "", h.DeviceName == d.Path || h.DeviceName == d.ID || h.DeviceName == d.ByID || d.ByPath != "" && place(h.DeviceName) == place(d.ByPath)},
		{h.HCTL != "", h.HCTL == d.HCTL},
		{h.Model != "", strings.Contains(d.Model, h.Model)},
		{h.Vendor != "", strings.Contains(d.Vendor, h.Vendor)},
		{h.SerialNumber != "", h.SerialNumber == d.Serial},
		{h.MinSizeGigabytes > 0, d.SizeBytes >= int64(h.MinSizeGigabytes)*gibibyte},
		{h.WWN != "", h.WWN == d.WWN},
		// The agent reports the longest form: an extension can only be compared as its end.
		{h.WWNWithExtension != "", h.WWNWithExtension == d.WWN},
		{h.WWNVendorExtension != "", strings.HasSuffix(d.WWN, strings.TrimPrefix(h.WWNVendorExtension, "0x"))},
		{h.Rotational != nil, h.Rotational != nil && *h.Rotational == (d.DriveType == wire.DriveTypeHdd)},
	} {
		if c.asked && !c.ok {
			return false
		}
	}
	return *h != manifests.RootDeviceHints{}
}

// listed are the disks in words, for people whose hints fit none.
func listed(disks []wire.Disk) string {
	var out []string
	for _, d := range disks {
		var text strings.Builder
		fmt.Fprintf(&text, "%s (%s, %d GB", d.Path, d.DriveType, d.SizeBytes/1_000_000_000)
		for _, s := range []string{d.Vendor, d.Model, d.Serial} {
			if s != "" {
				text.WriteString(", " + s)
			}
		}
		if reasons := d.InstallationEligibility.NotEligibleReasons; !d.InstallationEligibility.Eligible && len(reasons) > 0 {
			text.WriteString(", cannot be installed: " + strings.Join(reasons, "; "))
		}
		out = append(out, text.String()+")")
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
