// Package blockdev lists a host's disks, what lies on them and their partitions,
// with what lsblk and udev say, and makes the kernel read a partition table anew.
// It changes nothing on a disk.
package blockdev

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// Disk is a whole disk of the host, or what stands for one: the disk behind several
// paths, a software RAID.
type Disk struct {
	// Path is its name below /dev, KernelName the kernel's own: /dev/mapper/mpatha is dm-0.
	Path, KernelName string
	// Kind is lsblk's type: disk, mpath, raid1 and so on.
	Kind string
	// Transport is how it is attached, as lsblk names it: sata, nvme, fc, iscsi; empty where it cannot tell.
	Transport string
	// Links are its names below /dev/disk/by-path.
	Links                       []string
	SizeBytes                   int64
	Rotational                  bool
	Model, Vendor, Serial, HCTL string
	WWN                         string
	// WWNs and Serials are the other names that the same things have: what lsblk
	// shows (and an inspection with it) is not always what udev calls so.
	WWNs, Serials                        []string
	WWNWithExtension, WWNVendorExtension string
	// Sequence is the kernel's count of disks when this one came; empty from an older kernel.
	Sequence string
	// Paths are the disks by which a multipath disk is reached, see [Join].
	Paths []Disk
}

// Is tells whether it may be the same disk as another one of its name, seen at another time: by
// its size and world-wide names, then by when it came, and for one that has come back by what it
// says of itself, or if it says nothing, by where it is attached. What udev did not know yet is no
// difference; nor is what a disk that fails does not tell udev any more, or in another way, as
// long as the kernel has it for the same.
func (d Disk) Is(other Disk) bool {
	if d.SizeBytes != other.SizeBytes || apart(d.worldWide(), other.worldWide()) {
		return false
	}
	if d.Sequence != "" && d.Sequence == other.Sequence {
		return true
	}
	for _, known := range [][2][]string{{d.names(), other.names()}, {named(d.Sequence), named(other.Sequence)}, {d.Links, other.Links}} {
		if len(known[0]) > 0 && len(known[1]) > 0 {
			return within(known[0], known[1]) || within(known[1], known[0])
		}
	}
	return true
}

// worldWide are the disk's world-wide names.
func (d Disk) worldWide() []string { return slices.Concat(named(d.WWN), d.WWNs) }

// apart tells that both lists have names, and none in common.
func apart(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// names are what the disk says of itself.
func (d Disk) names() []string {
	names := slices.Sorted(slices.Values(slices.Concat(d.Serials, named(d.Serial), d.worldWide())))
	return slices.Compact(names)
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// Identity is what [Disk.Is] goes by, for messages.
func (d Disk) Identity() string {
	if names := d.names(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%d bytes, the kernel's number %s, %s", d.SizeBytes, cmp.Or(d.Sequence, "unknown"), cmp.Or(strings.Join(d.Links, ", "), "no path"))
}

// Kinds of disks that are none by themselves.
const (
	KindMultipath = "mpath"
	kindDisk      = "disk"
	kindRAID      = "raid" // a level follows
)

// IsRAID tells whether it is a software RAID.
func (d Disk) IsRAID() bool { return isRAID(d.Kind) }

func isRAID(kind string) bool { return strings.HasPrefix(kind, kindRAID) || kind == "linear" }

// DiskColumns are lsblk's columns of [lsblkDisk]. Without NAME lsblk shows all
// devices in a row, also those that lie on others.
const DiskColumns = "PATH,KNAME,TYPE,SIZE,ROTA,RO,MODEL,VENDOR,SERIAL,WWN,HCTL,TRAN"

// lsblkDisk is one row of lsblk's JSON. Older versions write numbers and
// booleans as text.
type lsblkDisk struct {
	Path   string `json:"path"`
	KName  string `json:"kname"`
	Type   string `json:"type"`
	Size   flex   `json:"size"`
	Rota   flex   `json:"rota"`
	RO     flex   `json:"ro"`
	Model  string `json:"model"`
	Vendor string `json:"vendor"`
	Serial string `json:"serial"`
	WWN    string `json:"wwn"`
	HCTL   string `json:"hctl"`
	Tran   string `json:"tran"`
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

// Disks lists the host's disks that could be written, each once, in lsblk's order.
// Paths of a multipath disk and members of a RAID are among them; [Tree] tells what
// lies on what.
func Disks(ctx context.Context, run hostexec.Exec, host hostfile.Dir) ([]Disk, error) {
	out, err := hostexec.Output(ctx, run, "lsblk", "--json", "--bytes", "--output", DiskColumns)
	if err != nil {
		return nil, err
	}
	rows, err := decode[lsblkDisk](out)
	if err != nil {
		return nil, err
	}
	links := pathLinks(host)
	var disks []Disk
	seen := map[string]bool{}
	for _, row := range rows {
		if !row.isDisk() || seen[row.Path] { // what lies on several disks is shown below each
			continue
		}
		seen[row.Path] = true
		disk := row.disk()
		disk.Links, disk.Sequence = links[disk.KernelName], sequence(host, disk.KernelName)
		if err := disk.addNames(ctx, run); err != nil {
			return nil, err
		}
		disks = append(disks, disk)
	}
	return disks, nil
}

// notDisks are how the kernel names devices that lsblk calls disks.
var notDisks = []string{"zram", "ram", "fd", "sr"}

func (r lsblkDisk) isDisk() bool {
	if r.RO != 0 || r.Size == 0 || r.Type != kindDisk && r.Type != KindMultipath && !isRAID(r.Type) {
		return false
	}
	return !slices.ContainsFunc(notDisks, func(name string) bool { return strings.HasPrefix(r.kernelName(), name) })
}

func (r lsblkDisk) kernelName() string { return cmp.Or(r.KName, filepath.Base(r.Path)) }

func (r lsblkDisk) disk() Disk {
	return Disk{
		Path: r.Path, KernelName: r.kernelName(), Kind: r.Type, Transport: r.Tran, SizeBytes: int64(r.Size), Rotational: r.Rota != 0,
		Model: strings.TrimSpace(r.Model), Vendor: strings.TrimSpace(r.Vendor), Serial: r.Serial, HCTL: r.HCTL, WWNs: named(r.WWN),
	}
}

// named is the list of the names that are there.
func named(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Join gives multipath disks their paths, and returns the disks that are no path of
// another one. What only is called a disk and lies on one, such as a cache, is none.
func Join(disks []Disk, tree []Device) []Disk {
	upper := map[string]bool{}
	for _, device := range tree {
		for _, child := range device.Children {
			child.each(func(d Device) { upper[d.Path] = true })
		}
	}
	above := map[string]string{} // path of a disk, multipath disk on it
	for _, device := range tree {
		for _, child := range device.Children {
			if child.Type == KindMultipath {
				above[device.Path] = child.Path
			}
		}
	}
	var whole []Disk
	for _, d := range disks {
		if above[d.Path] != "" || d.Kind == kindDisk && upper[d.Path] {
			continue
		}
		for _, path := range disks {
			if above[path.Path] == d.Path {
				d.Paths = append(d.Paths, path)
			}
		}
		whole = append(whole, d)
	}
	return whole
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

func sequence(host hostfile.Dir, kernelName string) string {
	raw, _ := os.ReadFile(host.Path(filepath.Join("/sys/block", kernelName, "diskseq"))) // kernels before 5.15 have none
	return strings.TrimSpace(string(raw))
}

// addNames asks udev for the world-wide names and the serial numbers, which lsblk
// shows only in part. The device mapper has names of its own for them.
func (d *Disk) addNames(ctx context.Context, run hostexec.Exec) error {
	out, err := hostexec.Output(ctx, run, "udevadm", "info", "--query=property", "--name="+d.Path)
	if hostexec.ExitStatus(err) > 0 && !hostexec.Missing(err) {
		return nil // it has gone, or udev has not seen it yet: lsblk has said what there is
	}
	if err != nil {
		return err
	}
	known := map[string]string{}
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			known[key] = value
		}
	}
	property := func(name string) string { return cmp.Or(known["ID_"+name], known["DM_"+name]) }
	d.WWN, d.WWNWithExtension, d.WWNVendorExtension = property("WWN"), property("WWN_WITH_EXTENSION"), property("WWN_VENDOR_EXTENSION")
	d.WWNs = append(d.WWNs, named(d.WWNWithExtension)...)
	d.Serials = named(property("SERIAL_SHORT"), property("SERIAL"))
	return nil
}
