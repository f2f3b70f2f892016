package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// rebooting stands for the request to restart a machine, which is made from its node.
type rebooting struct{}

// Name implements Action.
func (rebooting) Name() string { return "restart" }

// announced puts the mark on a host that is switched off for a restart, before Ironic is asked.
func announced(o *Observed) {
	full(o).UpdatedAt = noon
	o.Host.Annotations[names.Rebooting] = Mark{Off: true, Since: noon, State: o.Node.ProvisionState}.Value()
}

// annotated gives a host one annotation.
func annotated(key, value string) func(*Observed) {
	return func(o *Observed) { o.Host.Annotations = map[string]string{key: value} }
}

// neverOffHost is a host in use that must not be switched off, which failed an hour ago.
func neverOffHost(change func(*Observed)) *Observed {
	o := observed(metal3.StateProvisioned, ironic.StateActive)
	full(o).UpdatedAt = noon
	o.Host.Spec.DisablePowerOff = true
	o.Host.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "m"}
	o.Host.Status.Provisioning.CustomDeploy = &metal3.CustomDeploy{Method: "m"}
	o.Host.Annotations = map[string]string{}
	stalled(o, metal3.PowerManagementError, causeRejected, time.Hour)
	change(o)
	applied := desired(o, known(o))
	o.Applied = &applied
	return o
}

// TestAnErrorFromBeforeARestart is not the restart's own, whether its end was stored or not.
func TestAnErrorFromBeforeARestart(t *testing.T) {
	before, failed := noon.Add(-time.Minute), noon.Add(-time.Hour)
	mark := func(m Mark) func(*Observed) {
		m.State = ironic.StateActive
		return func(o *Observed) { o.Host.Annotations[names.Rebooting] = m.Value() }
	}
	for name, c := range map[string]struct {
		given func(*Observed)
		do    Action
		err   metal3.ErrorType // after the decision
	}{
		"it is told apart when the restart is announced": {
			func(o *Observed) { o.Host.Annotations[names.Reboot] = "" },
			Announce{Mark{Hard: true, Since: noon, State: ironic.StateActive, Node: "node-a", Failed: failed}, []string{names.Reboot}},
			metal3.PowerManagementError,
		},
		"the restart is asked for": {
			mark(Mark{Hard: true, Since: noon, Failed: failed}),
			rebooting{},
			"",
		},
		"the restart was made": {
			mark(Mark{Hard: true, Since: before, Failed: failed}), nil, metal3.PowerManagementError,
		},
		"the restart failed, too": {
			func(o *Observed) {
				mark(Mark{Hard: true, Since: before, Failed: failed})(o)
				o.Node.LastError = "no answer"
			}, nil, metal3.PowerManagementError,
		},
		"an error after the mark is the restart's own": {
			mark(Mark{Since: before}), Announce{Mark: Mark{Hard: true, Since: noon, State: ironic.StateActive, Node: "node-a", Failed: failed}}, metal3.PowerManagementError,
		},
		"a request that was refused is announced again before it is made": {
			mark(Mark{Since: noon}), Announce{Mark: Mark{Since: noon, State: ironic.StateActive, Node: "node-a", Failed: failed}}, metal3.PowerManagementError,
		},
		"a request that was turned away": {
			mark(Mark{Since: before, TurnedAway: true}), Announce{Mark: Mark{Since: noon, State: ironic.StateActive, Node: "node-a", Failed: failed}}, metal3.PowerManagementError,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := neverOffHost(c.given)
			d := Decide(recorded(o))
			g.Expect(d.Status.ErrorType).To(Equal(c.err))
			switch {
			case c.do == Action(rebooting{}):
				g.Expect(d.Do).To(HaveField("PowerRequest.Target", ironic.PowerRebooting))
			case c.do != nil:
				g.Expect(d.Do).To(Equal(c.do))
			case o.Node.LastError != "":
				g.Expect(d.Do).To(BeNil())
				g.Expect(d.Status.ErrorMessage).To(ContainSubstring(o.Node.LastError))
			default:
				g.Expect(d.Do).To(BeNil())
				g.Expect(d.DropAnnotations).To(ContainElement(names.Rebooting))
			}
		})
	}
}

// TestAPowerErrorEndsWhereTheMachineMustNotBeOff: nothing is left to be done that failed.
func TestAPowerErrorEndsWhereTheMachineMustNotBeOff(t *testing.T) {
	for name, given := range map[string]func(*Observed){
		"offline":        func(o *Observed) { o.Host.Spec.Online = false },
		"a client's key": func(o *Observed) { o.Host.Annotations[names.Reboot+"/me"] = "" },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := Decide(recorded(neverOffHost(given)))
			g.Expect(d.Do).To(BeNil())
			g.Expect(d.Status.ErrorType).To(BeEmpty())
			g.Expect(d.Status.ErrorCount).To(BeZero())
			g.Expect(d.Status.OperationalStatus).To(Equal(metal3.OperationalStatusOK))
			g.Expect(d.Wait.Message()).To(ContainSubstring("spec.disablePowerOff is set"))
		})
	}
}

// TestARestartOfAMachineThatWasOffIsOver whatever else failed meanwhile, and both that
// asked for it go in one write.
func TestARestartOfAMachineThatWasOffIsOver(t *testing.T) {
	runsAgain := func(o *Observed) {
		o.Host.Spec.DisablePowerOff = false
		o.Host.Annotations[names.Reboot] = ""
		o.Host.Annotations[names.Rebooting] = Mark{Off: true, Since: noon.Add(-time.Minute), State: ironic.StateActive}.Value()
	}
	for name, c := range map[string]struct {
		given func(*Observed)
		over  bool
	}{
		"its own error, of which it is tried again": {func(*Observed) {}, false},
		"an error of something else":                {func(o *Observed) { o.Host.Status.ErrorType = metal3.ProvisioningError }, true},
		"no error": {func(o *Observed) {
			o.Host.Status.ErrorType, o.Host.Status.OperationalStatus = "", metal3.OperationalStatusOK
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := Decide(recorded(neverOffHost(func(o *Observed) { runsAgain(o); c.given(o) })))
			if c.over {
				g.Expect(d.Do).To(BeNil())
				g.Expect(d.DropAnnotations).To(ConsistOf(names.Reboot, names.Rebooting))
				return
			}
			g.Expect(d.Do).To(HaveField("Mark", And(HaveField("Off", true), HaveField("Since", noon))))
			g.Expect(d.DropAnnotations).To(BeEmpty())
		})
	}
}

// TestARebootOfBeforeADeploymentEndedIsOver: it goes while the host is still being
// provisioned, since afterwards it would restart the machine.
func TestARebootOfBeforeADeploymentEndedIsOver(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateActive)
	wantInstall(o.Host)
	o.Host.Annotations = map[string]string{names.Reboot: "", names.Reboot + "/me": ""}
	settled(o)
	d := Decide(o)
	g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
	g.Expect(d.DropAnnotations).To(ConsistOf(names.Reboot), "a key is its client's")
	delete(o.Host.Annotations, names.Reboot)
	g.Expect(Decide(o).Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
}

// TestARestartComesBeforeWhatIsNewInTheSpec: an update of the node would move the time by which a restart that was announced,
// and not asked for because the program was killed, is told from one that was made. What is new is told afterwards.
func TestARestartComesBeforeWhatIsNewInTheSpec(t *testing.T) {
	for name, c := range map[string]struct {
		off bool
		do  string
	}{"switched off": {true, "ask for soft power off"}, "never off": {false, "ask for soft rebooting"}} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioned, ironic.StateActive)
			wantInstall(o.Host)
			provisionedWithInstall(o)
			settled(o)
			full(o).UpdatedAt = noon
			o.Host.Spec.DisablePowerOff = !c.off
			o.Host.Annotations = map[string]string{names.Rebooting: Mark{Off: c.off, Since: noon, State: ironic.StateActive}.Value()}
			if c.off {
				o.Host.Annotations[names.Reboot] = ""
			}
			o.Host.Spec.AutomatedCleaningMode, o.Applied = metal3.CleaningModeDisabled, nil
			d := Decide(recorded(o))
			g.Expect(d.Do).NotTo(BeNil(), "%+v", d.Wait)
			g.Expect(d.Do.Name()).To(Equal(c.do))

			delete(o.Host.Annotations, names.Rebooting)
			delete(o.Host.Annotations, names.Reboot)
			g.Expect(Decide(o).Do.Name()).To(Equal("update node"))
		})
	}
}
