package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// enrolledAgain waits until the host has a node again, and has the machine on or off.
func (w *world) enrolledAgain(power string) {
	w.t.Helper()
	w.until("enrolled", 10*time.Minute, func(*metal3.BareMetalHost) bool { return len(w.sim.Nodes()) == 1 })
	n, _ := w.sim.Node("lab~host-1")
	w.g.Expect(n.ProvisionState).To(BeElementOf("enroll", "verifying"), "what its power is, is not known yet")
	w.g.Expect(w.sim.Edit(n.UUID, map[string]any{"power_state": power})).To(BeTrue())
}

// restoredWithoutNode is restored, in an Ironic that has lost its database before the program saw what it held.
func restoredWithoutNode(t *testing.T, change func(*metal3.BareMetalHost)) *world {
	t.Helper()
	w, restore := backedUp(t)
	w.halt()
	restore(change)
	w.sim.Wipe()
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	w.enrolledAgain("power on")
	return w
}

// foundOn expects that the host says so, and that nothing was done to the machine but to
// verify its BMC.
func (w *world) foundOn() {
	w.t.Helper()
	h := w.host()
	w.g.Expect(h.Status.ErrorMessage).To(And(ContainSubstring("the machine is on"), ContainSubstring("switch it off")))
	w.leftAlone("power on")
}

// leftAlone expects that nothing was done to a machine that may be in use, and that its host says so.
func (w *world) leftAlone(power string) {
	w.t.Helper()
	w.saysLeftAlone()
	w.verifiedOnly(power)
}

// saysLeftAlone expects the latter.
func (w *world) saysLeftAlone() {
	w.t.Helper()
	h := w.host()
	w.g.Expect(condition(h, "Stalled").Reason).To(Equal("MachineMayBeInUse"), h.Status.ErrorMessage)
	w.g.Expect(h.Status.ErrorMessage).To(And(ContainSubstring("spec.externallyProvisioned"), ContainSubstring("annotate the host with inspect.metal3.io"), ContainSubstring("lab~host-1")))
	w.g.Expect(h.Status.ErrorCount).To(Equal(1), "nothing is tried that could fail")
	w.g.Expect(condition(h, metal3.ProgressingCondition).Message).To(ContainSubstring("somebody to set spec.externallyProvisioned"))
}

func (w *world) verifiedOnly(power string) {
	w.t.Helper()
	n, _ := w.sim.Node("lab~host-1")
	w.g.Expect(n.PowerState).To(Equal(power))
	w.g.Expect(n.ProvisionState).To(Equal("manageable"))
	w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
	w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/provision"]).To(Equal(1))
}

// TestAMachineThatRunsIsNotSwitchedOffWhenItsNodeIsGone, nor restarted, deployed, inspected or prepared, when the
// cluster was restored from a backup of when it was free, and off: what runs on it is not known.
func TestAMachineThatRunsIsNotSwitchedOffWhenItsNodeIsGone(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){
		"off": func(*metal3.BareMetalHost) {},
		"an image is asked for": func(h *metal3.BareMetalHost) {
			h.Spec.Online, h.Spec.Image = true, &metal3.Image{URL: "http://images.test/another.img", Checksum: "c0ffee"}
		},
		"a reboot with force": func(h *metal3.BareMetalHost) {
			h.Annotations = map[string]string{names.Reboot: `{"force":true,"mode":"hard"}`}
		},
		"a client's key": func(h *metal3.BareMetalHost) {
			h.Spec.Online, h.Annotations = true, map[string]string{names.Reboot + "/client": `{"force":true}`}
		},
		"an inspection": func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Inspect: ""} },
		"other root hints": func(h *metal3.BareMetalHost) {
			h.Spec.RootDeviceHints = &metal3.RootDeviceHints{DeviceName: "/dev/sdx"}
		},
		"ready": func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateReady },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restoredWithoutNode(t, change)
				defer func() { w.stop() }()
				let(time.Hour)
				w.foundOn()
				told := count1(w.events.list(), "RegistrationError")
				w.stop()
				w.start(policy.Settings{})
				let(time.Hour)
				w.annotate("example.com/anything", "")
				let(time.Hour)
				w.foundOn()
				w.g.Expect(count1(w.events.list(), "RegistrationError")).To(Equal(told), "told once")
			})
		})
	}
}

// TestAMachineThatWasInUseIsNotTakenForAFreeOne: the backup comes while the node of what runs is being made anew.
func TestAMachineThatWasInUseIsNotTakenForAFreeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, restore := backedUp(t)
		defer func() { w.stop() }()
		w.sim.Wipe()
		w.sim.ResetCounts()
		w.enrolledAgain("power on")
		w.halt()
		restore(func(*metal3.BareMetalHost) {})
		w.start(policy.Settings{})
		let(time.Hour)
		w.foundOn()
	})
}

// TestAMachineThatWasLeftAloneIsSoWithoutItsNode loses the node of one that is left alone, and that was seen to be on.
func TestAMachineThatWasLeftAloneIsSoWithoutItsNode(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, func(*metal3.BareMetalHost)) *world{
		"because of what Ironic holds":     restored,
		"because it was on without a node": restoredWithoutNode,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t, func(*metal3.BareMetalHost) {})
				defer func() { w.stop() }()
				let(time.Minute)
				h := w.host()
				w.g.Expect(h.Status.ErrorType).To(Equal(metal3.RegistrationError))
				h.Status.PoweredOn = true
				w.g.Expect(w.kube.Status().Update(t.Context(), h)).To(Succeed())
				for range 2 { // the second one before it is known whether the machine is on
					w.sim.Wipe()
					w.sim.ResetCounts()
					w.enrolledAgain("power on")
					n, _ := w.sim.Node("lab~host-1")
					w.until("named", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.ID == n.UUID })
				}
				let(time.Hour)
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
				w.verifiedOnly("power on")
			})
		})
	}
}

// TestAFreeHostThatSomebodyUsesWhileItIsDetached is not switched off when it is attached again.
func TestAFreeHostThatSomebodyUsesWhileItIsDetached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.Online = false })
		defer func() { w.stop() }()
		w.untilState(metal3.StateAvailable, time.Minute)
		let(time.Minute)
		w.annotate(names.Detached, "")
		w.until("detached", time.Minute, detached)
		w.sim.ResetCounts()
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Detached) })
		w.enrolledAgain("power on")
		let(time.Hour)
		w.foundOn()
	})
}

// TestTheBMCOfAMachineThatWasFoundOnIsFollowed: otherwise Ironic would not see that somebody switches it off.
func TestTheBMCOfAMachineThatWasFoundOnIsFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		change     func(*metal3.BMCDetails)
		key        string
		value      any
		othersNode bool
	}{
		"the same one": {func(b *metal3.BMCDetails) { b.DisableCertificateVerification = true }, "redfish_verify_ca", false, false},
		"another one": {
			func(b *metal3.BMCDetails) { b.Address = strings.Replace(b.Address, "bmc.test", "bmc-2.test", 1) },
			"redfish_address", ContainSubstring("bmc-2.test"), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restoredWithoutNode(t, func(*metal3.BareMetalHost) {})
				defer func() { w.stop() }()
				let(time.Hour)
				w.foundOn()
				first := w.host().Status.Provisioning.ID
				if c.othersNode {
					w.sim.ResetCounts()
				}
				w.edit(func(h *metal3.BareMetalHost) { c.change(&h.Spec.BMC) })
				if c.othersNode {
					w.until("of another node", time.Minute, func(*metal3.BareMetalHost) bool {
						n, there := w.sim.Node("lab~host-1")
						return there && n.UUID != first
					})
					w.enrolledAgain("power on")
				}
				let(time.Hour)
				w.g.Expect(w.driverInfo()).To(HaveKeyWithValue(c.key, c.value))
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
				w.verifiedOnly("power on")
			})
		})
	}
}

// TestWhatIsSaidOfAMachineThatWasFoundOnHolds: each way out, and that the host goes on by itself.
func TestWhatIsSaidOfAMachineThatWasFoundOnHolds(t *testing.T) {
	for name, c := range map[string]struct {
		say  func(*world)
		then func(*world)
	}{
		"it is to be kept": {
			func(w *world) {
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned, h.Spec.Online = true, true })
			},
			func(w *world) {
				w.untilState(metal3.StateExternallyProvisioned, time.Minute)
				let(time.Hour)
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect([]string{n.ProvisionState, n.PowerState}).To(Equal([]string{"active", "power on"}))
				w.g.Expect(w.sim.Counts()["PUT /v1/nodes/{node}/states/power"]).To(BeZero())
			},
		},
		"it is switched off": {
			func(w *world) { w.sim.Edit("lab~host-1", map[string]any{"power_state": "power off"}) },
			func(w *world) {
				w.until("well", 45*time.Second, well)
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
				let(time.Hour)
				w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"power_state": "power on"})).To(BeTrue())
				let(time.Hour)
				w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"), "again, for the same reason")
				w.sim.Edit("lab~host-1", map[string]any{"power_state": "power off"})
				w.until("well", 10*time.Minute, well)
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = true })
				w.until("on, as asked", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn && well(h) })
				w.edit(func(h *metal3.BareMetalHost) { h.Spec.Online = false })
				w.until("off, as asked", time.Minute, func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn && well(h) })
			},
		},
		"it is to be inspected": {
			func(w *world) { w.annotate(names.Inspect, "") },
			func(w *world) {
				w.untilState(metal3.StateInspecting, time.Minute)
				w.untilState(metal3.StateAvailable, time.Minute)
				let(time.Minute)
				w.g.Expect(well(w.host())).To(BeTrue())
				w.g.Expect(w.host().Annotations).NotTo(HaveKey(names.Inspect))
			},
		},
		"it is deleted": {
			func(w *world) { w.g.Expect(w.kube.Delete(w.t.Context(), w.host())).To(Succeed()) },
			func(w *world) {
				w.until("gone", 10*time.Minute, func(h *metal3.BareMetalHost) bool { return h == nil })
				w.g.Expect(w.sim.Nodes()).To(BeEmpty())
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restoredWithoutNode(t, func(*metal3.BareMetalHost) {})
				defer func() { w.stop() }()
				w.until("left alone", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType != "" })
				w.foundOn()
				c.say(w)
				c.then(w)
				if h := w.host(); h != nil && h.Status.Provisioning.State == metal3.StateAvailable {
					w.edit(func(h *metal3.BareMetalHost) {
						h.Spec.Online = true
						wantInstall(h)
					})
					w.untilState(metal3.StateProvisioned, 2*time.Minute)
				}
			})
		})
	}
}

func well(h *metal3.BareMetalHost) bool {
	return h.Status.ErrorType == "" && condition(h, "Stalled").Status == "False"
}

// TestAMachineThatWasJustSwitchedOnIsNotDeployed: it was last seen off, and may be on for another reason than this host's
// spec. As long as nothing else is asked of it, there is nothing to say.
func TestAMachineThatWasJustSwitchedOnIsNotDeployed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restoredWithoutNode(t, func(h *metal3.BareMetalHost) { h.Spec.Online = true })
		defer func() { w.stop() }()
		for range 2 { // nor does a restart forget it, nor what is compared then
			let(time.Hour)
			w.g.Expect(well(w.host())).To(BeTrue())
			w.verifiedOnly("power on")
			w.stop()
			w.edit(func(h *metal3.BareMetalHost) { h.Spec.Architecture = "x86_64" })
			w.start(policy.Settings{})
		}
		w.edit(wantInstall)
		let(time.Hour)
		w.foundOn()
	})
}

// TestAMachineThatIsOnIsFoundOnBeforeItIsWorkedOn: its host stays available, so that it is free once it is off, and has nothing
// to say once nothing is asked for.
func TestAMachineThatIsOnIsFoundOnBeforeItIsWorkedOn(t *testing.T) {
	inspection := func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Inspect: ""} }
	nothing := func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Inspect) }
	for name, c := range map[string]struct{ asked, then func(*metal3.BareMetalHost) }{
		"and called off":         {inspection, nothing},
		"and inspected when off": {inspection, nil},
		"and prepared when off": {func(h *metal3.BareMetalHost) {
			h.Spec.RootDeviceHints = &metal3.RootDeviceHints{DeviceName: "/dev/sdx"}
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := restoredWithoutNode(t, func(h *metal3.BareMetalHost) { h.Spec.Online = true })
				defer func() { w.stop() }()
				let(time.Hour)
				w.g.Expect(well(w.host())).To(BeTrue())
				w.edit(c.asked)
				let(time.Hour)
				w.foundOn()
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
				if c.then != nil {
					w.edit(c.then)
				} else {
					w.sim.Edit("lab~host-1", map[string]any{"power_state": "power off"})
				}
				w.until("well", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
					return well(h) && h.Status.Provisioning.State == metal3.StateAvailable && h.Annotations[names.Inspect] == "" && h.Status.PoweredOn
				})
				let(time.Minute)
				n, _ := w.sim.Node("lab~host-1")
				if c.then != nil {
					w.verifiedOnly("power on")
				} else {
					w.g.Expect(n.Fields["extra"]).NotTo(HaveKey("ironflow_baseline"))
				}
			})
		})
	}
}

// TestAnInspectionThatIsAskedForAnewCallsFree: the one that was there before may be of the backup. Who takes it away
// and sets it again has read why the machine is left alone.
func TestAnInspectionThatIsAskedForAnewCallsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := restoredWithoutNode(t, func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Inspect: ""} })
		defer func() { w.stop() }()
		let(time.Hour)
		w.foundOn()
		w.g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring("take the one away first"))
		w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Inspect) })
		let(time.Hour)
		w.foundOn()
		w.annotate(names.Inspect, "")
		w.until("free", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.ErrorType == "" && h.Status.Provisioning.State == metal3.StateAvailable
		})
	})
}

// TestAFleetOfFreeHostsOutlivesTheDatabase loses Ironic's database: no free host is held up whose machine is as its
// status has it, whatever is asked of it meanwhile, and what is asked for later is done.
func TestAFleetOfFreeHostsOutlivesTheDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		online bool
		asked  func(*metal3.BareMetalHost) // while Ironic is away
		power  string                      // what the machine is found in
		ends   string
	}{
		"on":                         {online: true, power: "power on", ends: "power on"},
		"on, and off by then":        {online: true, power: "power off", ends: "power on"},
		"on, to be off":              {online: true, asked: func(h *metal3.BareMetalHost) { h.Spec.Online = false }, power: "power on", ends: "power off"},
		"off":                        {power: "power off", ends: "power off"},
		"off, to be on":              {asked: func(h *metal3.BareMetalHost) { h.Spec.Online = true }, power: "power off", ends: "power on"},
		"on, to be deployed":         {online: true, asked: wantInstall, power: "power on"},
		"off, to be deployed":        {asked: func(h *metal3.BareMetalHost) { h.Spec.Online = true; wantInstall(h) }, power: "power off"},
		"off, to be inspected again": {asked: func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Inspect: ""} }, power: "power off", ends: "power off"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.Online = c.online })
				defer func() { w.stop() }()
				w.untilState(metal3.StateAvailable, time.Minute)
				let(time.Minute)
				w.halt()
				w.sim.Wipe()
				if c.asked != nil {
					w.edit(c.asked)
				}
				w.start(policy.Settings{})
				w.enrolledAgain(c.power)
				if c.ends != "" {
					let(10 * time.Minute)
					h := w.host()
					w.g.Expect(well(h)).To(BeTrue(), "%s", h.Status.ErrorMessage)
					w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
					n, _ := w.sim.Node("lab~host-1")
					w.g.Expect(n.PowerState).To(Equal(c.ends))
					w.edit(func(h *metal3.BareMetalHost) {
						h.Spec.Online = true
						wantInstall(h)
					})
				}
				w.untilState(metal3.StateProvisioned, 2*time.Minute)
				w.g.Expect(w.events.list()).NotTo(ContainElement("RegistrationError"))
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect(n.Fields["extra"]).NotTo(HaveKey("ironflow_baseline"))
			})
		})
	}
}

// offWithoutNode is restored as free and off, as its machine is, in an Ironic that has lost the node by which that was
// installed meanwhile.
func offWithoutNode(t *testing.T, told *bmcEvents) *world {
	t.Helper()
	w := newWorldWith(t, assisted(nil), Options{Events: told}, func(h *metal3.BareMetalHost) { h.Spec.Online = false })
	w.untilState(metal3.StateAvailable, time.Minute)
	let(time.Minute)
	backup := w.host()
	w.edit(func(h *metal3.BareMetalHost) {
		h.Spec.Online = true
		wantInstall(h)
	})
	w.untilState(metal3.StateProvisioned, time.Minute)
	let(time.Minute)
	w.halt()
	w.putBack(backup)
	w.sim.Wipe()
	w.sim.ResetCounts()
	w.start(policy.Settings{})
	w.until("enrolled", time.Minute, func(*metal3.BareMetalHost) bool { _, found := w.sim.Node("lab~host-1"); return found })
	let(10 * time.Minute)
	n, _ := w.sim.Node("lab~host-1")
	w.g.Expect(n.Fields["extra"]).To(HaveKeyWithValue("ironflow_baseline", "unknown"), "nobody can tell what is on it")
	w.g.Expect(w.sim.Counts()[putPower]).To(BeZero())
	return w
}

// TestALookAtThePowerDoesNotSwitchOffWhatMayBeInUse: a machine whose node is gone was off when it was enrolled again,
// and comes on by itself, as after a loss of mains. Its BMC tells. Ironic, which has it as off, would switch it off
// if it were asked for that: such a look is none.
func TestALookAtThePowerDoesNotSwitchOffWhatMayBeInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &bmcEvents{}
		w := offWithoutNode(t, told)
		defer func() { w.stop() }()
		told.tell(lab, true) // the mains are back, and the machine is on
		let(30 * time.Second)
		w.g.Expect(w.sim.Counts()[putPower]).To(BeZero(), "Ironic is asked to have it off")
		w.sim.Edit("lab~host-1", map[string]any{"power_state": "power on"})
		let(time.Hour)
		w.g.Expect(condition(w.host(), "Stalled").Reason).To(Equal("MachineMayBeInUse"))
		w.g.Expect(w.sim.Counts()[putPower]).To(BeZero())
	})
}

// TestAMachineWhoseBMCTellsIsNotOffByThePowerOfBefore: while Ironic has not looked since, nothing is done that a machine
// which may be in use has to be off for. If it was off after all, that is done then.
func TestAMachineWhoseBMCTellsIsNotOffByThePowerOfBefore(t *testing.T) {
	deployed := func(h *metal3.BareMetalHost) {
		h.Spec.Online = true
		wantInstall(h)
	}
	for name, c := range map[string]struct {
		restarted bool // after the BMC has told
		asked     func(*metal3.BareMetalHost)
		on        bool
	}{
		"it is on, and to be deployed":              {asked: deployed, on: true},
		"it is on, and nobody knows what was told":  {asked: deployed, on: true, restarted: true},
		"it is on, and to be inspected":             {asked: func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.Inspect: ""} }, on: true},
		"it is off, and to be deployed":             {asked: deployed},
		"it is off, and nobody knows what was told": {asked: deployed, restarted: true},
		"it is off, and to be on before it is more": {asked: func(h *metal3.BareMetalHost) { h.Spec.Online = true }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				told := &bmcEvents{}
				w := offWithoutNode(t, told)
				defer func() { w.stop() }()
				told.tell(lab, true)
				let(5 * time.Second)
				if c.restarted {
					w.stop()
					w.start(policy.Settings{})
				}
				w.edit(c.asked)
				let(time.Minute)
				w.g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring("making sure that the machine is off"))
				w.g.Expect(w.host().Status.ErrorMessage).To(BeEmpty())
				w.verifiedOnly("power off")
				if c.on {
					w.sim.Edit("lab~host-1", map[string]any{"power_state": "power on"})
					let(time.Hour)
					w.foundOn()
					return
				}
				w.edit(deployed)
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				w.g.Expect(w.events.list()).NotTo(ContainElement("RegistrationError"))
			})
		})
	}
}
