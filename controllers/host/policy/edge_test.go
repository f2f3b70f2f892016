package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// TestForce: what Ironic does to a machine is ended when an annotation says so.
func TestForce(t *testing.T) {
	annotate := func(key, value string) func(*Observed) {
		return func(o *Observed) { metav1.SetMetaDataAnnotation(&o.Host.ObjectMeta, key, value) }
	}
	forced := `{"mode":"hard","force":true}`
	marked := func(since time.Time) func(*Observed) {
		return func(o *Observed) {
			annotate(names.Rebooting, Mark{Hard: true, Since: since, State: o.Node.ProvisionState}.Value())(o)
		}
	}
	install := func(o *Observed) { wantInstall(o.Host); settled(o) }
	deleting := func(o *Observed) { now := metav1.NewTime(noon); o.Host.DeletionTimestamp = &now }
	for name, c := range map[string]struct {
		state State
		node  ironic.ProvisionState
		given []func(*Observed)
		do    string
		drop  []string
		says  string
	}{
		"reboot of an inspection":              {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Reboot, forced)}, "announce restart", nil, ""},
		"reboot of an inspection, announced":   {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){marked(noon)}, "ask for abort", []string{names.Rebooting}, ""},
		"reboot of an inspection, carried out": {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){marked(noon.Add(-time.Minute))}, "", []string{names.Rebooting}, ""},
		"reboot without force":                 {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Reboot, "")}, "", nil, "inspecting the hardware"},
		"reboot while the conductor works":     {metal3.StateInspecting, ironic.StateInspecting, []func(*Observed){annotate(names.Reboot, forced)}, "", nil, "inspecting the hardware"},
		"reboot of a deployment":               {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Reboot+"/me", forced)}, "announce restart", nil, ""},
		"reboot of a deployment, announced":    {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, marked(noon)}, "ask for deleted", []string{names.Rebooting}, ""},
		"reboot of a deployment, summary": {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Reboot, forced), func(o *Observed) {
			o.Sight = o.Summary()
		}}, "read node", nil, ""},
		"detach waits for the end":    {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Detached, "")}, "", nil, "starting the deployment"},
		"detach by force, deployment": {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Detached, `{"force":true}`)}, "ask for abort", nil, ""},
		"detach by force, old Ironic": {metal3.StateProvisioning, ironic.StateDeployWait, []func(*Observed){install, annotate(names.Detached, `{"force":true}`), func(o *Observed) {
			o.AbortRefused = true
		}}, "ask for deleted", nil, ""},
		"detach by force, inspection": {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Detached, `{"force":true}`)}, "ask for abort", nil, ""},
		"detach by force, aborted":    {metal3.StateInspecting, ironic.StateInspectFailed, []func(*Observed){annotate(names.Detached, `{"force":true}`)}, "set maintenance", nil, ""},
		"detach by force, conductor works": {
			metal3.StateProvisioning, ironic.StateDeploying,
			[]func(*Observed){install, annotate(names.Detached, `{"force":true}`)},
			"", nil, "waiting to remove the node",
		},
		"detach, value that is not JSON": {metal3.StateInspecting, ironic.StateInspectWait, []func(*Observed){annotate(names.Detached, `please`)}, "", nil, "inspecting the hardware"},
		"power-off ends an inspection":   {metal3.StatePoweringOffBeforeDelete, ironic.StateInspectWait, []func(*Observed){deleting}, "ask for abort", nil, ""},
		"power-off after an inspection":  {metal3.StatePoweringOffBeforeDelete, ironic.StateInspectFailed, []func(*Observed){deleting}, "ask for manage", nil, ""},
		"power-off ends manual cleaning": {metal3.StatePoweringOffBeforeDelete, ironic.StateCleanWait, []func(*Observed){deleting, func(o *Observed) {
			o.Node.TargetProvisionState = ironic.StateManageable
		}}, "ask for abort", nil, ""},
		"power-off lets a machine be cleaned": {metal3.StatePoweringOffBeforeDelete, ironic.StateCleanWait, []func(*Observed){deleting, func(o *Observed) {
			o.Node.TargetProvisionState = ironic.StateAvailable
		}}, "", nil, "clean wait"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(c.state, c.node)
			for _, change := range c.given {
				change(o)
			}
			d := Decide(o)
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			g.Expect(d.DropAnnotations).To(Equal(c.drop))
			g.Expect(d.Wait.Message()).To(ContainSubstring(c.says))
		})
	}
}

func TestDeletionWaitsForTheAttachment(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioned, ironic.StateActive)
	now := metav1.NewTime(noon)
	o.Host.DeletionTimestamp = &now
	o.Host.Status.OperationalStatus = metal3.OperationalStatusDetached
	d := Decide(o)
	g.Expect(d.Status.OperationalStatus).To(Equal(metal3.OperationalStatusOK), "the annotation is gone: it is attached, then given back")
	o.Host.Status = d.Status
	g.Expect(Decide(o).Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
}

func TestDeploymentThatIsNoLongerAskedFor(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateDeployFailed)
	o.Host.Spec.Image = &metal3.Image{URL: "http://old", Checksum: "x"}
	asked(o)
	o.Host.Spec.Image = &metal3.Image{URL: "http://new", Checksum: "x"}
	o.Node.LastError = "no such image"
	settled(o)
	d := Decide(o)
	g.Expect(d.Status.Provisioning.State).To(Equal(metal3.StateDeprovisioning))
	g.Expect(d.Status.ErrorType).To(BeEmpty(), "the mistake is corrected already")
	asked(o)
	g.Expect(Decide(o).Status.ErrorType).To(Equal(metal3.ProvisioningError))
}

func TestHardwareFromOutside(t *testing.T) {
	known := &metal3.HardwareDetails{Hostname: "known"}
	for name, c := range map[string]struct {
		annotation string
		disabled   bool
		data, have *metal3.HardwareDetails
		do, event  string
		want       *metal3.HardwareDetails
		dropped    bool
	}{
		"nothing":                             {},
		"HardwareData":                        {data: known, event: "UpdateHardwareDetails", want: known},
		"HardwareData is older than a status": {data: known, have: &metal3.HardwareDetails{Hostname: "x"}, want: &metal3.HardwareDetails{Hostname: "x"}},
		"the annotation":                      {annotation: `{"hostname":"known"}`, do: "save hardware data", event: "UpdateHardwareDetails", want: known, dropped: true},
		"the annotation, misspelt":            {annotation: `{"hostnam":"known"}`, event: "InvalidAnnotationValue", dropped: true},
		"the annotation, known hardware":      {annotation: `{"hostname":"other"}`, have: known, event: "RemoveAnnotation", want: known, dropped: true},
		"the annotation, no inspection": {
			annotation: `{"hostname":"known"}`, disabled: true, have: &metal3.HardwareDetails{Hostname: "x"},
			do: "save hardware data", event: "UpdateHardwareDetails",
			want: known, dropped: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateAvailable, ironic.StateManageable)
			if c.annotation != "" {
				o.Host.Annotations = map[string]string{names.HardwareDetails: c.annotation}
			}
			if c.disabled {
				o.Host.Spec.InspectionMode = metal3.InspectionModeDisabled
			}
			o.Hardware, o.Host.Status.HardwareDetails = c.data, c.have
			d := decideWith(o)
			concernHardware(o, d)
			did := ""
			if d.Do != nil {
				did = d.Do.Name()
			}
			g.Expect(did).To(Equal(c.do))
			g.Expect(d.Status.HardwareDetails).To(Equal(c.want))
			g.Expect(len(d.DropAnnotations) > 0).To(Equal(c.dropped))
			if c.event != "" {
				g.Expect(d.Events).To(ConsistOf(HaveField("Reason", c.event)))
			}
		})
	}
}

func TestPullSecretReachesTheNode(t *testing.T) {
	g := NewWithT(t)
	o := observed(metal3.StateProvisioning, ironic.StateAvailable)
	o.Host.Spec.Image = &metal3.Image{URL: "oci://quay.example/os", OCIAuthSecretName: new("pull")}
	g.Expect(Decide(o).Do).To(Equal(ReadPullSecret{}))
	o.PullSecret = &nodespec.PullSecret{Value: "u:p"}
	update, ok := Decide(o).Do.(nodeaction.Update)
	g.Expect(ok).To(BeTrue())
	g.Expect(update.Desired.InstanceInfo).To(And(
		HaveKeyWithValue("image_pull_secret", "u:p"), HaveKeyWithValue("image_source", "oci://quay.example/os"), HaveKeyWithValue("image_checksum", ironic.Remove)))
	o.PullSecret = &nodespec.PullSecret{Problem: "no such Secret", Reason: "ImageAuthFormatUnsupported"}
	d := Decide(o)
	g.Expect(d.Status.ErrorType).To(Equal(metal3.ProvisioningError))
	g.Expect(d.Events).To(ContainElement(HaveField("Reason", "ImageAuthFormatUnsupported")))
}

func TestDeployInterfaceFollowsTheWish(t *testing.T) {
	image := func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "u"} }
	for name, c := range map[string]struct {
		have   string
		change func(*metal3.BareMetalHost)
		want   string   // empty leaves it
		reset  []string // to Ironic's default
	}{
		"image after a live ISO":       {"ramdisk", image, "", []string{"deploy"}},
		"image after a custom method":  {"custom-agent", image, "", []string{"deploy"}},
		"image with a site's own":      {"ansible", image, "", nil},
		"image, to be found out":       {"autodetect", image, "", nil},
		"custom method after an image": {"direct", wantInstall, "custom-agent", nil},
		"live ISO after an image":      {"direct", func(h *metal3.BareMetalHost) { h.Spec.Image = &metal3.Image{URL: "u", DiskFormat: new("live-iso")} }, "ramdisk", nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(metal3.StateProvisioning, ironic.StateAvailable)
			full(o).Interfaces.Deploy = c.have
			c.change(o.Host)
			g := NewWithT(t)
			d := wanted(o)
			g.Expect(d.Interfaces.Deploy).To(Equal(c.want))
			g.Expect(d.ResetInterfaces).To(Equal(c.reset))
			if o.Applied = &d; c.reset != nil {
				g.Expect(wanted(o).Interfaces.Deploy).To(Equal("direct"), "Ironic's default writes no image")
			}
		})
	}
}
