package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// settingsOf are HostFirmwareSettings that were judged, with the machine's values.
func settingsOf(have map[string]string, want map[string]string) *metal3.HostFirmwareSettings {
	s := &metal3.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	s.Spec.Settings, s.Status.Settings = metal3.DesiredSettingsMap{}, have
	for name, value := range want {
		s.Spec.Settings[name] = intstr.FromString(value)
	}
	for _, kind := range []metal3.SettingsConditionType{metal3.FirmwareSettingsChangeDetected, metal3.FirmwareSettingsValid} {
		s.Status.Conditions = append(s.Status.Conditions, metav1.Condition{Type: string(kind), Status: metav1.ConditionTrue, ObservedGeneration: 3})
	}
	return s
}

// componentsOf are HostFirmwareComponents that were judged, with what was done.
func componentsOf(done, want []metal3.FirmwareUpdate) *metal3.HostFirmwareComponents {
	c := &metal3.HostFirmwareComponents{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	c.Spec.Updates, c.Status.Updates = want, done
	for _, kind := range []metal3.UpdatesConditionType{metal3.HostFirmwareComponentsChangeDetected, metal3.HostFirmwareComponentsValid} {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: string(kind), Status: metav1.ConditionTrue, ObservedGeneration: 3})
	}
	return c
}

// Wishes of the tables.
var (
	mirror   = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{{Level: "1", Name: "root"}}}
	noVolume = &metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}}
	softRAID = &metal3.RAIDConfig{SoftwareRAIDVolumes: []metal3.SoftwareRAIDVolume{{Level: "1"}}}
	flash    = []metal3.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-2"}}
	redfish  = func(o *Observed) { o.BMC.Access.Interfaces.RAID = "redfish" }
)

// read has the firmware resources taken over in this pass.
func read(o *Observed) { o.Firmware.SettingsRead, o.Firmware.ComponentsRead = true, true }

func wishRAID(r *metal3.RAIDConfig) func(*Observed) {
	return func(o *Observed) { redfish(o); o.Host.Spec.RAID = r }
}

func haveRAID(r *metal3.RAIDConfig) func(*Observed) {
	return func(o *Observed) { o.Host.Status.Provisioning.RAID = r }
}

func wishSetting(have, want string) func(*Observed) {
	return func(o *Observed) {
		o.Firmware.Settings = settingsOf(map[string]string{"BootMode": have}, map[string]string{"BootMode": want})
	}
}

// ordered puts the order that the plan comes to on the node, as of some moment.
func ordered(since time.Time, change func(*plan.Order)) func(*Observed) {
	return func(o *Observed) {
		work := planOf(o).Work
		work.Order.Since = since
		if change != nil {
			change(&work.Order)
		}
		full(o).Extra = map[string]any{plan.KeyOrder: work.Order.Value()}
		work.Order.Take(&o.Host.Status, o.Host.Generation, noon)
	}
}

// settled is the node after an update to what is wanted: as Ironic's answer has it, it
// shows the order that the update wrote.
func settled(o *Observed) {
	if _, known := o.InFull(); !known {
		return // with a summary nothing was compared
	}
	applied := wanted(o)
	o.Applied = &applied
	switch order, named := applied.Extra[plan.KeyOrder]; {
	case !named:
	case order == ironic.Remove:
		delete(full(o).Extra, plan.KeyOrder)
	case full(o).Extra == nil:
		full(o).Extra = map[string]any{plan.KeyOrder: order}
	default:
		full(o).Extra[plan.KeyOrder] = order
	}
}

func TestPrepare(t *testing.T) {
	targeted := func(o *Observed) { full(o).TargetRAIDConfig = ironic.RAIDTarget(planOf(o).Work.Disks) }
	done := ordered(noon.Add(-time.Minute), nil)
	failed := ordered(noon.Add(-time.Minute), func(w *plan.Order) { w.Failed = true })
	for name, c := range map[string]struct {
		node  ironic.ProvisionState
		given []func(*Observed)
		do    string
		steps string
		enter State
		err   bool
		says  string
	}{
		"no wish":              {node: ironic.StateManageable, enter: metal3.StateAvailable},
		"an order comes first": {node: ironic.StateManageable, given: []func(*Observed){settled, wishRAID(mirror)}, do: "update node"},
		"then the target":      {node: ironic.StateManageable, given: []func(*Observed){wishRAID(mirror), ordered(noon, nil), settled}, do: "set RAID target"},
		"then the cleaning": {
			node:  ironic.StateManageable,
			given: []func(*Observed){wishRAID(mirror), ordered(noon, nil), targeted, settled},
			do:    "ask for clean", steps: "raid.delete_configuration, raid.create_configuration",
		},
		"volumes are there already": {node: ironic.StateManageable, given: []func(*Observed){wishRAID(mirror), haveRAID(mirror), settled}, enter: metal3.StateAvailable},
		"done: it is recorded":      {node: ironic.StateManageable, given: []func(*Observed){wishRAID(mirror), done, settled}},
		"failed: a new order first": {node: ironic.StateManageable, given: []func(*Observed){wishRAID(mirror), settled, failed, haveRAID(mirror), targeted}, do: "update node"},
		"failed: all over again": {
			node:  ironic.StateManageable,
			given: []func(*Observed){wishRAID(mirror), failed, haveRAID(mirror), settled, targeted},
			do:    "ask for clean", steps: "raid.delete_configuration, raid.create_configuration",
		},
		"an empty list deletes":      {node: ironic.StateManageable, given: []func(*Observed){wishRAID(noVolume), ordered(noon, nil), settled}, do: "ask for clean", steps: "raid.delete_configuration"},
		"nil keeps hardware volumes": {node: ironic.StateManageable, given: []func(*Observed){redfish, haveRAID(mirror), settled}, enter: metal3.StateAvailable},
		"nil deletes software volumes": {
			node:  ironic.StateManageable,
			given: []func(*Observed){wishRAID(nil), haveRAID(softRAID), ordered(noon, nil), settled},
			do:    "ask for clean", steps: "raid.delete_configuration, deploy.erase_devices_metadata",
		},
		"software": {
			node:  ironic.StateManageable,
			given: []func(*Observed){wishRAID(softRAID), ordered(noon, nil), targeted, settled},
			do:    "ask for clean",
			steps: "raid.delete_configuration, deploy.erase_devices_metadata, raid.create_configuration",
		},
		"hardware away, software next": {
			node: ironic.StateManageable,
			given: []func(*Observed){
				wishRAID(&metal3.RAIDConfig{HardwareRAIDVolumes: []metal3.HardwareRAIDVolume{}, SoftwareRAIDVolumes: softRAID.SoftwareRAIDVolumes}),
				haveRAID(mirror), wishSetting("Bios", "Uefi"), ordered(noon, nil), settled,
			},
			do: "ask for clean", steps: "raid.delete_configuration",
		},
		"an available node is taken back": {node: ironic.StateAvailable, given: []func(*Observed){wishRAID(mirror), settled}, do: "ask for manage"},
		"no RAID with this driver":        {node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) { o.Host.Spec.RAID = mirror; settled(o) }}, err: true, says: "cannot set up RAID"},
		"cleaning": {node: ironic.StateCleanWait, given: []func(*Observed){wishRAID(mirror), func(o *Observed) {
			full(o).CleanStep = ironic.Step{Interface: "raid", Name: "create_configuration"}
		}}, says: "cleaning: create_configuration"},
		"a failure marks the order": {node: ironic.StateCleanFailed, given: []func(*Observed){wishRAID(mirror), func(o *Observed) { o.Node.LastError = "no disk" }, done}, do: "update node"},
		"then it is reported": {
			node: ironic.StateCleanFailed,
			given: []func(*Observed){
				wishRAID(mirror), func(o *Observed) { o.Node.LastError = "no disk" },
				ordered(noon.Add(-time.Minute), func(w *plan.Order) { w.Failed = true }), settled,
			},
			err: true, says: "no disk",
		},
		"BIOS settings": {
			node:  ironic.StateManageable,
			given: []func(*Observed){wishSetting("Bios", "Uefi"), ordered(noon, nil), settled},
			do:    "ask for clean", steps: "bios.apply_configuration",
		},
		"BIOS settings not judged yet": {node: ironic.StateManageable, given: []func(*Observed){wishSetting("Bios", "Uefi"), func(o *Observed) {
			o.Firmware.Settings.Generation = 4
		}}, do: "read BIOS settings"},
		"BIOS settings that are not the machine's": {node: ironic.StateManageable, given: []func(*Observed){wishSetting("Bios", "Uefi"), func(o *Observed) {
			o.Firmware.Settings.Status.Conditions[1].Status = metav1.ConditionFalse
		}, read}, enter: metal3.StateAvailable},
		"BIOS settings applied: read again": {node: ironic.StateManageable, given: []func(*Observed){wishSetting("Bios", "Uefi"), done, settled}, do: "read BIOS settings"},
		"BIOS settings applied and seen": {node: ironic.StateManageable, given: []func(*Observed){wishSetting("Bios", "Uefi"), done, settled, func(o *Observed) {
			o.Firmware.Settings.Status.Settings["BootMode"] = "Uefi"
		}}, do: "update node"},
		"BIOS settings ignored by the BMC": {
			node:  ironic.StateManageable,
			given: []func(*Observed){wishSetting("Bios", "Uefi"), done, func(o *Observed) { o.Firmware.SettingsRead = true }, settled},
			err:   true, says: "BootMode=Uefi were applied without an error",
		},
		"firmware": {
			node:  ironic.StateManageable,
			given: []func(*Observed){func(o *Observed) { o.Firmware.Components = componentsOf(nil, flash) }, ordered(noon, nil), settled},
			do:    "ask for clean", steps: "firmware.update",
		},
		"firmware done is recorded": {
			node:  ironic.StateManageable,
			given: []func(*Observed){func(o *Observed) { o.Firmware.Components = componentsOf(nil, flash) }, done, settled},
			do:    "read firmware components",
		},
		"firmware recorded": {
			node:  ironic.StateManageable,
			given: []func(*Observed){func(o *Observed) { o.Firmware.Components = componentsOf(flash, flash) }, read},
			enter: metal3.StateAvailable,
		},
		"nothing wished, settings unread":   {node: ironic.StateManageable, given: []func(*Observed){wishSetting("Uefi", "Uefi")}, do: "read BIOS settings"},
		"nothing wished, components unread": {node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) { o.Firmware.Components = componentsOf(nil, nil) }}, do: "read firmware components"},
		"nothing wished, both read":         {node: ironic.StateManageable, given: []func(*Observed){wishSetting("Uefi", "Uefi"), read}, enter: metal3.StateAvailable},
		"all of it in one cleaning": {
			node: ironic.StateManageable,
			given: []func(*Observed){
				wishRAID(mirror), wishSetting("Bios", "Uefi"), func(o *Observed) { o.Firmware.Components = componentsOf(nil, flash) },
				ordered(noon, nil), targeted, settled,
			},
			do:    "ask for clean",
			steps: "raid.delete_configuration, raid.create_configuration, bios.apply_configuration, firmware.update",
		},
		"the live image is waited for": {node: ironic.StateManageable, given: []func(*Observed){wishRAID(mirror), func(o *Observed) {
			o.Settings.BuildImages, o.Image = true, nodespec.LiveImage{Asked: true}
		}}, says: "building the live image"},
		"no live image for nothing to do": {node: ironic.StateManageable, given: []func(*Observed){func(o *Observed) { o.Settings.BuildImages = true }}, enter: metal3.StateAvailable},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StatePreparing, c.node)
			for _, change := range c.given {
				change(o)
			}
			d := Decide(recorded(o))
			for d.Do == nil && d.Again && d.Status.Provisioning.State == metal3.StatePreparing && c.do != "" {
				o.Host.Status = d.Status
				d = Decide(o)
			}
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do), "%+v", d)
			if tr, ok := d.Do.(nodeaction.Transition); ok && c.steps != "" {
				g.Expect(stepNames(tr.CleanSteps)).To(Equal(c.steps))
			}
			if c.err {
				g.Expect(d.Status.ErrorType).To(Equal(metal3.PreparationError))
				g.Expect(d.Status.ErrorMessage).To(ContainSubstring(c.says))
				return
			}
			if c.enter == "" {
				c.enter = metal3.StatePreparing
			}
			g.Expect(d.Status.Provisioning.State).To(Equal(c.enter))
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

func TestRAIDResultIsRecordedBeforeItsOrderGoes(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StatePreparing, ironic.StateManageable)
	wishRAID(mirror)(o)
	ordered(noon.Add(-time.Minute), nil)(o)
	settled(o)
	d := Decide(o)
	g.Expect(d.Do).To(BeNil())
	g.Expect(d.Status.Provisioning.RAID).To(Equal(mirror))
	o.Host.Status = d.Status
	d = Decide(o)
	g.Expect(d.Do).To(BeAssignableToTypeOf(nodeaction.Update{}))
	g.Expect(Announced(d.Do, metal3.StatePreparing)).To(BeTrue(), "the status is stored before the order goes")
}

func TestFirmwareWishTakesAnAvailableHostBack(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateAvailable, ironic.StateManageable)
	wishSetting("Bios", "Bios")(o)
	g.Expect(Decide(o).Status.Provisioning.State).To(Equal(metal3.StateAvailable), "the machine has it already")
	wishSetting("Bios", "Uefi")(o)
	g.Expect(Decide(o).Status.Provisioning.State).To(Equal(metal3.StatePreparing))
	o.Firmware.Settings.Status.Conditions[1].Status = metav1.ConditionFalse
	g.Expect(Decide(o).Status.Provisioning.State).To(Equal(metal3.StateAvailable), "an invalid wish is not carried out")
	o.Firmware = plan.Firmware{Components: componentsOf(nil, flash)}
	g.Expect(Decide(o).Status.Provisioning.State).To(Equal(metal3.StatePreparing))
}
