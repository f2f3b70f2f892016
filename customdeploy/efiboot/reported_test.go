package efiboot

import (
	"testing"

	. "github.com/onsi/gomega"
)

// inactive is a menu whose entry for the disk is in the order, but not active:
// firmware passes over it (UEFI 2.10, 3.1.3: LOAD_OPTION_ACTIVE), wherever it is.
func inactive(t *testing.T) *machine {
	t.Helper()
	return newMachine(t, []uint16{0, 1}, map[uint16][]byte{0: app("UiApp"), 1: with(0, starts("CoreOS", espID, redhat))}, redhat)
}

// TestAnInactiveEntryIsMadeActive: put first but left inactive, it is passed over.
func TestAnInactiveEntryIsMadeActive(t *testing.T) {
	g := NewWithT(t)
	m := inactive(t)
	warning, err := m.first()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(warning).To(BeEmpty())
	g.Expect(m.order()).To(Equal([]uint16{1, 0}))
	g.Expect(m.menu()).To(Equal([]string{"0000* UiApp 00000000", `0001* CoreOS 11111111 \EFI\redhat\shimx64.efi`}))
}

// TestAnInactiveEntryBootsNothing: confirm_install must not take it for a way to the system.
func TestAnInactiveEntryBootsNothing(t *testing.T) {
	g := NewWithT(t)
	m := inactive(t) // no \EFI\BOOT
	g.Expect(Bootable(t.Context(), m.run, m.host, "/dev/sda")).To(BeFalse())
}

// TestAnEntryOutsideTheOrderBootsNothing: firmware starts what is in BootOrder.
func TestAnEntryOutsideTheOrderBootsNothing(t *testing.T) {
	g := NewWithT(t)
	m := newMachine(t, []uint16{0}, map[uint16][]byte{0: app("UiApp"), 1: starts("CoreOS", espID, redhat)}, redhat)
	g.Expect(Bootable(t.Context(), m.run, m.host, "/dev/sda")).To(BeFalse())
}

// TestReportedMenus plays firmware whose menu has the disk's entry already.
func TestReportedMenus(t *testing.T) {
	for name, tc := range map[string]struct {
		order   []uint16
		options map[uint16][]byte
		want    []uint16
	}{
		// efibootmgr ends with 8 when it is to write a number that has no entry (omarchy-iso#94).
		"an order with a number that has no entry": {
			[]uint16{1, 0x2001, 3, 0x2004},
			map[uint16][]byte{1: app("UiApp"), 3: starts("CoreOS", espID, redhat), 0x2001: app("EFI USB Device")},
			[]uint16{3, 1, 0x2001},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			m := newMachine(t, tc.order, tc.options, redhat)
			warning, err := m.first()
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(warning).To(BeEmpty())
			g.Expect(m.order()).To(Equal(tc.want))
			g.Expect(m.menu()).To(HaveLen(3), "no entry is added, none is lost")
		})
	}
}
