package emulator_test

import (
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab/emulator"
)

func TestChangeOf(t *testing.T) {
	const iso, boot = "http://x/y.iso", "http://x/boot.iso"
	cd := map[string]simulator.Medium{"Cd": {Image: iso, WriteProtected: true}}
	inserted := map[string]emulator.Medium{"Cd": {Image: iso, Inserted: true, WriteProtected: true}}
	for _, c := range []struct {
		name  string
		state simulator.State
		want  emulator.SystemChange
	}{
		{
			"nothing",
			simulator.State{Boot: simulator.Boot{Target: "None", Enabled: "Disabled", Mode: "UEFI"}},
			emulator.SystemChange{BootMode: "UEFI", Media: map[string]emulator.Medium{}},
		},
		{
			"a target that is switched off",
			simulator.State{Boot: simulator.Boot{Target: "Cd", Enabled: "Disabled"}},
			emulator.SystemChange{Media: map[string]emulator.Medium{}},
		},
		{
			"a CD",
			simulator.State{UUID: "u", Name: "n", Sequence: 3, Power: simulator.On, Boot: simulator.Boot{Target: "Cd", Enabled: "Once"}, Media: cd, SecureBoot: true},
			emulator.SystemChange{UUID: "u", Name: "n", Sequence: 3, PowerState: emulator.PowerOn, BootDevice: emulator.BootCd, SecureBoot: true, Media: inserted},
		},
		{
			"a CD on USB",
			simulator.State{Boot: simulator.Boot{Target: "UsbCd", Enabled: "Continuous"}, Media: cd},
			emulator.SystemChange{BootDevice: emulator.BootCd, Media: inserted},
		},
		{
			"over HTTP",
			simulator.State{Boot: simulator.Boot{Target: "UefiHttp", Enabled: "Once", HTTPURI: boot}},
			emulator.SystemChange{BootDevice: emulator.BootCd, HTTPBootURI: boot, Media: map[string]emulator.Medium{"Cd": {Image: boot, Inserted: true, WriteProtected: true}}},
		},
		{
			"the disk",
			simulator.State{Boot: simulator.Boot{Target: "Hdd", Enabled: "Continuous"}},
			emulator.SystemChange{BootDevice: emulator.BootHdd, Media: map[string]emulator.Medium{}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Change = emulator.ChangeBoot
			NewWithT(t).Expect(emulator.ChangeOf(c.state, emulator.ChangeBoot, "")).To(Equal(c.want))
		})
	}
}

func TestResetOf(t *testing.T) {
	for _, c := range []struct {
		reset simulator.ResetType
		after simulator.PowerState
		want  emulator.Reset
	}{
		{simulator.ResetOn, simulator.On, emulator.ResetOn},
		{simulator.ResetGracefulShutdown, simulator.Off, emulator.ResetGracefulShutdown},
		{simulator.ResetPowerCycle, simulator.On, emulator.ResetForceRestart},
		{simulator.ResetPushPowerButton, simulator.On, emulator.ResetOn},
		{simulator.ResetPushPowerButton, simulator.Off, emulator.ResetGracefulShutdown},
	} {
		t.Run(string(c.reset)+" to "+string(c.after), func(t *testing.T) {
			NewWithT(t).Expect(emulator.ResetOf(c.reset, c.after)).To(Equal(c.want))
		})
	}
}

func TestNotifierWithoutListener(t *testing.T) {
	n := &emulator.Notifier{URL: "http://127.0.0.1:1/nobody", HTTP: http.DefaultClient}
	NewWithT(t).Expect(n.BootChanged(t.Context(), simulator.State{Name: "host-0"})).To(MatchError(ContainSubstring("host-0 cannot be reached")))
}
