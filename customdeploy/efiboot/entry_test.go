package efiboot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

const (
	redhat   = "EFI/redhat/shimx64.efi"
	fallback = "EFI/BOOT/BOOTX64.EFI"
)

// TestFirst is what becomes of boot menus.
func TestFirst(t *testing.T) {
	ours := starts("CoreOS", espID, redhat)
	for name, tc := range map[string]struct {
		order []uint16
		menu  map[uint16][]byte
		want  []uint16
		menus []string
	}{
		"a new entry": {
			[]uint16{0},
			map[uint16][]byte{0: app("UiApp")},
			[]uint16{1, 0},
			[]string{"0000* UiApp 00000000", `0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
		"no menu at all": {
			nil, nil,
			[]uint16{0},
			[]string{`0000* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
		"one of another label": {
			[]uint16{0, 1},
			map[uint16][]byte{0: app("UiApp"), 1: starts("Red Hat Enterprise Linux", espID, redhat)},
			[]uint16{1, 0},
			[]string{"0000* UiApp 00000000", `0001* Red Hat Enterprise Linux 11111111 \EFI\redhat\shimx64.efi`},
		},
		"one with capitals": {
			[]uint16{0, 1},
			map[uint16][]byte{0: app("UiApp"), 1: starts("CoreOS", espID, "EFI/REDHAT/SHIMX64.EFI")},
			[]uint16{1, 0},
			[]string{"0000* UiApp 00000000", `0001* CoreOS 11111111 \EFI\REDHAT\SHIMX64.EFI`},
		},
		"one for the firmware's menu only": {
			[]uint16{1},
			map[uint16][]byte{1: with(0x101, ours)},
			[]uint16{1},
			[]string{`0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
		"one outside the order": {
			[]uint16{0},
			map[uint16][]byte{0: app("UiApp"), 1: ours},
			[]uint16{1, 0},
			[]string{"0000* UiApp 00000000", `0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
		"two, one outside the order": {
			[]uint16{2},
			map[uint16][]byte{1: ours, 2: ours},
			[]uint16{2},
			[]string{`0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`, `0002* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
		"the same loader of another disk": {
			[]uint16{1},
			map[uint16][]byte{1: starts("CoreOS", otherID, redhat)},
			[]uint16{0, 1},
			[]string{`0000* CoreOS 11111111 \EFI\redhat\shimx64.efi`, `0001* CoreOS 99999999 \EFI\redhat\shimx64.efi`},
		},
		"a number of the order is not given away": {
			[]uint16{0},
			map[uint16][]byte{2: app("UiApp")},
			[]uint16{1},
			[]string{`0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`, "0002* UiApp 00000000"},
		},
		"an order that names one twice": {
			[]uint16{0, 3, 0, 3},
			map[uint16][]byte{0: app("UiApp"), 3: ours},
			[]uint16{3, 0},
			[]string{"0000* UiApp 00000000", `0003* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
		"dead ones of earlier installations": {
			[]uint16{0, 1, 2, 3, 4},
			map[uint16][]byte{
				0: app("UiApp"), 1: starts("CoreOS", goneID, redhat), 2: starts("CoreOS", goneID, fallback),
				3: starts("Windows", goneID, redhat), 4: starts("CoreOS", goneID, "EFI/custom/loader.efi"),
			},
			[]uint16{5, 0, 3, 4},
			[]string{
				"0000* UiApp 00000000", `0003* Windows 22222222 \EFI\redhat\shimx64.efi`, `0004* CoreOS 22222222 \EFI\custom\loader.efi`,
				`0005* CoreOS 11111111 \EFI\redhat\shimx64.efi`,
			},
		},
		"broken ones keep their places": {
			[]uint16{0, 1, 2},
			map[uint16][]byte{0: {}, 1: ours[:9], 2: app("UiApp")},
			[]uint16{3, 0, 1, 2},
			[]string{"0000 00000000", "0001 00000000", "0002* UiApp 00000000", `0003* CoreOS 11111111 \EFI\redhat\shimx64.efi`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, tc.order, tc.menu, redhat, fallback)
			for range 2 { // however often
				warning, err := m.first()
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(warning).To(BeEmpty())
				g.Expect(m.order()).To(Equal(tc.want))
				g.Expect(m.menu()).To(Equal(tc.menus))
			}
			g.Expect(Bootable(t.Context(), m.run, m.host, "/dev/sda")).To(BeTrue())
		})
	}
}

// TestWhatIsRightIsNotWritten: the memory of firmware wears out.
func TestWhatIsRightIsNotWritten(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, []uint16{3, 0}, map[uint16][]byte{0: app("UiApp"), 3: starts("CoreOS", espID, redhat)}, redhat)
	old := time.Unix(1e9, 0)
	files, err := filepath.Glob(m.host.Path(efivars + "/*"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		g.Expect(os.Chtimes(file, old, old)).To(Succeed())
	}
	_, err = m.first()
	g.Expect(err).NotTo(HaveOccurred())
	for _, file := range files {
		info, err := os.Stat(file)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.ModTime()).To(Equal(old), file)
	}
}

// TestDataOfTheLoaderStays: making an entry active changes nothing else of it.
func TestDataOfTheLoaderStays(t *testing.T) {
	g := NewWithT(t)
	raw := append(starts("CoreOS", espID, redhat), "data for the loader"...)
	m := newMachine(t, []uint16{1}, map[uint16][]byte{1: with(8, raw)}, redhat)
	_, err := m.first()
	g.Expect(err).NotTo(HaveOccurred())
	_, now, err := variablesOf(m.host).read("Boot0001" + global)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now).To(Equal(with(9, raw)))
}

// TestUnknownDisksKeepTheirEntries: without a list of the partitions none is dead.
func TestUnknownDisksKeepTheirEntries(t *testing.T) {
	for _, lost := range []string{"/dev/disk/by-partuuid/" + otherID.String(), "/dev/disk/by-partuuid"} {
		g := NewWithT(t)
		m := newMachine(t, []uint16{1}, map[uint16][]byte{1: starts("CoreOS", goneID, redhat)}, redhat)
		g.Expect(os.RemoveAll(m.host.Path(lost))).To(Succeed())
		_, err := m.first()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(m.order()).To(Equal([]uint16{0, 1}))
	}
}

// TestBlocksOfTheDisk: the kernel counts in 512 bytes, firmware in blocks of the disk.
func TestBlocksOfTheDisk(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, nil, nil, redhat)
	m.file("/sys/class/block/sda/queue/logical_block_size", "4096\n")
	_, err := m.first()
	g.Expect(err).NotTo(HaveOccurred())
	_, raw, err := variablesOf(m.host).read("Boot0000" + global)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Contains(raw, hardDrive{number: 2, start: 512, size: 32512, partition: espID}.node())).To(BeTrue())
}

// TestFirmwareThatRefuses: with a fall-back loader it is a warning, at once.
func TestFirmwareThatRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(m *machine)
		want   string
		after  time.Duration
	}{
		"no efivarfs":   {noVariables, "efivarfs is not mounted", 0},
		"read-only":     {readOnly, "read-only file system", 0},
		"no ESP":        {func(m *machine) { m.lsblk = `{"blockdevices": [{"path": "/dev/sda"}]}` }, "no EFI system partition", 25 * time.Second},
		"no loader":     {func(m *machine) { m.loaders = nil }, "holds no boot loader", 25 * time.Second},
		"a DOS table":   {func(m *machine) { m.lsblk = strings.ReplaceAll(written, espID.String(), "1a2b3c4d-01") }, "the disk has no GPT", 0},
		"no GUID yet":   {func(m *machine) { m.lsblk = strings.ReplaceAll(written, espID.String(), "") }, "not known yet", 25 * time.Second},
		"an odd kernel": {func(m *machine) { m.file("/sys/class/block/sda2/start", "many\n") }, "start", 25 * time.Second},
	} {
		for _, found := range [][]string{{redhat}, {redhat, fallback}} {
			t.Run(fmt.Sprintf("%s, %d loaders", name, len(found)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := NewWithT(t)
					m := newMachine(t, []uint16{0}, map[uint16][]byte{0: app("UiApp")}, found...)
					tc.change(m)
					begin := time.Now()
					warning, err := m.first()
					g.Expect(time.Since(begin)).To(Equal(tc.after))
					if looked := len(found) == 2 && name != "no ESP" && name != "no loader"; looked {
						g.Expect(err).NotTo(HaveOccurred())
						g.Expect(warning).To(And(ContainSubstring(tc.want), ContainSubstring(`it must find \EFI\BOOT by itself`)))
						return
					}
					g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				})
			})
		}
	}
}

// TestAFullMenu: every number has its entry.
func TestAFullMenu(t *testing.T) {
	g := NewWithT(t)
	full := menu{entries: map[uint16]entry{}}
	for n := range 1 << 16 {
		full.entries[uint16(n)] = entry{}
	}
	_, err := full.add(nil)
	g.Expect(err).To(MatchError(errNoPlace))
	g.Expect(refused(err)).To(BeTrue())
}

// readOnly is efivarfs of firmware that takes no variable from a running system.
func readOnly(m *machine) {
	dir := m.host.Path(efivars)
	mount := func(flags uintptr) error { return unix.Mount(dir, dir, "", flags, "") }
	if err := errors.Join(mount(unix.MS_BIND), mount(unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY)); err != nil {
		_ = unix.Unmount(dir, unix.MNT_DETACH)
		m.t.Skipf("a read-only mount needs root: %v", err)
	}
	m.t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

// TestProtectedVariables: the kernel marks variables immutable, against a careless rm.
func TestProtectedVariables(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, []uint16{0, 1, 2}, map[uint16][]byte{0: app("UiApp"), 1: with(0, starts("CoreOS", espID, redhat)), 2: starts("CoreOS", goneID, redhat)}, redhat)
	protected := func(name string) bool {
		f, err := os.Open(m.host.Path(efivars + "/" + name + global))
		g.Expect(err).NotTo(HaveOccurred())
		defer f.Close()
		flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
		return err == nil && flags&immutable != 0
	}
	for _, name := range []string{"BootOrder", "Boot0001", "Boot0002"} {
		path := m.host.Path(efivars + "/" + name + global)
		f, err := os.Open(path)
		g.Expect(err).NotTo(HaveOccurred())
		err = setFlags(f, immutable)
		g.Expect(f.Close()).To(Succeed())
		if err != nil {
			t.Skipf("immutable files need root and a file system that has them: %v", err)
		}
		t.Cleanup(func() { mutable(path) })
	}
	_, err := m.first()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(m.order()).To(Equal([]uint16{1, 0}))
	g.Expect(m.menu()).To(Equal([]string{"0000* UiApp 00000000", `0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`}))
	g.Expect(protected("BootOrder")).To(BeTrue(), "as it was before")
	g.Expect(protected("Boot0001")).To(BeTrue())
}

// TestAFirmwareThatForgets says yes and has another value afterwards.
func TestAFirmwareThatForgets(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, []uint16{0}, map[uint16][]byte{0: app("UiApp")}, redhat)
	path := m.host.Path(efivars + "/" + bootOrder)
	g.Expect(os.Remove(path)).To(Succeed())
	g.Expect(os.Symlink("/dev/null", path)).To(Succeed())
	err := variablesOf(m.host).write(bootOrder, variableAttributes, numbers(1))
	g.Expect(err).To(MatchError(ContainSubstring("the firmware did not keep its variable BootOrder")))
	g.Expect(refused(err)).To(BeTrue())
}
