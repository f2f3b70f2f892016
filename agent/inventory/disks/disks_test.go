package disks

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// kernel answers no question.
type kernel struct{ source.Kernel }

func (kernel) Inquiry(string, byte) ([]byte, error) { return nil, source.ErrNoAnswer }

// tree has a disk or more, by files relative to /sys/devices/NAME, which is the
// disk's folder; a file whose name begins with a slash is anywhere.
func tree(disks map[string]map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, files := range disks {
		device := "devices/bus/block/" + name
		if at := files["at"]; at != "" {
			device = at
		}
		out["sys/block/"+name] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte("../" + device)}
		out["sys/"+device+"/size"] = &fstest.MapFile{Data: []byte("2097152\n")}
		out["sys/"+device+"/dev"] = &fstest.MapFile{Data: []byte("8:0\n")}
		for file, content := range files {
			switch {
			case file == "at":
			case path.IsAbs(file):
				out[file[1:]] = &fstest.MapFile{Data: []byte(content)}
			default:
				out["sys/"+device+"/"+file] = &fstest.MapFile{Data: []byte(content)}
			}
		}
	}
	return out
}

func machineWith(files fs.FS) source.Machine { return source.Machine{Files: files, Kernel: kernel{}} }

func TestDriveTypesAndEligibility(t *testing.T) {
	const target = "iqn.2026-01.example:boot"
	iscsi := map[string]string{
		"at":           "devices/platform/host6/session1/target6:0:0/6:0:0:1/block/sda",
		"device/state": "running\n", "/sys/class/iscsi_session/session1/targetname": target + "\n", "/sys/class/iscsi_session/session1/state": "LOGGED_IN\n",
		"/sys/class/iscsi_host/host6/ipaddress": "192.0.2.9\n", "/sys/firmware/ibft/target0/target-name": target + "\n",
	}
	with := func(base map[string]string, key, value string) map[string]string {
		out := map[string]string{key: value}
		for k, v := range base {
			if _, ok := out[k]; !ok {
				out[k] = v
			}
		}
		return out
	}
	for name, tc := range map[string]struct {
		disk    string
		files   map[string]string
		mounts  []mounts.Mount
		is      wire.DriveType
		reasons []string
	}{
		"spinning":          {"sda", map[string]string{"queue/rotational": "1\n"}, nil, "HDD", nil},
		"SATA SSD":          {"sda", map[string]string{"queue/rotational": "0\n"}, nil, "SSD", nil},
		"virtio":            {"vda", nil, nil, "HDD", nil},
		"NVMe":              {"nvme0n1", nil, nil, "SSD", nil},
		"eMMC":              {"mmcblk0", nil, nil, "SSD", nil},
		"persistent memory": {"pmem0", nil, nil, "Unknown", []string{"Its storage controller is not known"}},
		"floppy":            {"fd0", nil, nil, "FDD", []string{"Its storage controller is not known"}},
		"CD":                {"sr0", nil, nil, "ODD", []string{"It is an optical drive"}},
		"RAID":              {"md127", nil, nil, "RAID", nil},
		"FC by udev":        {"sda", map[string]string{"/run/udev/data/b8:0": "E:ID_PATH=fc-0x1-lun-0\n"}, nil, "FC", nil},
		"FC by its path":    {"sda", map[string]string{"at": "devices/pci/host1/rport-1:0-0/1:0:0:0/block/sda"}, nil, "FC", nil},
		"multipath":         {"dm-0", map[string]string{"dm/uuid": "mpath-3600\n"}, nil, "Multipath", nil},
		"LVM":               {"dm-0", map[string]string{"dm/uuid": "LVM-abc\n"}, nil, "LVM", []string{"It is a logical volume"}},
		"a DASD of no kind": {"dasda", nil, nil, "Unknown", nil},
		"mounted":           {"sda", nil, []mounts.Mount{{Device: "8:0", Target: "/mnt/b"}, {Device: "8:0", Target: "/mnt/a"}}, "HDD", []string{"It is in use, mounted on /mnt/a, /mnt/b"}},
		"a mounted part":    {"sda", map[string]string{"sda1/partition": "1\n", "sda1/dev": "8:1\n"}, []mounts.Mount{{Device: "8:1", Target: "/boot"}}, "HDD", []string{"It is in use, mounted on /boot"}},
		"the boot medium": {
			"sda",
			map[string]string{"sda1/partition": "1\n", "sda1/dev": "8:1\n"},
			[]mounts.Mount{{Device: "8:1", Target: "/run/media/iso"}},
			"HDD",
			[]string{"It holds the medium that the host was booted from"},
		},
		"an appliance's": {
			"sda",
			map[string]string{"sda1/partition": "1\n", "sda1/dev": "8:1\n", "/run/udev/data/b8:1": "E:ID_PART_ENTRY_NAME=agent\\x20data\n"},
			[]mounts.Mount{{Device: "8:1", Target: "/boot"}},
			"HDD", nil,
		},
		"label from uevent": {
			"sda",
			map[string]string{"sda1/partition": "1\n", "sda1/dev": "8:1\n", "sda1/uevent": "DEVTYPE=partition\nPARTNAME=agentboot\n"},
			[]mounts.Mount{{Device: "8:1", Target: "/boot"}},
			"HDD", nil,
		},
		"mounted volume": {
			"sda",
			map[string]string{"holders/dm-1/x": "", "/sys/block/dm-1/dev": "253:1\n", "/sys/block/dm-1/size": "0\n"},
			[]mounts.Mount{{Device: "253:1", Target: "/home"}},
			"HDD",
			[]string{"It is in use, mounted on /home"},
		},
		"Btrfs": {"sda", map[string]string{"sda1/partition": "1\n", "sda1/dev": "8:1\n", "/sys/class/block/sda1/dev": "8:1\n"}, []mounts.Mount{
			{Device: "0:31", Source: "/dev/sda1", Target: "/srv"}, {Device: "0:5", Source: "devtmpfs", Target: "/dev"},
		}, "HDD", []string{"It is in use, mounted on /srv"}},
		"swap": {"sda", map[string]string{
			"sda1/partition": "1\n", "sda1/dev": "8:1\n", "/sys/class/block/sda1/dev": "8:1\n",
			"/proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n/dev/sda1 partition 1048572 0 -2\n/swap\\040file file 1024 0 -3\n",
		}, nil, "HDD", []string{"It is in use, mounted on [SWAP]"}},
		"the node skips it": {"sda", map[string]string{
			"/run/ironflow/step.json": `{"boot_id": "boot-1", "kept": {"/dev/sda": "the node skips it"}}`, "/proc/sys/kernel/random/boot_id": "boot-1\n", "/sys/class/block/sda/dev": "8:0\n",
		}, nil, "HDD", []string{"/dev/sda must stay as it is: the node skips it"}},
		"iSCSI":              {"sda", iscsi, nil, "iSCSI", nil},
		"iSCSI is down":      {"sda", with(iscsi, "/sys/class/iscsi_session/session1/state", "FAILED\n"), nil, "iSCSI", []string{"Its iSCSI session is not running"}},
		"iSCSI disk is gone": {"sda", with(iscsi, "device/state", "transport-offline\n"), nil, "iSCSI", []string{"Its iSCSI session is not running"}},
		"iSCSI not of iBFT": {"sda", with(iscsi, "/sys/firmware/ibft/target0/target-name", "iqn.2026-01.example:other\n"), nil, "iSCSI", []string{
			"Its iSCSI target is not in the firmware's boot table (iBFT), so the host cannot boot from it",
		}},
		"iSCSI of an adapter": {"sda", with(with(iscsi, "/sys/firmware/ibft/target0/target-name", ""), "/sys/firmware/iscsi_boot2/target1/target-name", target), nil, "iSCSI", nil},
		"iSCSI, raw table":    {"sda", with(with(iscsi, "/sys/firmware/ibft/target0/target-name", ""), "/sys/firmware/acpi/tables/iBFT", string(ibft([]string{target}, []byte{1}))), nil, "iSCSI", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			list, err := NewReader(machineWith(tree(map[string]map[string]string{tc.disk: tc.files}))).Read(t.Context(), tc.mounts)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(list).NotTo(BeEmpty())
			disk := list[len(list)-1]
			g.Expect(disk.DriveType).To(Equal(tc.is))
			g.Expect(disk.InstallationEligibility).To(Equal(wire.DiskInstallationEligibility{Eligible: len(tc.reasons) == 0, NotEligibleReasons: tc.reasons}))
			if tc.is == wire.DriveTypeISCSI {
				g.Expect(disk.Iscsi).To(Equal(&wire.Iscsi{HostIPAddress: "192.0.2.9"}))
			} else {
				g.Expect(disk.Iscsi).To(BeNil())
			}
		})
	}
}

func TestWhatIsNoDisk(t *testing.T) {
	g := NewWithT(t)
	list, err := NewReader(machineWith(tree(map[string]map[string]string{
		"sda": nil, "loop0": nil, "zram0": nil, "ram0": nil, "nbd0": nil, "dm-0": {"dm/uuid": "CRYPT-LUKS2\n"}, "nvme0c0n1": {"hidden": "1\n"}, "sdb": {"size": "0\n"},
	}))).Read(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list).To(HaveLen(1))
	g.Expect(list[0].Name).To(Equal("sda"))
}

func TestTwoDisksOfOnePathHaveNone(t *testing.T) {
	g := NewWithT(t)
	const bus = "pci-0000:00:01.1-ata-1"
	list, err := NewReader(machineWith(tree(map[string]map[string]string{
		"sda": {"dev": "8:0\n", "/run/udev/data/b8:0": "E:ID_PATH=" + bus + "\n", "/dev/disk/by-path/" + bus: ""},
		"sr0": {"dev": "11:0\n", "/run/udev/data/b11:0": "E:ID_PATH=" + bus + "\n"},
		"sdb": {"dev": "8:16\n", "/run/udev/data/b8:16": "E:ID_PATH=gone\n"},
	}))).Read(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	for _, disk := range list {
		g.Expect(disk.ByPath).To(BeEmpty(), disk.Name)
		g.Expect(disk.ID).To(Equal("/dev/" + disk.Name))
	}
}

// TestTwoDisksOfOneWorldWideName: some disks of equal make share it, and udev moves its link from one to the other as
// it likes. An order that names the link must not mean the other disk by the time it comes.
func TestTwoDisksOfOneWorldWideName(t *testing.T) {
	const link = "/dev/disk/by-id/wwn-0x5000c500a1b2c3d4"
	look := func(to string, a, b map[string]string) map[string]string {
		multipath := map[string]string{"dev": "253:0\n", "size": "2048\n", "dm/uuid": "other-3600\n", "/run/udev/data/b253:0": "E:DM_WWN=0x5000c500a1b2c3d4\nE:ID_SERIAL=35000c500a1b2c3d4\n"}
		if to == "dm-0" {
			multipath["dm/uuid"] = "mpath-3600\n"
		}
		files := tree(map[string]map[string]string{"sda": a, "sdb": b, "dm-0": multipath})
		files[link[1:]] = &fstest.MapFile{Mode: fs.ModeSymlink | 0o777, Data: []byte("../../" + to)}
		list, err := NewReader(machineWith(files)).Read(t.Context(), nil)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		ids := map[string]string{}
		for _, disk := range list {
			ids[disk.Name] = disk.ID
		}
		return ids
	}
	disk := func(number, serial, size string) map[string]string {
		bus := "pci-0000:00:01.1-ata-" + number
		return map[string]string{
			"dev": "8:" + number + "\n", "size": size + "\n", "/dev/disk/by-path/" + bus: "",
			"/run/udev/data/b8:" + number: "E:ID_WWN=0x5000c500a1b2c3d4\nE:ID_SERIAL_SHORT=" + serial + "\nE:ID_PATH=" + bus + "\n",
		}
	}
	for name, b := range map[string]map[string]string{"by their serials": disk("16", "B", "2048"), "by their sizes": disk("16", "A", "4096")} {
		t.Run("told apart "+name, func(t *testing.T) {
			g := NewWithT(t)
			a := disk("0", "A", "2048")
			g.Expect(look("sda", a, b)).To(Equal(look("sdb", a, b)), "no id moves with the link")
			g.Expect(look("sda", a, b)).To(HaveKeyWithValue("sda", "/dev/disk/by-path/pci-0000:00:01.1-ata-0"))
		})
	}
	t.Run("two paths of one disk", func(t *testing.T) {
		g := NewWithT(t)
		a, b := disk("0", "A", "2048"), disk("16", "A", "2048")
		g.Expect(look("sda", a, b)).To(HaveKeyWithValue("sda", link))
		g.Expect(look("dm-0", a, b)).To(HaveKeyWithValue("dm-0", link), "udev calls the serial of what multipathd makes of them otherwise")
	})
}

func TestWhoIsAskedForItsIdentification(t *testing.T) {
	g := NewWithT(t)
	list, err := NewReader(machineWith(tree(map[string]map[string]string{
		"sda":     {"device/vpd_pg83": string(page(8))},
		"sdb":     {"device/vpd_pg83": string(page())},
		"sdc":     {"device/scsi_device/1:0:0:0/x": ""},
		"nvme0n1": nil,
	}))).Read(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	for _, disk := range list {
		g.Expect(disk.HasUUID).To(Equal(disk.Name == "sda"), disk.Name)
	}
}

// slow is a file system in which a device does not answer before it is released.
type slow struct {
	fstest.MapFS
	device  string
	release chan struct{}
	opened  *int
}

func (s slow) Open(name string) (fs.File, error) {
	if name == s.device {
		*s.opened++
		<-s.release
	}
	return s.MapFS.Open(name)
}

func TestADeviceThatHangsCostsOnlyWhatItAloneKnows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		opened := 0
		boot := strings.Repeat("\x00", 510) + "\x55\xaa"
		files := slow{MapFS: tree(map[string]map[string]string{
			"sda": {"/dev/sda": boot, "/sys/kernel/uevent_seqnum": "7\n"}, "sdb": {"dev": "8:16\n", "/dev/sdb": boot},
		}), device: "dev/sda", release: make(chan struct{}), opened: &opened}
		reader := NewReader(machineWith(files))
		for range 2 {
			start := time.Now()
			list, err := reader.Read(t.Context(), nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(time.Since(start)).To(BeNumerically("<=", deviceLimit))
			g.Expect([]bool{list[0].Bootable, list[1].Bootable}).To(Equal([]bool{false, true}))
			time.Sleep(time.Minute) //nolint:forbidigo // the clock of the bubble
		}
		g.Expect(opened).To(Equal(1), "it is not asked again while it hangs")
		close(files.release)
		synctest.Wait()
		list, err := reader.Read(t.Context(), nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list[0].Bootable).To(BeTrue())
	})
}

func TestTheListIsKeptUntilTheKernelReportsAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		files := tree(map[string]map[string]string{"sda": {"/sys/kernel/uevent_seqnum": "7\n"}})
		reader := NewReader(machineWith(files))
		read := func(table ...mounts.Mount) (int64, bool) {
			list, err := reader.Read(t.Context(), table)
			g.Expect(err).NotTo(HaveOccurred())
			return list[0].SizeBytes, list[0].InstallationEligibility.Eligible
		}
		resize := func(sectors int) {
			files["sys/devices/bus/block/sda/size"] = &fstest.MapFile{Data: fmt.Appendf(nil, "%d\n", sectors)}
		}
		resize(10)
		size, _ := read()
		g.Expect(size).To(BeEquivalentTo(5120))
		resize(20)
		size, _ = read()
		g.Expect(size).To(BeEquivalentTo(10240), "udev may not have written everything down yet")
		time.Sleep(settle) //nolint:forbidigo // the clock of the bubble
		_, _ = read()
		resize(30)
		size, eligible := read(mounts.Mount{Device: "8:0", Target: "/mnt"})
		g.Expect(size).To(BeEquivalentTo(10240), "kept")
		g.Expect(eligible).To(BeFalse(), "but what is mounted is looked at each time")
		files["sys/kernel/uevent_seqnum"] = &fstest.MapFile{Data: []byte("8\n")}
		size, _ = read()
		g.Expect(size).To(BeEquivalentTo(15360), "a change was reported")
		time.Sleep(settle) //nolint:forbidigo // the clock of the bubble
		_, _ = read()
		resize(40)
		time.Sleep(keepLimit) //nolint:forbidigo // the clock of the bubble
		size, _ = read()
		g.Expect(size).To(BeEquivalentTo(20480), "too old")
	})
}

// BenchmarkManyDisks is a host with 15,000 paths to a storage array, as it was
// seen in the field: first read anew each time, then kept.
func BenchmarkManyDisks(b *testing.B) {
	disks := map[string]map[string]string{}
	for i := range 15000 {
		number := fmt.Sprintf("%d:%d", 8+i/256, i%256)
		disks[fmt.Sprintf("sd%05d", i)] = map[string]string{
			"dev": number, "queue/rotational": "1", "removable": "0", "/run/udev/data/b" + number: "E:ID_PATH=fc-0x1\nE:ID_SERIAL=x\n", "/sys/kernel/uevent_seqnum": "1\n",
		}
	}
	root := b.TempDir()
	if err := copyTree(root, tree(disks)); err != nil {
		b.Fatal(err)
	}
	for name, keep := range map[string]bool{"anew": false, "kept": true} {
		b.Run(name, func(b *testing.B) {
			reader := NewReader(machineWith(dirFS(root)))
			if keep {
				if _, err := reader.Read(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
				reader.kept.list, _, _ = reader.look(b.Context())
				reader.kept.taken = time.Now()
			}
			for b.Loop() {
				if !keep {
					reader.kept.taken = time.Time{}
				}
				if _, err := reader.Read(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
