package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// neverOffWorld is a machine in use that must not be switched off.
func neverOffWorld(t *testing.T, a *asked) *world {
	t.Helper()
	w := newWorld(t, assisted(a.behave), policy.Settings{}, func(h *metal3.BareMetalHost) {
		wantInstall(h)
		h.Spec.DisablePowerOff = true
	})
	w.until("in use", 2*time.Minute, func(h *metal3.BareMetalHost) bool {
		return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn
	})
	let(time.Minute)
	a.since()
	return w
}

// askedToRestart has a hard restart asked for, and returns what Ironic was asked first, where power-off is
// forbidden or not.
func (w *world) askedToRestart(a *asked, forbidden bool) (made []string) {
	w.t.Helper()
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.DisablePowerOff = forbidden })
	let(time.Minute)
	a.since()
	w.annotate(names.Reboot, `{"mode":"hard"}`)
	w.until("asked for", time.Minute, func(*metal3.BareMetalHost) bool {
		made = append(made, a.since()...)
		return len(made) > 0
	})
	return made
}

// unmarked reports a host whose reboot is over.
func unmarked(h *metal3.BareMetalHost) bool {
	_, wanted := h.Annotations[names.Reboot]
	_, marked := h.Annotations[names.Rebooting]
	return !wanted && !marked && h.Status.PoweredOn && h.Status.ErrorType == ""
}

// TestWhatWouldHoldAMachineOffThatMustNot: nothing is asked for again and again;
// the host says why it does nothing.
func TestWhatWouldHoldAMachineOffThatMustNot(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*metal3.BareMetalHost)
		says   string
	}{
		"a client's key":           {func(h *metal3.BareMetalHost) { h.Annotations[names.Reboot+"/me"] = "" }, "spec.disablePowerOff"},
		"offline in a stored spec": {func(h *metal3.BareMetalHost) { h.Spec.Online = false }, "spec.online is false"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var a asked
				w := neverOffWorld(t, &a)
				defer w.stop()
				w.annotate("touched", "")
				w.edit(c.change)
				let(time.Hour)
				g.Expect(a.since()).To(BeEmpty())
				g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring(c.says))
			})
		})
	}
}

// TestRebootOfAMachineThatMustNotBeOff is one request, softly first, hard after a failure.
func TestRebootOfAMachineThatMustNotBeOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var a asked
		w := neverOffWorld(t, &a)
		defer w.stop()
		w.annotate(names.Reboot, "")
		w.until("rebooted", time.Minute, unmarked)
		let(time.Hour)
		g.Expect(a.since()).To(Equal([]string{"soft rebooting"}))
		a.dead.Store(true)
		w.annotate(names.Reboot, "")
		w.until("failed", time.Minute, failures(1))
		w.until("failed again", time.Hour, failures(2))
		a.dead.Store(false)
		w.until("rebooted after all", time.Hour, unmarked)
		let(time.Hour)
		g.Expect(a.since()).To(Equal([]string{"soft rebooting", "rebooting", "rebooting"}))
		g.Expect(w.host().Status.ErrorCount).To(BeZero())
	})
}

// TestARestartIsNotMadeAgainSinceIronicLostSightOfThePower: the error that Ironic has of that is none of the restart.
func TestARestartIsNotMadeAgainSinceIronicLostSightOfThePower(t *testing.T) {
	for name, forbidden := range map[string]bool{"where power-off is forbidden": true, "where the machine is switched off for it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var a asked
				w := neverOffWorld(t, &a)
				defer func() { w.stop() }()
				made := w.askedToRestart(&a, forbidden)
				secret := w.readSecret("bmc")
				good := secret.Data
				secret.Data = bytesOf(map[string]string{"username": "root", "password": ""})
				w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed(), "so that nobody looks after the end of the restart")
				let(time.Minute)
				w.sim.LoseBMC("lab~host-1", "no answer")
				let(time.Minute)
				w.sim.FindBMC("lab~host-1", "power on")
				let(time.Minute)
				secret = w.readSecret("bmc")
				secret.Data = good
				w.g.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
				w.until("over", 10*time.Minute, unmarked)
				let(time.Hour)
				w.g.Expect(append(made, a.since()...)).To(HaveLen(1))
				w.g.Expect(count1(w.events.list(), "RestartNotKnown")).To(Equal(1))
			})
		})
	}
}

// TestKilledWhileRestarting kills the controller at each request of a reboot that
// can only be asked for once, and of a deployment that is started over.
func TestKilledWhileRestarting(t *testing.T) {
	for name, life := range map[string]func(*testing.T, int32, bool) bool{"never off": rebootedLife, "never off, after a failure": rebootedAfterFailureLife, "started over": startedOverLife} {
		for when, handled := range map[string]bool{" before it is handled": false, " before its answer": true} {
			t.Run(name+when, func(t *testing.T) {
				n := int32(1)
				for ; life(t, n, handled); n++ {
				}
				NewWithT(t).Expect(n).To(BeNumerically(">", 2), "a life takes more requests than that")
			})
		}
	}
}

func rebootedLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		w := neverOffWorld(t, &a)
		defer func() { w.stop() }()
		seen := w.killAt(n, handled)
		w.annotate(names.Reboot, `{"mode":"hard"}`)
		w.until("rebooted", 5*time.Minute, unmarked)
		let(time.Minute)
		w.g.Expect(a.since()).To(Equal([]string{"rebooting"}), "killed at request %d: %v", n, w.events.texts)
		killed = seen.Load() >= n
		if !killed {
			w.g.Expect(w.events.list()).To(ContainElement("PowerOff"))
		}
	})
	return killed
}

// rebootedAfterFailureLife kills the controller while the host still shows the error of the attempt before.
func rebootedAfterFailureLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		w := neverOffWorld(t, &a)
		defer func() { w.stop() }()
		a.dead.Store(true)
		w.annotate(names.Reboot, `{"mode":"hard"}`)
		w.until("failed", time.Minute, failures(1))
		a.dead.Store(false)
		a.since()
		seen := w.killAt(n, handled)
		w.until("rebooted", time.Hour, unmarked)
		let(time.Minute)
		w.g.Expect(a.since()).To(Equal([]string{"rebooting"}), "killed at request %d: %v", n, w.events.texts)
		killed = seen.Load() >= n
	})
	return killed
}

func startedOverLife(t *testing.T, n int32, handled bool) (killed bool) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		o := assisted(a.behave)
		o.Delays = delays
		o.Delays.Deploy = time.Minute
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer func() { w.stop() }()
		w.until("installing", time.Minute, func(h *metal3.BareMetalHost) bool {
			node, _ := w.sim.Node(nodespec.NodeName(h))
			return node.ProvisionState == "wait call-back"
		})
		let(5 * time.Second)
		a.since()
		seen := w.killAt(n, handled)
		w.annotate(names.Reboot, `{"force":true}`)
		w.until("in use", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateProvisioned && unmarked(h)
		})
		w.g.Expect(count1(a.since(), "undeploy")).To(Equal(1), "killed at request %d: %v", n, w.events.texts)
		w.g.Expect(w.host().Status.ErrorCount).To(BeZero())
		killed = seen.Load() >= n
		if !killed {
			w.g.Expect(w.events.list()).To(ContainElement("ForcedReboot"))
		}
	})
	return killed
}
