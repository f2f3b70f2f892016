package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
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

// Result is what a plan comes to.
type Result int

const (
	// AllDone means that nothing is left to be done.
	AllDone Result = iota
	// ToLook means that something must be read before more can be said.
	ToLook
	// ToRecord means that a finished order must be recorded on the host.
	ToRecord
	// Hopeless means that the wish cannot be fulfilled as it stands.
	Hopeless
	// ToDo means that there is work for Ironic.
	ToDo
)

// Plan is the next thing on the way to what the spec asks of a machine's RAID,
// BIOS settings and firmware.
type Plan struct {
	Is      Result
	Look    Reading            // for toLook
	RAID    *metal3.RAIDConfig // for toRecord: what the machine has now
	Problem string             // for hopeless
	Work    Work               // for toDo
}

// Reading is what has to be taken over from Ironic before more can be said.
type Reading struct {
	// Components means the versions of the firmware; else the BIOS settings are meant.
	Components bool
	// Done are the updates that were carried out, or may have been, and not recorded yet.
	Done firmware.Outcome
}

// Work is one request for manual cleaning or servicing.
type Work struct {
	Order Order
	raid  string // the RAID interface that it needs, empty for none
	Disks []ironic.LogicalDisk
	Steps []ironic.Step
}

// Input is what a plan is made from.
type Input struct {
	// Host is the resource; its status says in which phase it is, and what was done.
	Host *metal3.BareMetalHost
	// Node is the node; nil for unknown.
	Node *ironic.Node
	// RAIDInterface is the interface by which the driver builds hardware RAID; empty or
	// "no-raid" for one that cannot.
	RAIDInterface string
	// Firmware is what is known of the firmware and wished for it.
	Firmware Firmware
	// Turn means that nothing has to be waited for before Ironic is asked for the work.
	Turn bool
	// Unasked is the time of the order that Ironic is known not to have taken; zero for none.
	Unasked time.Time
	// Anew means that somebody asks for another attempt at volumes in an unknown state.
	Anew bool
}

// Of makes the plan for the phase that the host is in.
func Of(o Input) Plan {
	if o.Node == nil {
		return Plan{}
	}
	var p planner
	switch o.Host.Status.Provisioning.State {
	case metal3.StatePreparing:
		p = planner{Input: o, settings: true, updates: true, raid: true}
	case metal3.StateProvisioned, metal3.StateExternallyProvisioned:
		policy := o.Firmware.Policy
		p = planner{
			Input: o, service: true,
			settings: policy.FirmwareSettings == metal3.HostUpdatePolicyOnReboot,
			updates:  policy.FirmwareUpdates == metal3.HostUpdatePolicyOnReboot,
		}
	default:
		return Plan{}
	}
	return p.plan()
}

// planner makes a plan from what may be changed in a phase.
type planner struct {
	Input

	service, raid, settings, updates bool

	unsure []raidPart // kinds of volumes in an unknown state
}

func (p planner) plan() Plan {
	have := OrderOf(p.Node)
	if have != nil && have.Service != p.service {
		have = nil // of another phase of life
	}
	done, unknown := have.Done(p.Host, p.Node), have.Unknown(p.Host, p.Node, p.Unasked)
	p.unsure = have.unsure(p.raidWish(), done, unknown)
	if done || unknown {
		if result := p.record(have, unknown); result.Is != AllDone {
			return result
		}
	}
	wish, look := p.firmwareWish()
	if look != nil {
		return Plan{Is: ToLook, Look: *look}
	}
	if p.raid {
		if problem := raidProblem(p.Host.Spec.RAID, p.RAIDInterface); problem != "" {
			return Plan{Is: Hopeless, Problem: problem}
		}
		if job := p.raidJob(); job != nil {
			return p.withRAID(job, wish)
		}
	}
	if len(wish.settings)+len(wish.updates) == 0 {
		return Plan{}
	}
	if done && p.Host.Status.ErrorType == "" {
		if ignored := ignored(have.Settings, wish.settings); ignored != "" {
			return Plan{Is: Hopeless, Problem: "the BIOS settings " + ignored + " were applied without an error, but the machine still shows " +
				"other values: correct HostFirmwareSettings, or look at the BMC's own log"}
		}
	}
	return p.toDo(Work{}, wish)
}

// wishes are the firmware changes that are asked for and allowed in this phase.
type wishes struct {
	settings map[string]any
	updates  []metal3.FirmwareUpdate // those to carry out
	all      []metal3.FirmwareUpdate // those that are on the machine afterwards
}

// firmwareWish gathers the changes; a wish that was not judged yet, or by
// something that a finished order has changed since, has to be looked at first.
func (p planner) firmwareWish() (w wishes, look *Reading) {
	f := &p.Firmware
	if p.settings {
		settings, seen := firmware.SettingsWish(f.Settings)
		if !seen && !f.SettingsRead {
			return w, &Reading{}
		}
		w.settings = settings
	}
	if p.updates {
		updates, seen := firmware.UpdatesWish(f.Components)
		if !seen && !f.ComponentsRead {
			return w, &Reading{Components: true}
		}
		if w.updates = updates; len(updates) > 0 {
			w.all = f.Components.Spec.Updates
		}
	}
	return w, nil
}

// unknownVolumes is why volumes are left as they are.
const unknownVolumes = "it is not known whether Ironic has changed the RAID volumes: Ironflow ended as it asked for that, and was not there again before " +
	"the machine was at rest. Nothing is done to them; to have them deleted and made as spec.raid says, set the annotation " + names.Retry

// record compares the host with what a finished order has changed. What nobody knows of is neither
// recorded nor repeated; BIOS settings are read from the machine in any case.
func (p planner) record(done *Order, unknown bool) Plan {
	f := &p.Firmware
	switch {
	case unknown && done.Part != "" && p.raid && !p.Anew:
		return Plan{Is: Hopeless, Problem: unknownVolumes}
	case !unknown && done.RAID != nil && p.raid && !nodespec.SameRAID(done.RAID, p.Host.Status.Provisioning.RAID):
		return Plan{Is: ToRecord, RAID: done.RAID}
	case len(done.Updates) > 0 && f.Components != nil && !slices.Equal(f.Components.Status.Updates, done.Updates):
		return Plan{Is: ToLook, Look: Reading{Components: true, Done: firmware.Outcome{Updates: done.Updates, Unknown: unknown}}}
	case len(done.Settings) > 0 && f.Settings != nil && !f.SettingsRead && shows(f.Settings, done.Settings) != nil:
		return Plan{Is: ToLook, Look: Reading{}}
	}
	return Plan{}
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
	if driver := p.RAIDInterface; driver == "" || driver == raidNone {
		spec.HardwareRAIDVolumes = nil // an empty list has nothing to delete there
	}
	return spec
}

// withRAID is the work of a RAID job. Firmware changes go along with the last job.
func (p planner) withRAID(job *raidJob, wish wishes) Plan {
	w := Work{Disks: job.disks, Steps: job.steps(), raid: raidAgent}
	if job.part == hardwareVolumes {
		w.raid = p.RAIDInterface
	}
	w.Order.Part, w.Order.RAID = job.part, &job.after
	if more := nextRAID(p.Host.Spec.RAID, &job.after, true, func(raidPart) bool { return false }); more != nil {
		wish = wishes{}
	}
	return p.toDo(w, wish)
}

// toDo completes work with firmware changes and the order that announces it.
func (p planner) toDo(w Work, wish wishes) Plan {
	w.Order.Service, w.Order.Since, w.Order.TakenIsRecorded = p.service, p.Node.ProvisionUpdatedAt, true
	w.Order.Settings, w.Order.Updates, w.Order.Unsure = wish.settings, wish.all, p.unsure
	if len(wish.settings) > 0 {
		w.Steps = append(w.Steps, ironic.ApplyBIOSStep(wish.settings))
	}
	if len(wish.updates) > 0 {
		w.Steps = append(w.Steps, updateStep(wish.updates))
	}
	return Plan{Is: ToDo, Work: w}
}

// updateStep flashes the components in the order of the spec.
func updateStep(updates []metal3.FirmwareUpdate) ironic.Step {
	list := make([]map[string]any, 0, len(updates))
	for _, u := range updates {
		list = append(list, map[string]any{"component": u.Component, "url": u.URL})
	}
	return ironic.Step{Interface: "firmware", Name: "update", Args: map[string]any{"settings": list}}
}

// FirmwareChanged reports whether the firmware resources ask for something that
// preparing would do, or may do: a wish that nobody has judged is no "nothing", and
// preparing has it judged.
func FirmwareChanged(f Firmware) bool {
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

// Unread is what a host's resources do not show yet of what Ironic knows of its machine; nil for
// nothing: they were never filled in, or not since the last inspection ended.
func (f *Firmware) Unread(h *metal3.BareMetalHost) *Reading {
	inspected := h.Status.OperationHistory.Inspect.End
	since := func(updated *metav1.Time) bool { return updated != nil && !updated.Before(&inspected) }
	switch s, c := f.Settings, f.Components; {
	case s != nil && !f.SettingsRead && (s.Status.Settings == nil || !since(s.Status.LastUpdated)):
		return &Reading{}
	case c != nil && !f.ComponentsRead && !since(c.Status.LastUpdated):
		return &Reading{Components: true}
	default:
		return nil
	}
}

// Wish names what is asked for, to tell whether it has changed; it is empty for nothing.
// A resource that is made without a wish asks for nothing.
func (f *Firmware) Wish() []any {
	var list []any
	if f.Policy != (metal3.HostUpdatePolicySpec{}) {
		list = append(list, f.Policy)
	}
	if f.Settings != nil && len(f.Settings.Spec.Settings) > 0 {
		list = append(list, f.Settings.Spec)
	}
	if f.Components != nil && len(f.Components.Spec.Updates) > 0 {
		list = append(list, f.Components.Spec)
	}
	return list
}
