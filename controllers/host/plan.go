package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/ironic"
)

// Firmware is what is known of a host's firmware and wished for it.
type Firmware struct {
	// Settings and Components are the host's resources; nil for none.
	Settings   *metal3.HostFirmwareSettings
	Components *metal3.HostFirmwareComponents
	// Made means that none of them is left to be made.
	Made bool
	// Policy says what may be changed on a host in use.
	Policy metal3.HostUpdatePolicySpec
	// SettingsRead and ComponentsRead mean that they were read in this pass.
	SettingsRead, ComponentsRead bool
}

// planned is what a plan comes to.
type planned int

const (
	// allDone means that nothing is left to be done.
	allDone planned = iota
	// toLook means that something must be read before more can be said.
	toLook
	// toRecord means that a finished order must be recorded on the host.
	toRecord
	// hopeless means that the wish cannot be fulfilled as it stands.
	hopeless
	// toDo means that there is work for Ironic.
	toDo
)

// plan is the next thing on the way to what the spec asks of a machine's RAID,
// BIOS settings and firmware.
type plan struct {
	is      planned
	look    Action             // for toLook
	raid    *metal3.RAIDConfig // for toRecord: what the machine has now
	problem string             // for hopeless
	work    work               // for toDo
}

// work is one request for manual cleaning or servicing.
type work struct {
	order order
	raid  string // the RAID interface that it needs, empty for none
	disks []ironic.LogicalDisk
	steps []ironic.Step
}

// planOf makes the plan for the phase that the host is in.
func planOf(o *Observed) plan {
	if o.Node == nil {
		return plan{}
	}
	var p planner
	switch o.state() {
	case metal3.StatePreparing:
		p = planner{Observed: o, settings: true, updates: true, raid: true}
	case metal3.StateProvisioned, metal3.StateExternallyProvisioned:
		policy := o.Firmware.Policy
		p = planner{
			Observed: o, service: true,
			settings: policy.FirmwareSettings == metal3.HostUpdatePolicyOnReboot,
			updates:  policy.FirmwareUpdates == metal3.HostUpdatePolicyOnReboot,
		}
	default:
		return plan{}
	}
	return p.plan()
}

// planner makes a plan from what may be changed in a phase.
type planner struct {
	*Observed

	service, raid, settings, updates bool

	unsure []raidPart // kinds of volumes in an unknown state
}

func (p planner) plan() plan {
	have := orderOf(p.Node)
	if have != nil && have.Service != p.service {
		have = nil // of another phase of life
	}
	p.unsure = have.unsure(p.Node, p.raidWish())
	if have.done(p.Node) {
		if result := p.record(have); result.is != allDone {
			return result
		}
	}
	wish, look := p.firmwareWish()
	if look != nil {
		return plan{is: toLook, look: look}
	}
	if p.raid {
		if problem := raidProblem(p.Host.Spec.RAID, p.BMC.Access.Interfaces.RAID); problem != "" {
			return plan{is: hopeless, problem: problem}
		}
		if job := p.raidJob(); job != nil {
			return p.withRAID(job, wish)
		}
	}
	if len(wish.settings)+len(wish.updates) == 0 {
		return plan{}
	}
	if have.done(p.Node) && !p.failing() {
		if ignored := ignored(have.Settings, wish.settings); ignored != "" {
			return plan{is: hopeless, problem: "the BIOS settings " + ignored + " were applied without an error, but the machine still shows " +
				"other values: correct HostFirmwareSettings, or look at the BMC's own log"}
		}
	}
	return p.toDo(work{}, wish)
}

// wishes are the firmware changes that are asked for and allowed in this phase.
type wishes struct {
	settings map[string]any
	updates  []metal3.FirmwareUpdate // those to carry out
	all      []metal3.FirmwareUpdate // those that are on the machine afterwards
}

// firmwareWish gathers the changes; a wish that was not judged yet, or by
// something that a finished order has changed since, has to be looked at first.
func (p planner) firmwareWish() (w wishes, look Action) {
	f := &p.Firmware
	if p.settings {
		settings, seen := firmware.SettingsWish(f.Settings)
		if !seen && !f.SettingsRead {
			return w, ReadSettings{}
		}
		w.settings = settings
	}
	if p.updates {
		updates, seen := firmware.UpdatesWish(f.Components)
		if !seen && !f.ComponentsRead {
			return w, ReadComponents{}
		}
		if w.updates = updates; len(updates) > 0 {
			w.all = f.Components.Spec.Updates
		}
	}
	return w, nil
}

// record compares the host with what a finished order has changed.
func (p planner) record(done *order) plan {
	f := &p.Firmware
	switch {
	case done.RAID != nil && p.raid && !sameRAID(done.RAID, p.Host.Status.Provisioning.RAID):
		return plan{is: toRecord, raid: done.RAID}
	case len(done.Updates) > 0 && f.Components != nil && !slices.Equal(f.Components.Status.Updates, done.Updates):
		return plan{is: toLook, look: ReadComponents{Done: done.Updates}}
	case len(done.Settings) > 0 && f.Settings != nil && !f.SettingsRead && shows(f.Settings, done.Settings) != nil:
		return plan{is: toLook, look: ReadSettings{}}
	}
	return plan{}
}

// shows returns the names of settings that a machine is not seen to have.
func shows(s *metal3.HostFirmwareSettings, settings map[string]any) []string {
	var missing []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if s.Status.Settings[name] != fmt.Sprint(settings[name]) {
			missing = append(missing, name)
		}
	}
	return missing
}

// ignored names the settings that were applied and are still wished for with the
// same value.
func ignored(applied, wished map[string]any) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(wished)) {
		if value, was := applied[name]; was && fmt.Sprint(value) == fmt.Sprint(wished[name]) {
			list = append(list, fmt.Sprintf("%s=%v", name, value))
		}
	}
	return strings.Join(list, ", ")
}

// raidJob is the next change of volumes. A part whose last change failed is
// made anew.
func (p planner) raidJob() *raidJob {
	unsure := func(part raidPart) bool { return slices.Contains(p.unsure, part) }
	spec := p.raidWish()
	return nextRAID(&spec, p.Host.Status.Provisioning.RAID, p.Host.Spec.RootDeviceHints != nil, unsure)
}

// raidWish is the spec's, without what the driver has nothing to do for.
func (p planner) raidWish() metal3.RAIDConfig {
	spec := orEmpty(p.Host.Spec.RAID)
	if driver := p.BMC.Access.Interfaces.RAID; driver == "" || driver == raidNone {
		spec.HardwareRAIDVolumes = nil // an empty list has nothing to delete there
	}
	return spec
}

// withRAID is the work of a RAID job. Firmware changes go along with the last job.
func (p planner) withRAID(job *raidJob, wish wishes) plan {
	w := work{disks: job.disks, steps: job.steps(), raid: raidAgent}
	if job.part == raidHardware {
		w.raid = p.BMC.Access.Interfaces.RAID
	}
	w.order.Part, w.order.RAID = job.part, &job.after
	if more := nextRAID(p.Host.Spec.RAID, &job.after, true, func(raidPart) bool { return false }); more != nil {
		wish = wishes{}
	}
	return p.toDo(w, wish)
}

// toDo completes work with firmware changes and the order that announces it.
func (p planner) toDo(w work, wish wishes) plan {
	w.order.Service, w.order.Since = p.service, p.Node.ProvisionUpdatedAt
	w.order.Settings, w.order.Updates, w.order.Unsure = wish.settings, wish.all, p.unsure
	if len(wish.settings) > 0 {
		w.steps = append(w.steps, ironic.ApplyBIOSStep(wish.settings))
	}
	if len(wish.updates) > 0 {
		w.steps = append(w.steps, updateStep(wish.updates))
	}
	return plan{is: toDo, work: w}
}

// updateStep flashes the components in the order of the spec.
func updateStep(updates []metal3.FirmwareUpdate) ironic.Step {
	list := make([]map[string]any, 0, len(updates))
	for _, u := range updates {
		list = append(list, map[string]any{"component": u.Component, "url": u.URL})
	}
	return ironic.Step{Interface: "firmware", Name: "update", Args: map[string]any{"settings": list}}
}

// firmwareChanged reports whether the firmware resources ask for something that
// preparing would do, or may do: a wish that nobody has judged is no "nothing", and
// preparing has it judged.
func firmwareChanged(o *Observed) bool {
	f := &o.Firmware
	settings, seen := firmware.SettingsWish(f.Settings)
	if !seen && !judged(f.Settings.Status.Conditions, f.Settings.Generation, string(metal3.FirmwareSettingsChangeDetected)) {
		return true
	}
	updates, seen := firmware.UpdatesWish(f.Components)
	if !seen && !judged(f.Components.Status.Conditions, f.Components.Generation, string(metal3.HostFirmwareComponentsChangeDetected)) {
		return true
	}
	return len(settings)+len(updates) > 0
}

// judged reports whether a wish was held against what is known of the machine, even
// if that is nothing.
func judged(conditions []metav1.Condition, generation int64, kind string) bool {
	c := meta.FindStatusCondition(conditions, kind)
	return c != nil && c.ObservedGeneration == generation
}
