package contract

import (
	"net/http"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish/schemas"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

func power(w *World) {
	for _, step := range []struct {
		reset schemas.ResetType
		after schemas.PowerState
	}{
		{schemas.OnResetType, schemas.OnPowerState},
		{schemas.OnResetType, schemas.OnPowerState},
		{schemas.ForceRestartResetType, schemas.OnPowerState},
		{schemas.GracefulRestartResetType, schemas.OnPowerState},
		{schemas.GracefulShutdownResetType, schemas.OffPowerState},
		{schemas.ForceOffResetType, schemas.OffPowerState},
		{schemas.ForceOnResetType, schemas.OnPowerState},
		{schemas.ForceOffResetType, schemas.OffPowerState},
		{schemas.ForceRestartResetType, schemas.OnPowerState},
	} {
		w.Reset(step.reset)
		w.UntilPower(step.after)
	}
}

func moreResets(w *World) {
	for _, step := range []struct {
		reset schemas.ResetType
		after schemas.PowerState
	}{
		{schemas.PushPowerButtonResetType, schemas.OnPowerState},
		{schemas.NmiResetType, schemas.OnPowerState},
		{schemas.PowerCycleResetType, schemas.OnPowerState},
		{schemas.PushPowerButtonResetType, schemas.OffPowerState},
	} {
		w.Reset(step.reset)
		w.UntilPower(step.after)
	}
}

func unknownReset(w *World) {
	answer := w.Do(http.MethodPost, w.systemPath()+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": "Explode"})
	w.Expect(answer.status).To(BeNumerically(">=", 400))
	w.Expect(w.System().PowerState).To(Equal(schemas.OffPowerState))
}

// slowSystem replaces the case's system by one that takes its time.
func (w *World) slowSystem(delays simulator.Delays) {
	w.T.Helper()
	w.Expect(w.Simulator.AddSystem(simulator.System{ID: w.ID, Delays: &delays})).To(Succeed())
}

func powerDelays(w *World) {
	w.slowSystem(simulator.Delays{Power: time.Hour})
	w.Reset(schemas.OnResetType)
	w.Expect(w.System().PowerState).To(Equal(schemas.PoweringOnPowerState))
	w.Reset(schemas.ForceOffResetType)
	w.Expect(w.System().PowerState).To(Equal(schemas.PoweringOffPowerState), "the later request has won")
	w.slowSystem(simulator.Delays{Power: 20 * time.Millisecond, POST: time.Hour})
	w.Reset(schemas.OnResetType)
	w.UntilPower(schemas.OnPowerState)
	w.Expect(w.System().BootProgress.LastState).NotTo(Equal(schemas.OSRunningBootProgressTypes), "POST takes its time too")
	w.slowSystem(simulator.Delays{Power: 20 * time.Millisecond, POST: 20 * time.Millisecond})
	w.Boots()
}

func ownPower(w *World) {
	w.Expect(w.Simulator.SetPower(w.ID, simulator.On)).To(Succeed())
	w.Expect(w.System().PowerState).To(Equal(schemas.OnPowerState))
	w.Expect(w.Simulator.SetPower(w.ID, simulator.Off)).To(Succeed())
	w.Expect(w.System().PowerState).To(Equal(schemas.OffPowerState))
}

// setBoot asks for a boot override, which must be accepted.
func (w *World) setBoot(boot schemas.Boot) {
	w.T.Helper()
	w.Expect(w.System().SetBoot(&boot)).To(Succeed())
}

func bootDevice(w *World) {
	for _, device := range []schemas.BootSource{schemas.CdBootSource, schemas.PxeBootSource, schemas.HddBootSource} {
		w.setBoot(schemas.Boot{BootSourceOverrideTarget: device, BootSourceOverrideEnabled: schemas.ContinuousBootSourceOverrideEnabled})
		boot := w.System().Boot
		w.Expect(boot.BootSourceOverrideTarget).To(Equal(device))
		w.Expect(boot.BootSourceOverrideEnabled).To(Equal(schemas.ContinuousBootSourceOverrideEnabled))
		w.Expect(boot.AllowableBootSourceOverrideTargetValues).To(ContainElement(device))
	}
}

func bootMode(w *World) {
	for _, mode := range []schemas.BootSourceOverrideMode{schemas.LegacyBootSourceOverrideMode, schemas.UEFIBootSourceOverrideMode} {
		w.setBoot(schemas.Boot{
			BootSourceOverrideTarget: schemas.HddBootSource, BootSourceOverrideEnabled: schemas.ContinuousBootSourceOverrideEnabled, BootSourceOverrideMode: mode,
		})
		w.Expect(w.System().Boot.BootSourceOverrideMode).To(Equal(mode))
	}
}

func bootOnce(w *World) {
	w.setBoot(schemas.Boot{BootSourceOverrideTarget: schemas.CdBootSource, BootSourceOverrideEnabled: schemas.OnceBootSourceOverrideEnabled})
	w.Expect(w.System().Boot.BootSourceOverrideTarget).To(Equal(schemas.CdBootSource))
	w.Boots()
	w.Expect(w.System().Boot.BootSourceOverrideTarget).To(Equal(schemas.NoneBootSource), "it was used up")
	w.setBoot(schemas.Boot{BootSourceOverrideTarget: schemas.CdBootSource, BootSourceOverrideEnabled: schemas.ContinuousBootSourceOverrideEnabled})
	w.Boots()
	w.Expect(w.System().Boot.BootSourceOverrideTarget).To(Equal(schemas.CdBootSource), "it stays")
}

func httpBoot(w *World) {
	const image = "http://127.0.0.1:1/boot.iso"
	w.setBoot(schemas.Boot{BootSourceOverrideMode: schemas.UEFIBootSourceOverrideMode, BootSourceOverrideTarget: schemas.HddBootSource})
	w.Expect(w.System().Boot.AllowableBootSourceOverrideTargetValues).To(ContainElement(schemas.UefiHTTPBootSource))
	w.setBoot(schemas.Boot{BootSourceOverrideTarget: schemas.UefiHTTPBootSource, HTTPBootURI: image})
	w.Expect(w.System().Boot.HTTPBootURI).To(Equal(image))
}

func unknownBoot(w *World) {
	before := w.System().Boot.BootSourceOverrideTarget
	answer := w.Do(http.MethodPatch, w.systemPath(), map[string]any{"Boot": map[string]any{"BootSourceOverrideTarget": "Tape"}})
	w.Expect(answer.status).To(BeNumerically(">=", 400))
	w.Expect(w.System().Boot.BootSourceOverrideTarget).To(Equal(before))
}

func secureBoot(w *World) {
	for _, enable := range []bool{true, false} {
		sb, err := w.System().SecureBoot()
		w.Expect(err).NotTo(HaveOccurred())
		sb.SecureBootEnable = enable
		w.Expect(sb.Update()).To(Succeed())
		sb, err = w.System().SecureBoot()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(sb.SecureBootEnable).To(Equal(enable))
	}
}

func secureBootNow(w *World) {
	sb, err := w.System().SecureBoot()
	w.Expect(err).NotTo(HaveOccurred())
	sb.SecureBootEnable = true
	w.Expect(sb.Update()).To(Succeed())
	now := func() schemas.SecureBootCurrentBootType {
		sb, err := w.System().SecureBoot()
		w.Expect(err).NotTo(HaveOccurred())
		return sb.SecureBootCurrentBoot
	}
	w.Expect(now()).To(BeEquivalentTo("Disabled"), "until the next boot")
	w.Boots()
	w.Expect(now()).To(BeEquivalentTo("Enabled"))
	w.setBoot(schemas.Boot{BootSourceOverrideMode: schemas.LegacyBootSourceOverrideMode})
	answer := w.Do(http.MethodPatch, w.systemPath()+"/SecureBoot", map[string]any{"SecureBootEnable": true})
	w.Expect(answer.status).To(Equal(http.StatusBadRequest), "not in legacy mode")
	answer = w.Do(http.MethodPatch, w.systemPath()+"/SecureBoot", map[string]any{"SecureBootEnable": "yes"})
	w.Expect(answer.status).To(Equal(http.StatusBadRequest))
}

func secureBootKeys(w *World) {
	sb, err := w.System().SecureBoot()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(sb.SecureBootMode).To(BeEquivalentTo("UserMode"))
	for kind, mode := range map[schemas.ResetKeysType]string{"DeleteAllKeys": "SetupMode", "ResetAllKeysToDefault": "UserMode"} {
		_, err = sb.ResetKeys(kind)
		w.Expect(err).NotTo(HaveOccurred())
		after, err := w.System().SecureBoot()
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(after.SecureBootMode).To(BeEquivalentTo(mode))
	}
	_, err = sb.ResetKeys("Nonsense")
	w.Refused(err, http.StatusBadRequest)
}
