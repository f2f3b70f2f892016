package policy

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

func TestArchitecture(t *testing.T) {
	arm := &metal3.HardwareDetails{CPU: metal3.CPU{Arch: "aarch64"}}
	for name, c := range map[string]struct {
		given func(*Observed)
		want  string
	}{
		"that of the program":  {func(*Observed) {}, "x86_64"},
		"HardwareData":         {func(o *Observed) { o.Hardware = arm }, "aarch64"},
		"status.hardware":      {func(o *Observed) { o.Host.Status.HardwareDetails = arm }, "aarch64"},
		"the spec before all":  {func(o *Observed) { o.Hardware, o.Host.Spec.Architecture = arm, "riscv64" }, "riscv64"},
		"hardware without one": {func(o *Observed) { o.Hardware = &metal3.HardwareDetails{} }, "x86_64"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateInspecting, ironic.StateManageable)
			o.Settings.Architecture = "x86_64"
			c.given(o)
			g.Expect(wanted(o).Properties).To(HaveKeyWithValue("cpu_arch", c.want))
			g.Expect(nodespec.Enrolment(o.NodeInput()).Properties).To(HaveKeyWithValue("cpu_arch", c.want))
			g.Expect(nodespec.ImageSpec(o.NodeInput()).Architecture).To(Equal(c.want))
			g.Expect(o.Host.Spec.Architecture).NotTo(Equal("aarch64"), "the spec is the user's")
		})
	}
}

func TestNetworkOfTheLiveImage(t *testing.T) {
	data := map[string]any{"links": []any{}}
	for name, c := range map[string]struct {
		given    func(*Observed)
		want     map[string]any
		external any
	}{
		"through the node":                {given: func(o *Observed) { o.NetworkData = data }, want: data},
		"no longer named: removed":        {given: func(o *Observed) { full(o).NetworkData = data }, want: map[string]any{}},
		"neither named nor there":         {given: func(*Observed) {}},
		"within the image":                {given: func(o *Observed) { o.Settings.BuildImages, o.Image.Ready = true, true }},
		"not read: left as it is":         {given: func(o *Observed) { o.BMC.Problem = "no Secret" }},
		"a host that goes: left as it is": {given: func(o *Observed) { now := metav1.NewTime(noon); o.Host.DeletionTimestamp = &now }},
		"an address of IPv6":              {given: func(o *Observed) { o.BMC.Access.IPv6 = true }, external: "http://[fd00::1]:6180"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateInspecting, ironic.StateManageable)
			o.Settings.ExternalURLv6 = "http://[fd00::1]:6180"
			c.given(o)
			d := wanted(o)
			g.Expect(d.NetworkData).To(Equal(c.want))
			if c.external == nil {
				g.Expect(d.DriverInfo).NotTo(HaveKey("external_http_url"))
				return
			}
			g.Expect(d.DriverInfo).To(HaveKeyWithValue("external_http_url", c.external))
			g.Expect(nodespec.Enrolment(o.NodeInput()).DriverInfo).To(HaveKeyWithValue("external_http_url", c.external))
		})
	}
}

func TestLiveImageOfAnArchitecture(t *testing.T) {
	s := Settings{Settings: nodespec.Settings{
		DeployISO: "http://images/x.iso", DeployKernel: "http://images/x.kernel", DeployRamdisk: "http://images/x.initrd",
		ByArchitecture: map[string]nodespec.LiveImageURLs{
			"aarch64": {ISO: "http://images/arm.iso", Kernel: "http://images/arm.kernel", Ramdisk: "http://images/arm.initrd"},
		},
	}}
	for name, c := range map[string]struct {
		architecture string
		iso          bool
		want         map[string]any
	}{
		"ISO":                           {architecture: "x86_64", iso: true, want: map[string]any{"deploy_iso": "http://images/x.iso"}},
		"ISO of an architecture":        {architecture: "aarch64", iso: true, want: map[string]any{"deploy_iso": "http://images/arm.iso"}},
		"kernel and ramdisk":            {architecture: "x86_64", want: map[string]any{"deploy_kernel": "http://images/x.kernel", "deploy_ramdisk": "http://images/x.initrd"}},
		"the pair of an architecture":   {architecture: "aarch64", want: map[string]any{"deploy_kernel": "http://images/arm.kernel", "deploy_ramdisk": "http://images/arm.initrd"}},
		"an architecture that has none": {architecture: "riscv64", iso: true, want: map[string]any{"deploy_iso": "http://images/x.iso"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateInspecting, ironic.StateManageable)
			o.Settings, o.Host.Spec.Architecture, o.BMC.Access.TakesISO = s, c.architecture, c.iso
			info := wanted(o).DriverInfo
			for _, key := range []string{"deploy_iso", "deploy_kernel", "deploy_ramdisk"} {
				want, named := c.want[key]
				if !named {
					want = ironic.Remove
				}
				g.Expect(info).To(HaveKeyWithValue(key, want))
			}
		})
	}
}
