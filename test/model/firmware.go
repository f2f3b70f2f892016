package model

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	reads "github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/ironic"
)

// firmware is how far the firmware resources of a world's hosts go.
type firmware int

const (
	notKept    firmware = iota
	isKept              // and nothing is asked for
	isAskedFor          // one BIOS setting, to be written in a reboot where the host is in use
)

// The one BIOS setting that there is.
const (
	bootingSetting = "BootMode"
	bootingBefore  = "Bios"
	bootingAsked   = "Uefi"
)

// firmwareMoves happen to the firmware resources of hosts.
var firmwareMoves = []move{
	{
		user, "a BIOS setting for", "", func(w *World, _ string) bool { return w.firmware == isKept },
		func(w *World, about string) { w.later(moment); w.firmware = isAskedFor; w.woken[named(about)] = true },
	},
	{
		user, "no BIOS setting for", "", func(w *World, _ string) bool { return w.firmware == isAskedFor },
		func(w *World, about string) { w.later(moment); w.firmware = isKept; w.woken[named(about)] = true },
	},
}

// keeper keeps the firmware resources of a world: they always show what the machine has.
type keeper struct{ run *run }

// Settings implements observe.Firmware.
func (k keeper) Settings(_ context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareSettings, error) {
	w := k.run.world
	has, changed := bootingBefore, metav1.ConditionFalse
	if m := w.machineOf(h); m.Booting != "" {
		has = m.Booting
	}
	s := &metal3.HostFirmwareSettings{ObjectMeta: objectMeta(h.Name)}
	if s.Generation = 1; w.firmware == isAskedFor {
		s.Generation, s.Spec.Settings = 2, metal3.DesiredSettingsMap{bootingSetting: intstr.FromString(bootingAsked)}
		if has != bootingAsked {
			changed = metav1.ConditionTrue
		}
	}
	s.Status = metal3.HostFirmwareSettingsStatus{
		Settings: metal3.SettingsMap{bootingSetting: has}, LastUpdated: &metav1.Time{Time: w.Now},
		Conditions: []metav1.Condition{
			{Type: string(metal3.FirmwareSettingsChangeDetected), Status: changed, ObservedGeneration: s.Generation},
			{Type: string(metal3.FirmwareSettingsValid), Status: metav1.ConditionTrue, ObservedGeneration: s.Generation},
		},
	}
	return s, nil
}

// Components implements observe.Firmware.
func (k keeper) Components(_ context.Context, h *metal3.BareMetalHost) (*metal3.HostFirmwareComponents, error) {
	c := &metal3.HostFirmwareComponents{ObjectMeta: objectMeta(h.Name)}
	c.Generation, c.Status.LastUpdated = 1, &metav1.Time{Time: k.run.world.Now}
	return c, nil
}

// Policy implements observe.Firmware.
func (keeper) Policy(_ context.Context, h *metal3.BareMetalHost) (*metal3.HostUpdatePolicy, error) {
	return &metal3.HostUpdatePolicy{
		ObjectMeta: objectMeta(h.Name), Spec: metal3.HostUpdatePolicySpec{FirmwareSettings: metal3.HostUpdatePolicyOnReboot},
	}, nil
}

// Make implements execute.Firmware.
func (keeper) Make(context.Context, *metal3.BareMetalHost, string) error { return nil }

// ReadSettings implements execute.Firmware.
func (k keeper) ReadSettings(ctx context.Context, h *metal3.BareMetalHost, _ string) (*metal3.HostFirmwareSettings, error) {
	return k.Settings(ctx, h)
}

// ReadComponents implements execute.Firmware.
func (k keeper) ReadComponents(ctx context.Context, h *metal3.BareMetalHost, _ string, _ reads.Outcome) (*metal3.HostFirmwareComponents, error) {
	return k.Components(ctx, h)
}

// service boots the live image on a machine in use. At its end the system on it runs.
func service(w *World, id string, _ ironic.Transition) {
	n := w.nodes[id]
	if m := w.machines[n.address]; n.ProvisionState == ironic.StateActive && m.installed() && m.On && n.PowerState != ironic.PowerOff {
		w.breaks("INTERRUPTED UNASKED: Ironic services the machine of node %s, which runs %q, and is in no reboot", n.Name, m.Disk)
	}
	w.checkServiced(n)
	w.set(n.address, func(m *machine) { m.On = true })
	w.change(id, func(n *node) {
		n.ProvisionState, n.PowerState, n.LastError = ironic.StateServiceWait, ironic.PowerOn, ""
	})
}

// serviced ends servicing.
func serviced(w *World, id string) {
	w.set(w.nodes[id].address, func(m *machine) { m.On, m.Booting = true, bootingAsked })
	w.change(id, func(n *node) { n.ProvisionState, n.PowerState = ironic.StateActive, ironic.PowerOn })
}

// abortService takes a node back whose service is under way or has failed, and reports whether it is one.
func abortService(w *World, id string) bool {
	text := ""
	switch w.nodes[id].ProvisionState {
	case ironic.StateServiceWait:
		text = "By request, the service operation was aborted"
	case ironic.StateServiceFailed:
	default:
		return false
	}
	w.change(id, func(n *node) { n.ProvisionState, n.LastError = ironic.StateActive, text })
	return true
}
