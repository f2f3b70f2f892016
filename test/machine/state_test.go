package machine

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
)

func TestStateTable(t *testing.T) {
	g := NewWithT(t)
	reached := map[State]bool{Off: true}
	for _, tr := range Transitions() {
		g.Expect(States()).To(ContainElement(tr.To), "%v leads to a known state", tr)
		reached[tr.To] = true
	}
	for _, s := range States() {
		g.Expect(reached).To(HaveKey(s), "%s can be reached", s)
		g.Expect(table).To(HaveKey(s))
		if s != Off {
			g.Expect(table[s]).To(And(HaveKeyWithValue(PowerOff, Off), HaveKeyWithValue(Restart, POST)), "the power button works in %s", s)
			g.Expect(table[s]).NotTo(HaveKey(PowerOn), "%s has power already", s)
		}
	}
	g.Expect(table).To(HaveLen(len(States())))
	g.Expect(Transitions()).To(HaveLen(func() (n int) {
		for _, events := range table {
			n += len(events)
		}
		return n
	}()), "every row is listed")
}

func TestPowerEvent(t *testing.T) {
	for reset, want := range map[emulator.Reset]Event{
		emulator.ResetOn: PowerOn, emulator.ResetForceOn: PowerOn, emulator.ResetForceOff: PowerOff,
		emulator.ResetGracefulShutdown: PowerOff, emulator.ResetForceRestart: Restart, emulator.ResetGracefulRestart: Restart,
	} {
		NewWithT(t).Expect(powerEvent(reset)).To(Equal(want), string(reset))
	}
}

func TestBootSource(t *testing.T) {
	cd := map[string]emulator.Medium{emulator.MediaCd: {Image: "http://x/a.iso", Inserted: true}}
	for _, c := range []struct {
		name      string
		bmc       emulator.SystemChange
		installed bool
		medium    string
		err       error
	}{
		{"medium", emulator.SystemChange{BootDevice: emulator.BootCd, Media: cd}, false, "http://x/a.iso", nil},
		{"medium before disk", emulator.SystemChange{BootDevice: emulator.BootCd, Media: cd}, true, "http://x/a.iso", nil},
		{"empty slot, empty disk", emulator.SystemChange{BootDevice: emulator.BootCd}, false, "", errNothingToBoot},
		{"empty slot, then the disk", emulator.SystemChange{BootDevice: emulator.BootCd}, true, "", nil},
		{"disk although a medium is there", emulator.SystemChange{BootDevice: emulator.BootHdd, Media: cd}, true, "", nil},
		{"nothing chosen", emulator.SystemChange{Media: cd}, false, "", errNothingToBoot},
		{"network", emulator.SystemChange{BootDevice: emulator.BootPxe}, true, "", errNetworkBoot},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			medium, err := bootSource(c.bmc, c.installed)
			g.Expect(medium).To(Equal(c.medium))
			if c.err == nil {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(c.err))
			}
		})
	}
}
