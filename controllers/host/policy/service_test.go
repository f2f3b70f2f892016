package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/ironic"
)

// inUseWith is a provisioned host with a node in a state, switched off to be
// switched on again.
func inUseWith(node ironic.ProvisionState, given ...func(*Observed)) *Observed {
	o := observed(metal3.StateProvisioned, node)
	wantInstall(o.Host)
	provisionedWithInstall(o)
	o.Node.PowerState, o.Host.Status.PoweredOn = ironic.PowerOff, false
	settled(o)
	for _, change := range given {
		change(o)
	}
	return o
}

func TestServicing(t *testing.T) {
	policy := func(settings, updates metal3.UpdatePolicy) func(*Observed) {
		return func(o *Observed) {
			o.Firmware.Policy = metal3.HostUpdatePolicySpec{FirmwareSettings: settings, FirmwareUpdates: updates}
		}
	}
	onReboot := policy(metal3.HostUpdatePolicyOnReboot, metal3.HostUpdatePolicyOnReboot)
	wish := wishSetting("Bios", "Uefi")
	status := func(s metal3.OperationalStatus) func(*Observed) {
		return func(o *Observed) { o.Host.Status.OperationalStatus = s }
	}
	under := status(metal3.OperationalStatusServicing)
	on := func(o *Observed) { o.Node.PowerState, o.Host.Status.PoweredOn = ironic.PowerOn, true }
	failed := func(o *Observed) {
		o.Node.LastError, o.Node.Maintenance, o.Node.Fault = "no reset", true, "service failure"
		full(o).MaintenanceReason = "no reset"
	}
	locked := func(o *Observed) { o.Node.Reservation = "conductor-1" }
	seen := func(o *Observed) { o.Firmware.Settings.Status.Settings["BootMode"] = "Uefi" }
	toStayOff := func(o *Observed) { o.Host.Spec.Online = false }
	past := noon.Add(-time.Minute)
	asFailed := ordered(past, func(w *plan.Order) { w.Failed = true })
	for name, c := range map[string]struct {
		node   ironic.ProvisionState
		given  []func(*Observed)
		do     string
		status metal3.OperationalStatus
		err    bool
		says   string
		event  string
	}{
		"no policy: it waits for preparing":       {node: ironic.StateActive, given: []func(*Observed){wish}, do: "ask for power on", status: "OK"},
		"policy onPreparing":                      {node: ironic.StateActive, given: []func(*Observed){wish, policy(metal3.HostUpdatePolicyOnPreparing, "")}, do: "ask for power on", status: "OK"},
		"policy for the other kind":               {node: ironic.StateActive, given: []func(*Observed){wish, policy("", metal3.HostUpdatePolicyOnReboot)}, do: "ask for power on", status: "OK"},
		"nothing to change":                       {node: ironic.StateActive, given: []func(*Observed){onReboot}, do: "ask for power on", status: "OK"},
		"a running machine is left alone":         {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, on}, status: "OK"},
		"the intent is shown before the power-on": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot}, status: "servicing"},
		"then the order":                          {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under}, do: "update node", status: "servicing"},
		"then the request":                        {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, ordered(noon, nil), settled}, do: "ask for service", status: "servicing"},
		"the live image is waited for": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, func(o *Observed) {
			o.Settings.BuildImages, o.Image = true, nodespec.LiveImage{Asked: true}
		}}, status: "servicing", says: "building the live image"},
		"a wish that was not judged is read first": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, func(o *Observed) {
			o.Firmware.Settings.Generation = 9
		}}, do: "read BIOS settings", status: "OK"},
		"a summary does not tell": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, func(o *Observed) {
			o.Sight = o.Summary()
		}}, do: "read node", status: "servicing"},
		"it runs": {node: ironic.StateServiceWait, given: []func(*Observed){wish, onReboot, under, func(o *Observed) {
			full(o).ServiceStep = ironic.Step{Interface: "bios", Name: "apply_configuration"}
		}}, status: "servicing", says: "servicing: apply_configuration"},
		"it runs although the status says no":      {node: ironic.StateServicing, given: []func(*Observed){wish, onReboot}, status: "servicing"},
		"the wish is gone":                         {node: ironic.StateServiceWait, given: []func(*Observed){onReboot, under}, do: "ask for abort", status: "servicing"},
		"done: read again":                         {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, ordered(past, nil), settled}, do: "read BIOS settings", status: "servicing"},
		"done and seen":                            {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, ordered(past, nil), seen}, status: "OK", event: "ServicingComplete"},
		"the machine runs before it was asked for": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, on}, status: "OK", event: "ServicingPutOff"},
		"it runs after an order that nobody heard": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, under, ordered(noon, nil), on}, status: "OK", event: "ServicingPutOff"},
		"the wish is gone before it was asked for": {node: ironic.StateActive, given: []func(*Observed){onReboot, under}, status: "OK", event: "ServicingAborted"},
		"somebody works on the node":               {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, locked}, status: "OK", says: "switching power"},
		"somebody switches it on": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, func(o *Observed) {
			o.Node.TargetPowerState = ironic.PowerOn
		}}, status: "OK", says: "switching power"},
		"a failure marks the order": {
			node: ironic.StateServiceFailed,
			given: []func(*Observed){
				wish, onReboot, under, failed,
				func(o *Observed) { o.Node.ProvisionState = ironic.StateActive }, ordered(past, nil),
				func(o *Observed) { o.Node.ProvisionState = ironic.StateServiceFailed },
			},
			do: "update node", status: "servicing",
		},
		"then it is reported": {
			node:  ironic.StateServiceFailed,
			given: []func(*Observed){wish, onReboot, under, failed, asFailed, settled},
			err:   true, says: "no reset", status: "error",
		},
		"the next attempt ends maintenance": {node: ironic.StateServiceFailed, given: []func(*Observed){wish, onReboot, failed, asFailed, settled, func(o *Observed) {
			stalled(o, metal3.ServicingError, "ServicingError", time.Hour)
		}}, do: "unset maintenance", status: "error"},
		"then it gets an order": {node: ironic.StateServiceFailed, given: []func(*Observed){wish, onReboot, asFailed, settled, func(o *Observed) {
			stalled(o, metal3.ServicingError, "ServicingError", time.Hour)
		}}, do: "update node", status: "error"},
		"then it is made": {node: ironic.StateServiceFailed, given: []func(*Observed){wish, onReboot, ordered(noon, nil), settled, func(o *Observed) {
			stalled(o, metal3.ServicingError, "ServicingError", time.Hour)
		}}, do: "ask for service", status: "servicing"},
		"not for a machine that is to be off": {
			node: ironic.StateServiceFailed, do: "ask for abort", status: "OK", event: "ServicingPutOff",
			given: []func(*Observed){wish, onReboot, toStayOff, asFailed, settled, func(o *Observed) { stalled(o, metal3.ServicingError, "ServicingError", time.Hour) }},
		},
		"a failure that nobody wants mended": {node: ironic.StateServiceFailed, given: []func(*Observed){onReboot, under}, do: "ask for abort", status: "servicing"},
		"a failure that somebody ended in Ironic": {node: ironic.StateActive, given: []func(*Observed){onReboot, func(o *Observed) {
			stalled(o, metal3.ServicingError, "ServicingError", time.Hour)
		}}, status: "OK"},
		"deprovisioning tears a failed one down": {node: ironic.StateServiceFailed, given: []func(*Observed){func(o *Observed) {
			o.Host.Status.Provisioning.State = metal3.StateDeprovisioning
		}}, do: "ask for deleted", status: "OK"},
		"deprovisioning waits for the conductor": {node: ironic.StateServicing, given: []func(*Observed){func(o *Observed) {
			o.Host.Status.Provisioning.State = metal3.StateDeprovisioning
		}}, status: "OK", says: "waiting to deprovision"},
		"a wish that ends the host comes first": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, func(o *Observed) { o.Host.Spec.CustomDeploy = nil }}, status: "OK"},
		"an externally provisioned host, likewise": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, func(o *Observed) {
			o.Host.Status.Provisioning.State = metal3.StateExternallyProvisioned
			o.Host.Spec.ExternallyProvisioned = true
			settled(o)
		}}, status: "servicing"},
		"a key holds the machine off: no servicing": {node: ironic.StateActive, given: []func(*Observed){wish, onReboot, func(o *Observed) {
			o.Host.Annotations = map[string]string{names.Reboot + "/x": ""}
		}}, status: "OK"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := inUseWith(c.node, c.given...)
			if c.do != "update node" {
				settled(o)
			}
			d := Decide(recorded(o))
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do), "%+v", d.Wait)
			g.Expect(d.Status.OperationalStatus).To(Equal(c.status))
			if c.event != "" {
				g.Expect(d.Events).To(ConsistOf(HaveField("Reason", c.event)))
			}
			if c.err {
				g.Expect(d.Status.ErrorType).To(Equal(metal3.ServicingError))
				g.Expect(d.Status.ErrorMessage).To(ContainSubstring(c.says))
				return
			}
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

func TestPowerModes(t *testing.T) {
	reboot := func(value string) func(*Observed) {
		return func(o *Observed) { o.Host.Annotations = map[string]string{names.Reboot: value} }
	}
	never := func(o *Observed) { o.Host.Spec.DisablePowerOff, full(o).DisablePowerOff = true, true; settled(o) }
	on := func(o *Observed) { o.Node.PowerState, o.Host.Status.PoweredOn = ironic.PowerOn, true }
	marked := func(hard bool, since time.Time) func(*Observed) {
		return func(o *Observed) {
			full(o).UpdatedAt = noon
			o.Host.Annotations = map[string]string{names.Rebooting: Mark{Hard: hard, Since: since, State: o.Node.ProvisionState}.Value()}
		}
	}
	touched := func(o *Observed) { full(o).UpdatedAt = noon.Add(time.Minute) }
	turnedAway := func(o *Observed) {
		full(o).UpdatedAt = noon
		o.Host.Annotations = map[string]string{names.Rebooting: Mark{Since: noon, State: o.Node.ProvisionState, TurnedAway: true}.Value()}
	}
	for name, c := range map[string]struct {
		given []func(*Observed)
		do    string
		drop  bool
		event string
	}{
		"soft":                              {[]func(*Observed){on, reboot(""), announced}, "ask for soft power off", false, "PowerOff"},
		"soft by name":                      {[]func(*Observed){on, reboot(`{"mode":"soft"}`), announced}, "ask for soft power off", false, "PowerOff"},
		"hard":                              {[]func(*Observed){on, reboot(`{"mode":"hard"}`), announced}, "ask for power off", false, "PowerOff"},
		"any hard one wins":                 {[]func(*Observed){on, reboot(""), func(o *Observed) { o.Host.Annotations[names.Reboot+"/x"] = `{"mode":"hard"}` }}, "ask for power off", false, "PowerOff"},
		"a value that cannot be read":       {[]func(*Observed){on, reboot("hard"), announced}, "ask for soft power off", false, "InvalidAnnotationValue"},
		"hard after an error":               {[]func(*Observed){on, reboot(""), announced, func(o *Observed) { o.Host.Status.ErrorCount = 1 }}, "ask for power off", false, "PowerOff"},
		"announced first":                   {[]func(*Observed){on, reboot("")}, "announce restart", false, ""},
		"announced: looked at before":       {[]func(*Observed){on, reboot(""), func(o *Observed) { o.Sight = o.Summary() }}, "read node", false, ""},
		"was off, and runs again":           {[]func(*Observed){on, reboot(""), announced, touched}, "", true, ""},
		"was off, and is never to be again": {[]func(*Observed){on, reboot(""), announced, touched, never}, "", true, ""},
		"announced, now never off":          {[]func(*Observed){on, reboot(""), announced, never}, "announce restart", false, ""},
		"was it off? somebody has the node": {[]func(*Observed){on, reboot(""), announced, touched, func(o *Observed) { o.Node.Reservation = "conductor-1" }}, "", false, ""},
		"was not off, Ironic says":          {[]func(*Observed){on, reboot(""), announced, touched, func(o *Observed) { o.Node.LastError = "aborted" }}, "ask for soft power off", false, "PowerOff"},
		"announced, then taken back":        {[]func(*Observed){on, reboot(""), announced, func(o *Observed) { delete(o.Host.Annotations, names.Reboot) }}, "", true, ""},
		"was off once, and a client's key": {[]func(*Observed){on, reboot(""), announced, touched, func(o *Observed) {
			o.Host.Annotations[names.Reboot+"/x"] = ""
		}}, "ask for soft power off", false, "PowerOff"},
		"never off: announced first":            {[]func(*Observed){on, never, reboot("")}, "announce restart", false, ""},
		"never off: looked at before":           {[]func(*Observed){on, never, reboot(""), func(o *Observed) { o.Sight = o.Summary() }}, "read node", false, ""},
		"never off: soft":                       {[]func(*Observed){on, never, marked(false, noon)}, "ask for soft rebooting", false, "PowerOff"},
		"never off: hard":                       {[]func(*Observed){on, never, marked(true, noon)}, "ask for rebooting", false, "PowerOff"},
		"never off: no soft":                    {[]func(*Observed){on, never, marked(false, noon), func(o *Observed) { o.SoftRefused = true }}, "ask for rebooting", false, "PowerOff"},
		"never off: under way":                  {[]func(*Observed){on, never, marked(false, noon), func(o *Observed) { o.Node.TargetPowerState = ironic.PowerOn }}, "", false, ""},
		"never off: done":                       {[]func(*Observed){on, never, marked(false, noon.Add(-time.Hour))}, "", true, ""},
		"never off: failed":                     {[]func(*Observed){on, never, marked(false, noon.Add(-time.Hour)), func(o *Observed) { o.Node.LastError = "no" }}, "", false, "PowerManagementError"},
		"never off: turned away":                {[]func(*Observed){on, never, turnedAway}, "announce restart", false, ""},
		"never off: turned away, still locked":  {[]func(*Observed){on, never, turnedAway, func(o *Observed) { o.Node.Reservation = "conductor-1" }}, "", false, ""},
		"never off: a key does not hold it off": {[]func(*Observed){on, never, func(o *Observed) { o.Host.Annotations = map[string]string{names.Reboot + "/x": ""} }}, "", false, ""},
		"never off: offline by an old spec":     {[]func(*Observed){on, never, func(o *Observed) { o.Host.Spec.Online = false }}, "", false, ""},
		"off: the annotation goes":              {[]func(*Observed){reboot("")}, "", true, ""},
		"off, says the watch: looked at before": {[]func(*Observed){reboot(""), func(o *Observed) { o.Sight = o.Summary() }}, "read node", false, ""},
		"off, and locked: it may be started":    {[]func(*Observed){reboot(""), func(o *Observed) { o.Node.Reservation = "conductor-1" }}, "", false, ""},
		"off, being started: the request stays": {[]func(*Observed){reboot(""), func(o *Observed) { o.Node.TargetPowerState = ironic.PowerOn }}, "", false, ""},
		"off while a key is there":              {[]func(*Observed){reboot(""), func(o *Observed) { o.Host.Annotations[names.Reboot+"/x"] = "" }}, "", false, ""},
		"offline":                               {[]func(*Observed){on, func(o *Observed) { o.Host.Spec.Online = false }}, "ask for power off", false, "PowerOff"},
		"online":                                {nil, "ask for power on", false, "PowerOn"},
		"a power state that nobody knows waits": {[]func(*Observed){func(o *Observed) { o.Node.PowerState = ironic.PowerUnknown }}, "", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := inUseWith(ironic.StateActive, c.given...)
			d := Decide(recorded(o))
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			g.Expect(d.DropAnnotations != nil).To(Equal(c.drop))
			if c.event != "" {
				g.Expect(d.Events).To(ContainElement(HaveField("Reason", c.event)))
			}
		})
	}
}

func TestPowerIsSeenBeforeItIsActedUpon(t *testing.T) {
	g := NewWithT(t)
	o := inUseWith(ironic.StateActive, func(o *Observed) { o.Host.Status.PoweredOn = true })
	stalled(o, metal3.PowerManagementError, "PowerManagementError", 48*time.Hour)
	d := Decide(recorded(o))
	g.Expect(d.Do).To(BeNil())
	g.Expect(d.Status.PoweredOn).To(BeFalse())
	g.Expect(d.Status.ErrorType).To(BeEmpty(), "what is seen differs from what failed")
}

// TestAWishThatIsNotAllowedIsNotToldToWait: updates may be made on a host in use, and there
// are none; settings may not.
func TestAWishThatIsNotAllowedIsNotToldToWait(t *testing.T) {
	for kind, says := range map[metal3.UpdatePolicy]string{"": "", metal3.HostUpdatePolicyOnReboot: "firmware changes wait"} {
		g := NewWithT(t)
		o := inUseWith(ironic.StateActive, wishSetting("Bios", "Uefi"))
		o.Node.PowerState, o.Host.Status.PoweredOn, o.Host.Spec.DisablePowerOff = ironic.PowerOn, true, true
		o.Firmware.Policy = metal3.HostUpdatePolicySpec{FirmwareSettings: kind, FirmwareUpdates: metal3.HostUpdatePolicyOnReboot}
		o.Firmware.Components = &metal3.HostFirmwareComponents{
			Spec: metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-2"}}},
			Status: metal3.HostFirmwareComponentsStatus{Conditions: []metav1.Condition{
				{Type: string(metal3.HostFirmwareComponentsChangeDetected), Status: metav1.ConditionFalse},
			}},
		}
		g.Expect(wishNote(o).Step).To(Equal(says), "settings %q", kind)
	}
}
