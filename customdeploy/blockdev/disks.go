// Package blockdev lists a host's disks, what lies on them and their partitions,
// with what lsblk and udev say, and makes the kernel read a partition table anew.
// It changes nothing on a disk.
package blockdev

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// Disk is a whole disk of the host.
type Disk struct {
	// Path is the kernel's name below /dev.
	Path string
	// Links are its names below /dev/disk/by-path.
	Links                                     []string
	SizeBytes                                 int64
	Rotational                                bool
	Model, Vendor, Serial, HCTL               string
	WWN, WWNWithExtension, WWNVendorExtension string
}

// DiskColumns are lsblk's columns of [lsblkDisk].
const DiskColumns = "PATH,TYPE,SIZE,ROTA,RO,MODEL,VENDOR,SERIAL,HCTL"

// lsblkDisk is one row of lsblk's JSON. Older versions write numbers and
// booleans as text.
type lsblkDisk struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Size   flex   `json:"size"`
	Rota   flex   `json:"rota"`
	RO     flex   `json:"ro"`
	Model  string `json:"model"`
	Vendor string `json:"vendor"`
	Serial string `json:"serial"`
	HCTL   string `json:"hctl"`
}

// flex is a number or boolean, maybe as text.
type flex int64

// UnmarshalJSON implements json.Unmarshaler.
func (f *flex) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	switch text {
	case "true":
		*f = 1
	case "false", "null", "":
		*f = 0
	default:
		var n int64
		if _, err := fmt.Sscan(text, &n); err != nil {
			return fmt.Errorf("%q is not a number", text)
		}
		*f = flex(n)
	}
	return nil
}

// Disks lists the host's disks that could be written.
func Disks(ctx context.Context, run hostexec.Exec, host hostfile.Dir) ([]Disk, error) {
	out, err := hostexec.Output(ctx, run, "lsblk", "--json", "--bytes", "--nodeps", "--output", DiskColumns)
	if err != nil {
		return nil, err
	}
	var table struct {
		Devices []lsblkDisk `json:"blockdevices"`
	}
	if err := json.Unmarshal([]byte(out), &table); err != nil {
		return nil, fmt.Errorf("lsblk's answer: %w", err)
	}
	links := pathLinks(host)
	var disks []Disk
	for _, d := range table.Devices {
		name := filepath.Base(d.Path)
		if d.Type != "disk" || d.RO != 0 || d.Size == 0 || strings.HasPrefix(name, "zram") {
			continue
		}
		disk := Disk{
			Path: d.Path, Links: links[name], SizeBytes: int64(d.Size), Rotational: d.Rota != 0,
			Model: strings.TrimSpace(d.Model), Vendor: strings.TrimSpace(d.Vendor), Serial: d.Serial, HCTL: d.HCTL,
		}
		if err := disk.addWWN(ctx, run); err != nil {
			return nil, err
		}
		disks = append(disks, disk)
	}
	return disks, nil
}

// pathLinks maps kernel names to their links below /dev/disk/by-path.
func pathLinks(host hostfile.Dir) map[string][]string {
	const dir = "/dev/disk/by-path"
	links := map[string][]string{}
	entries, _ := os.ReadDir(host.Path(dir)) // without udev there are none
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(host.Path(dir), e.Name()))
		if err == nil {
			name := filepath.Base(target)
			links[name] = append(links[name], filepath.Join(dir, e.Name()))
		}
	}
	return links
}

// addWWN asks udev for the world-wide names, which lsblk shows only in part.
func (d *Disk) addWWN(ctx context.Context, run hostexec.Exec) error {
	out, err := hostexec.Output(ctx, run, "udevadm", "info", "--query=property", "--name="+d.Path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "ID_WWN":
			d.WWN = value
		case "ID_WWN_WITH_EXTENSION":
			d.WWNWithExtension = value
		case "ID_WWN_VENDOR_EXTENSION":
			d.WWNVendorExtension = value
		}
	}
	return nil
}
