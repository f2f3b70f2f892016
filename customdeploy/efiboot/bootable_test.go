package efiboot

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"
)

func TestBootable(t *testing.T) {
	entry := map[uint16][]byte{0: app("UiApp"), 1: starts("CoreOS", espID, loaders[0])}
	otherDisk := map[uint16][]byte{1: starts("Old", otherID, loaders[0])}
	both := []uint16{0, 1}
	for name, tc := range map[string]struct {
		order   []uint16
		menu    map[uint16][]byte
		loaders []string
		change  func(m *machine)
		want    bool
		err     string
	}{
		"an entry for the disk":                 {order: both, menu: entry, want: true},
		"entries of another disk, fall-back":    {order: both, menu: otherDisk, loaders: fallbacks[:1], want: true},
		"entries of another disk, no fall-back": {order: both, menu: otherDisk, loaders: loaders[:1]},
		"booted by BIOS":                        {change: func(m *machine) { _ = os.RemoveAll(m.host.Path("/sys/firmware")) }, want: true},
		"no ESP at all":                         {order: both, menu: otherDisk, change: func(m *machine) { m.lsblk = `{"blockdevices": [{"path": "/dev/sda"}]}` }},
		"no variables, fall-back":               {change: noVariables, loaders: fallbacks[1:], want: true},
		"no variables, no fall-back":            {change: noVariables, err: "efivarfs is not mounted"},
		"the ESP cannot be mounted":             {order: both, menu: otherDisk, change: func(m *machine) { m.cannot = true }, err: "mount: exit status 32"},
		"lsblk fails":                           {change: func(m *machine) { m.lsblk = "" }, err: "lsblk: exit status 32"},
		// LOAD_OPTION_ACTIVE and its neighbours: UEFI 2.10, 3.1.3.
		"an entry for the firmware's menu": {order: both, menu: map[uint16][]byte{1: with(0x101, entry[1])}},
		"no order":                         {menu: entry},
		"an order of odd length":           {menu: entry, change: func(m *machine) { m.set(bootOrder, []byte{1, 0, 1}) }, want: true},
		"entries that are broken":          {order: []uint16{0, 1, 2, 3}, menu: map[uint16][]byte{0: {}, 1: {1, 2, 3}, 2: entry[1][:20], 3: entry[1]}, want: true},
		"only broken ones":                 {order: []uint16{0, 1, 2}, menu: map[uint16][]byte{0: {}, 1: {1, 2, 3}, 2: entry[1][:20]}},
		"a variable that cannot be read": {order: both, menu: map[uint16][]byte{1: entry[1]}, change: func(m *machine) {
			_ = os.Mkdir(m.host.Path(efivars+"/Boot0000"+global), 0o755)
		}, want: true},
		"a variable without end":        {order: both, menu: entry, change: func(m *machine) { m.set("Boot0000"+global, make([]byte, maxVariable)) }, want: true},
		"a variable without attributes": {order: both, menu: entry, change: func(m *machine) { m.file(efivars+"/Boot0000"+global, "") }, want: true},
		"an order that cannot be read": {menu: entry, change: func(m *machine) {
			_ = os.Mkdir(m.host.Path(efivars+"/"+bootOrder), 0o755)
		}, err: "read the boot order"},
		"a partition without GUID": {order: both, menu: entry, change: func(m *machine) {
			m.lsblk = `{"blockdevices": [{"path": "/dev/sda", "children": [{"path": "/dev/sda1", "parttype": "0xef", "partuuid": "1a2b3c4d-01"}]}]}`
		}},
		"a partition without a name of its own": {order: both, menu: map[uint16][]byte{1: app("UiApp")}, change: func(m *machine) {
			m.lsblk = `{"blockdevices": [{"path": "/dev/sda", "children": [{"path": "/dev/sda1", "parttype": null, "partuuid": "00000000-0000-0000-0000-000000000000"}]}]}`
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, tc.order, tc.menu, tc.loaders...)
			if tc.change != nil {
				tc.change(m)
			}
			got, err := Bootable(t.Context(), m.run, m.host, "/dev/sda")
			g.Expect(got).To(Equal(tc.want))
			if tc.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
			}
			g.Expect(m.host.Path(espMount)).NotTo(BeADirectory())
		})
	}
	t.Run("no disk is known", func(t *testing.T) {
		m := newMachine(t, nil, nil)
		NewWithT(t).Expect(Bootable(t.Context(), m.run, m.host, "")).To(BeTrue())
	})
}

// noVariables is a live system in which efivarfs is not mounted.
func noVariables(m *machine) {
	_ = os.RemoveAll(m.host.Path(efivars))
	_ = os.MkdirAll(m.host.Path(efivars), 0o755)
}
