package policy

import (
	"os"
	"slices"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

func TestPhaseTable(t *testing.T) {
	g := NewWithT(t)
	reached := map[State]bool{StateNone: true, metal3.StateMatchProfile: true, metal3.StateReady: true} // entries of old
	for state, row := range phases {
		g.Expect(row.step).NotTo(BeNil(), "%q has no step", state)
		for _, next := range append(slices.Clone(row.next), row.deleted) {
			g.Expect(phases).To(HaveKey(next), "%q leads to %q, which has no row", state, next)
			reached[next] = true
		}
		if row.fails != "" {
			g.Expect(errorKinds).To(HaveKey(row.fails), "%q", state)
		}
	}
	for state := range phases {
		g.Expect(reached).To(HaveKey(state), "no phase leads to %q", state)
	}
	for _, state := range []State{
		metal3.StateNone, metal3.StateUnmanaged, metal3.StateRegistering, metal3.StateMatchProfile,
		metal3.StatePreparing, metal3.StateReady, metal3.StateAvailable, metal3.StateProvisioning, metal3.StateProvisioned,
		metal3.StateExternallyProvisioned, metal3.StateDeprovisioning, metal3.StateInspecting,
		metal3.StatePoweringOffBeforeDelete, metal3.StateDeleting,
	} {
		g.Expect(phases).To(HaveKey(state), "a state of the API without a row")
	}
}

func TestErrorKindsAreThoseOfTheAPI(t *testing.T) {
	g := NewWithT(t)
	schema, err := os.ReadFile("../../../config/crd/metal3/metal3.io_baremetalhosts.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	for kind, row := range errorKinds {
		g.Expect(string(schema)).To(ContainSubstring("- "+string(kind)+"\n"), "the schema's enum")
		g.Expect(row.Reason).NotTo(BeEmpty())
	}
	g.Expect(errorKinds).NotTo(HaveKey(metal3.DetachError), "the schema refuses it")
}

// TestNothingUnasked draws hosts and nodes in every combination: whatever is
// seen, nothing may be deployed, cleaned, torn down or removed that spec and
// phase do not ask for, and every change of phase is one of the table's.
func TestNothingUnasked(t *testing.T) {
	states := make([]State, 0, len(phases))
	for s := range phases {
		states = append(states, s)
	}
	slices.Sort(states)
	rapid.Check(t, func(r *rapid.T) {
		o := drawObserved(r, states)
		d := Decide(o)
		if next := d.Status.Provisioning.State; next != o.State() {
			row := o.phase()
			gone := o.Deleting() && (next == row.deleted || next == StateDeleting)
			// A host that is registered anew may have its node at an inspection: it is
			// deleted as one that is inspected.
			again := o.Deleting() && o.State() == metal3.StateRegistering && next == phases[metal3.StateInspecting].deleted &&
				o.Node != nil && slices.Contains(examining, o.Node.ProvisionState)
			// A machine that is said to be somebody else's goes as one that is.
			kept := o.Deleting() && o.Host.Spec.ExternallyProvisioned && o.State() == metal3.StateProvisioned && next == phases[metal3.StateExternallyProvisioned].deleted
			legal := slices.Contains(row.next, next) || gone || again || kept
			if !legal {
				r.Fatalf("from %q to %q is not in the table", o.State(), next)
			}
		}
		checkUnasked(r, o, d)
	})
}

func checkUnasked(r *rapid.T, o *Observed, d *Decision) {
	checkLooked(r, o, d.Do)
	_, held := o.Host.Annotations[names.Hold]
	if held && d.Do != nil {
		r.Fatalf("%s on a held host", d.Do.Name())
	}
	switch a := d.Do.(type) {
	case nodeaction.Transition:
		wish := nodespec.WantsInstance(o.Host) && o.State() == metal3.StateProvisioning && !o.Deleting()
		back := o.State() == metal3.StateDeprovisioning
		switch a.Target {
		case ironic.TargetActive:
			if !wish {
				r.Fatalf("deployment without a wish in %q", o.State())
			}
		case ironic.TargetProvide:
			if !wish && !back {
				r.Fatalf("cleaning in %q", o.State())
			}
		case ironic.TargetClean, ironic.TargetService:
			checkWork(r, o, a)
		case ironic.TargetDeleted:
			asked := o.Progress.Failure != "" || MarkOf(o.Host) != nil
			if !back && (o.State() != metal3.StateProvisioning || !asked) {
				r.Fatalf("tear-down in %q", o.State())
			}
		case ironic.TargetInspect:
			if o.State() != metal3.StateInspecting {
				r.Fatalf("inspection in %q", o.State())
			}
		default:
		}
	case nodeaction.Remove:
		if ending := o.Deleting() && o.State() == StateDeleting; !ending && !WantsDetach(o.Host) {
			r.Fatalf("node removed in %q", o.State())
		}
	case nodeaction.Power:
		if o.State() == metal3.StatePoweringOffBeforeDelete && !o.Deleting() {
			r.Fatalf("switched off to be deleted, but nobody deletes it")
		}
		never := o.Host.Spec.DisablePowerOff && (a.Target == ironic.PowerOff || a.Target == ironic.PowerSoftOff)
		if never && o.State() == metal3.StateProvisioned {
			r.Fatalf("a machine that must stay on is switched off")
		}
		if a.Target != ironic.PowerOn && o.State() == metal3.StateProvisioned && o.Host.Spec.Online && !rebootOf(o.Host).asked && MarkOf(o.Host) == nil {
			r.Fatalf("a machine in use is switched off")
		}
	}
}

// checkLooked lets nothing be done by what the watch tells alone, and nothing to a
// machine by what was read before.
func checkLooked(r *rapid.T, o *Observed, a Action) {
	_, known := o.InFull()
	_, read := o.AsRead()
	if _, enrol := a.(Enrol); enrol && o.Missing || read || !ToIronicWrite(a) {
		return
	}
	if !known {
		r.Fatalf("%s on a node that was not looked at", a.Name())
	}
	switch a := a.(type) {
	case nodeaction.Transition:
		if a.Target != ironic.TargetManage && a.Target != ironic.TargetInspect {
			r.Fatalf("%s on a node that was read before", a.Name())
		}
	case nodeaction.Power, nodeaction.Maintenance, nodeaction.SetRAID, nodeaction.Validate, nodeaction.Remove:
		r.Fatalf("%s on a node that was read before", a.Name())
	}
}

// checkWork looks at requests for manual cleaning and servicing: volumes are
// touched only in preparing and for a difference that the spec asks for, and a
// machine in use only while it is off in a reboot and its policy allows it.
func checkWork(r *rapid.T, o *Observed, t nodeaction.Transition) {
	// A draw whose update is made shows it (see settled): what is on the node is what counts.
	have := plan.OrderOf(full(o))
	if have == nil || have.Moved(full(o)) || have.Failed {
		r.Fatalf("%s without an order on the node: %+v", t.Target, have)
	}
	for _, step := range append(slices.Clone(t.CleanSteps), t.ServiceSteps...) {
		switch step.Interface {
		case "raid":
			spec, status := o.Host.Spec.RAID, o.Host.Status.Provisioning.RAID
			if t.Target != ironic.TargetClean || nodespec.SameRAID(spec, status) && !have.Failed && spec == nil {
				r.Fatalf("volumes are changed unasked")
			}
			if step.Name == "create_configuration" && (spec == nil || len(spec.HardwareRAIDVolumes)+len(spec.SoftwareRAIDVolumes) == 0) {
				r.Fatalf("volumes are made that nobody asked for")
			}
		case "bios":
			if o.Firmware.Settings == nil {
				r.Fatalf("settings without a wish")
			}
		case "firmware":
			if o.Firmware.Components == nil {
				r.Fatalf("updates without a wish")
			}
		}
	}
	switch {
	case t.Target == ironic.TargetClean && o.State() != metal3.StatePreparing:
		r.Fatalf("manual cleaning in %q", o.State())
	case t.Target == ironic.TargetService && (!nodespec.InUse(o.Host) || o.Firmware.Policy == (metal3.HostUpdatePolicySpec{})):
		r.Fatalf("servicing in %q without a policy", o.State())
	case t.Target == ironic.TargetService && o.Node.ProvisionState == ironic.StateActive && !plan.InReboot(o.Host, full(o)):
		r.Fatalf("servicing of a machine that runs")
	}
}

// drawWork draws wishes for volumes and firmware, and what came of earlier ones.
func drawWork(r *rapid.T, o *Observed) {
	flag := func(name string) bool { return rapid.Bool().Draw(r, name) }
	configs := []*metal3.RAIDConfig{nil, mirror, noVolume, softRAID}
	o.BMC.Access.Interfaces.RAID = rapid.SampledFrom([]string{"redfish", "no-raid"}).Draw(r, "raid driver")
	o.Host.Spec.RAID = rapid.SampledFrom(configs).Draw(r, "raid")
	o.Host.Status.Provisioning.RAID = rapid.SampledFrom(configs).Draw(r, "had raid")
	if flag("settings") {
		wishSetting("Bios", rapid.SampledFrom([]string{"Bios", "Uefi"}).Draw(r, "setting"))(o)
		o.Firmware.SettingsRead = flag("settings read")
	}
	if flag("updates") {
		o.Firmware.Components = componentsOf(nil, flash)
	}
	policies := []metal3.UpdatePolicy{"", metal3.HostUpdatePolicyOnPreparing, metal3.HostUpdatePolicyOnReboot}
	o.Firmware.Policy.FirmwareSettings = rapid.SampledFrom(policies).Draw(r, "settings policy")
	o.Firmware.Policy.FirmwareUpdates = rapid.SampledFrom(policies).Draw(r, "updates policy")
	if flag("servicing") && nodespec.InUse(o.Host) {
		o.Host.Status.OperationalStatus = metal3.OperationalStatusServicing
	}
	if !flag("ordered") {
		return
	}
	since := rapid.SampledFrom([]time.Time{noon, noon.Add(-time.Minute)}).Draw(r, "since")
	if p := planOf(o); p.Is == plan.ToDo {
		ordered(since, func(w *plan.Order) { w.Failed = flag("failed") })(o)
		if flag("target") {
			full(o).TargetRAIDConfig = ironic.RAIDTarget(p.Work.Disks)
		}
	}
	if o.Applied != nil {
		settled(o)
	}
}

func drawObserved(r *rapid.T, states []State) *Observed {
	nodeStates := []ironic.ProvisionState{
		ironic.StateEnroll, ironic.StateVerifying, ironic.StateManageable, ironic.StateInspecting, ironic.StateInspectWait,
		ironic.StateInspectFailed, ironic.StateCleaning, ironic.StateCleanWait, ironic.StateCleanFailed, ironic.StateAvailable,
		ironic.StateDeploying, ironic.StateDeployWait, ironic.StateDeployFailed, ironic.StateActive, ironic.StateDeleting,
		ironic.StateError, ironic.StateAdopting, ironic.StateAdoptFailed, ironic.StateServicing, ironic.StateServiceWait,
		ironic.StateServiceFailed, ironic.StateRescue,
	}
	flag := func(name string) bool { return rapid.Bool().Draw(r, name) }
	rarely := func(name string) bool { return rapid.IntRange(0, 5).Draw(r, name) == 0 }
	o := observed(rapid.SampledFrom(states).Draw(r, "state"), rapid.SampledFrom(nodeStates).Draw(r, "node"))
	if flag("apply anew") {
		o.Applied = nil
	}
	h := o.Host
	h.Spec.Online = flag("online")
	h.Spec.ExternallyProvisioned, h.Spec.DisablePowerOff = rarely("external"), rarely("never off")
	h.Annotations = map[string]string{}
	for _, key := range []string{names.Detached, names.Inspect, names.Hold, names.Reboot, names.Reboot + "/x"} {
		if rarely(key) {
			h.Annotations[key] = ""
		}
	}
	if flag("install") {
		wantInstall(h)
	}
	if flag("installed") {
		provisionedWithInstall(o)
	}
	if rarely("deleting") {
		now := metav1.NewTime(noon)
		h.DeletionTimestamp = &now
	}
	if rarely("failing") {
		stalled(o, metal3.ProvisioningError, "ProvisioningError", 0)
		o.Retry = flag("retry")
		h.Status.ErrorCount = rapid.IntRange(1, 6).Draw(r, "errors")
	}
	if rarely("detached") {
		h.Status.OperationalStatus = metal3.OperationalStatusDetached
	}
	if rarely("credentials") {
		o.BMC = nodespec.BMC{Secret: "bmc", Problem: "bad"}
	}
	if rarely("maintenance") {
		o.Node.Maintenance, full(o).MaintenanceReason = true, rapid.SampledFrom([]string{"fan", detachReason}).Draw(r, "why")
	}
	o.Settings.BuildImages = flag("images")
	o.Image = nodespec.LiveImage{Asked: flag("image asked"), Ready: flag("image ready")}
	o.LostAgent = rarely("lost")
	o.Node.LastError = rapid.SampledFrom([]string{"", "broken", "state can't be resumed by conductor x"}).Draw(r, "last error")
	o.Node.PowerState = rapid.SampledFrom([]ironic.PowerState{ironic.PowerOn, ironic.PowerOff, ironic.PowerUnknown}).Draw(r, "power")
	if rarely("forced") {
		h.Annotations[names.Reboot+"/now"] = `{"force":true}`
	}
	if rarely("announced") {
		h.Annotations[names.Rebooting] = Mark{
			Since: rapid.SampledFrom([]time.Time{noon, noon.Add(-time.Minute)}).Draw(r, "announced when"), State: o.Node.ProvisionState,
		}.Value()
		full(o).UpdatedAt = noon
	}
	drawWork(r, o)
	if flag("validated") {
		o.Unfit = &[]ironic.ValidationFailure{}
	}
	if flag("inspected") {
		o.Inventory = &ironic.Inventory{}
	}
	o.NoInventory = o.Inventory == nil && flag("no inventory")
	if rarely("hub failed") {
		o.Progress = Progress{Failure: "cancelled", FailedAt: noon.Add(-time.Minute)}
		o.Node.DeployStep = ironic.Step{Interface: "deploy", Name: names.StartAssistedInstall}
	}
	o.Sight = rapid.SampledFrom([]nodeaction.Sight{
		{}, o.Summary(), nodeaction.Missing(), nodeaction.Remembered(*full(o), *o.Node), o.Sight,
	}).Draw(r, "sight")
	h.Status.TriedCredentials.Reference = &corev1.SecretReference{Name: "bmc", Namespace: h.Namespace}
	return o
}
