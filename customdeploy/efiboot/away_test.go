package efiboot

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// TestALUNThatIsAwayKeepsItsEntry: a path that is down for a minute must not cost a
// system on a storage array its entry, while one on a disk of the host's own is gone.
func TestALUNThatIsAwayKeepsItsEntry(t *testing.T) {
	for name, tc := range map[string]struct {
		file, text string
		stays      bool
	}{
		"Fibre Channel, link down":            {"/sys/class/fc_host/host3/port_state", "Linkdown", true},
		"iSCSI, logged in":                    {"/sys/class/iscsi_session/session1/state", "LOGGED_IN", true},
		"iSCSI, known to the firmware alone":  {"/sys/firmware/acpi/tables/iBFT", "iBFT", true},
		"NVMe over a network":                 {"/sys/class/nvme-fabrics/ctl/uevent", "", true},
		"a module without an adapter":         {"/sys/class/fc_host/.", "", false},
		"nothing but disks of the host's own": {"/sys/class/scsi_host/host0/proc_name", "ahci", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, []uint16{1, 0}, map[uint16][]byte{0: app("UiApp"), 1: starts("CoreOS", goneID, redhat)}, redhat)
			if tc.file == "/sys/class/fc_host/." {
				g.Expect(os.MkdirAll(m.host.Path("/sys/class/fc_host"), 0o755)).To(Succeed())
			} else {
				m.file(tc.file, tc.text+"\n")
			}
			_, err := m.first()
			g.Expect(err).NotTo(HaveOccurred())
			if tc.stays {
				g.Expect(m.menu()).To(ContainElement(`0001* CoreOS 22222222 \EFI\redhat\shimx64.efi`))
				g.Expect(m.order()).To(Equal([]uint16{2, 1, 0}))
			} else {
				g.Expect(m.menu()).NotTo(ContainElement(ContainSubstring("22222222")))
			}
		})
	}
}

// TestDeadEntriesDoNotPileUp: of those that may be a LUN's only the newest stay, and
// the order has the newest first.
func TestDeadEntriesDoNotPileUp(t *testing.T) {
	g := NewWithT(t)
	options, order := map[uint16][]byte{20: starts("CoreOS", uuid.New(), redhat)}, []uint16{}
	for n := range uint16(12) {
		options[n] = starts("CoreOS", uuid.New(), redhat)
		order = append([]uint16{n}, order...)
	}
	m := newMachine(t, order, options, redhat)
	m.file("/sys/class/fc_host/host3/port_state", "Online\n")
	for range 2 {
		_, err := m.first()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(m.order()).To(Equal([]uint16{12, 11, 10, 9, 8, 7, 6, 5, 4}))
		g.Expect(m.menu()).To(HaveLen(9))
	}
}

// TestAFullMenuMakesRoom: the system that was just installed must boot, at the cost of
// those that nobody sees.
func TestAFullMenuMakesRoom(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, []uint16{1, 0}, map[uint16][]byte{0: app("UiApp"), 1: starts("CoreOS", goneID, redhat)}, redhat)
	m.file("/sys/class/fc_host/host3/port_state", "Online\n")
	full(m)
	warning, err := m.first()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(warning).To(BeEmpty())
	g.Expect(m.menu()).To(Equal([]string{"0000* UiApp 00000000", `0002* CoreOS 11111111 \EFI\redhat\shimx64.efi`}))
	g.Expect(m.order()).To(Equal([]uint16{2, 0}))
}

// full is efivarfs of firmware that has room for no variable more.
func full(m *machine) {
	m.t.Helper()
	dir := m.host.Path(efivars)
	files, err := os.ReadDir(dir)
	if err != nil {
		m.t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, file := range files {
		if content[file.Name()], err = os.ReadFile(dir + "/" + file.Name()); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "nr_inodes=5"); err != nil { // one for the folder
		m.t.Skipf("a small file system needs root: %v", err)
	}
	m.t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	for name, raw := range content {
		if err := os.WriteFile(dir+"/"+name, raw, 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	if err := os.WriteFile(dir+"/one-too-many", nil, 0o600); !errors.Is(err, unix.ENOSPC) {
		m.t.Fatalf("there is room for more than %d variables: %v", len(content), err)
	}
}

// multipath is the same disk behind two paths: its partitions are devices of the mapper,
// of which the kernel says no start.
const multipath = `{"blockdevices": [{"path": "/dev/mapper/mpatha", "parttype": null, "partuuid": null, "children": [
	{"path": "/dev/mapper/mpatha2", "parttype": "` + espType + `", "partuuid": "11111111-0000-0000-0000-000000000001"}]}]}`

// TestPartitionsOfAMultipathDisk: the entry says where the partition lies on the disk,
// and udev has to be asked for that.
func TestPartitionsOfAMultipathDisk(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, nil, nil, redhat)
	m.lsblk = multipath
	for path, text := range map[string]string{
		"/sys/class/block/dm-0/queue/logical_block_size": "4096", "/sys/class/block/dm-3/dm/uuid": "part2-mpath-3600508b4",
		"/sys/class/block/dm-3/size": "260096", "/sys/class/block/dm-3/dev": "253:3", "/dev/mapper/control": "",
		"/run/udev/data/b253:3": "S:disk/by-partlabel/EFI-SYSTEM\nE:ID_PART_ENTRY_OFFSET=4096\nE:ID_PART_ENTRY_SIZE=260096",
	} {
		m.file(path, text+"\n")
	}
	for name, target := range map[string]string{"mpatha": "../dm-0", "mpatha2": "../dm-3"} {
		g.Expect(os.Symlink(target, m.host.Path("/dev/mapper/"+name))).To(Succeed())
	}
	f := Firmware{Exec: m.run, Host: m.host, Label: "CoreOS"}
	for _, disk := range []string{"/dev/mapper/mpatha", "/dev/dm-0"} { // by the one name or the other
		warning, err := f.First(t.Context(), disk)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(warning).To(BeEmpty())
		_, raw, err := variablesOf(m.host).read("Boot0000" + global)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bytes.Contains(raw, hardDrive{number: 2, start: 512, size: 32512, partition: espID}.node())).To(BeTrue())
	}
}

// TestPartitionsThatAreNotMapped: nobody has made them yet, which does not mean that the
// disk has none, and must not fail an installation that is done.
func TestPartitionsThatAreNotMapped(t *testing.T) {
	for _, disk := range []string{"/dev/mapper/mpatha", "/dev/dm-0"} {
		g := NewWithT(t)
		m := newMachine(t, []uint16{1}, map[uint16][]byte{1: starts("CoreOS", espID, redhat)})
		m.lsblk = `{"blockdevices": [{"path": "/dev/mapper/mpatha", "parttype": null, "partuuid": null}]}`
		found, err := Bootable(t.Context(), m.run, m.host, disk)
		g.Expect(found).To(BeFalse())
		g.Expect(err).To(MatchError("the partitions of " + disk + " are not mapped"))
	}
}
