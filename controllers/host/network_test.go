package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/ironic"
)

// Where no live image is built per host, a host's static network reaches it through
// its node.
func TestPreprovisioningNetworkDataReachesTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), Settings{}, func(h *metal3.BareMetalHost) { h.Spec.PreprovisioningNetworkDataName = "net" })
		defer w.stop()
		w.until("missing", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring(`Secret "net"`))
		g.Expect(w.sim.Nodes()).To(BeEmpty(), "a machine is not booted without its network")

		net := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "net"},
			Data:       map[string][]byte{"networkData": []byte("links:\n- id: eth0")},
		}
		g.Expect(w.kube.Create(t.Context(), net)).To(Succeed())
		w.untilState(metal3.StateAvailable, time.Hour)
		w.until("at rest", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		data := func() any { n, _ := w.sim.Node(nodeName(w.host())); return n.Fields["network_data"] }
		g.Expect(data()).To(Equal(map[string]any{"links": []any{map[string]any{"id": "eth0"}}}))

		g.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(net), net)).To(Succeed())
		net.Data["networkData"] = []byte("links: []")
		g.Expect(w.kube.Update(t.Context(), net)).To(Succeed())
		w.sim.ResetCounts()
		let(time.Minute)
		g.Expect(w.sim.Counts()).NotTo(HaveKey(HavePrefix("PATCH")), "a host at rest is left alone")
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(data()).To(Equal(map[string]any{"links": []any{}}), "the next boot of the live image has the newest")
	})
}

func TestNetworkOfTheLiveImage(t *testing.T) {
	data := map[string]any{"links": []any{}}
	for name, c := range map[string]struct {
		given    func(*Observed)
		want     map[string]any
		external any
	}{
		"through the node":                {given: func(o *Observed) { o.NetworkData = data }, want: data},
		"no longer named: removed":        {given: func(o *Observed) { o.Node.NetworkData = data }, want: map[string]any{}},
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
			d := desired(o)
			g.Expect(d.NetworkData).To(Equal(c.want))
			if c.external == nil {
				g.Expect(d.DriverInfo).NotTo(HaveKey(keyExternalURL))
				return
			}
			g.Expect(d.DriverInfo).To(HaveKeyWithValue(keyExternalURL, c.external))
			g.Expect(enrolment(o).DriverInfo).To(HaveKeyWithValue(keyExternalURL, c.external))
		})
	}
}

func TestNoProvisioningNetwork(t *testing.T) {
	for address, refused := range map[string]bool{
		"redfish-virtualmedia://bmc.test/redfish/v1/Systems/1": false,
		"redfish-uefihttp://bmc.test/redfish/v1/Systems/1":     false,
		"ipmi://192.0.2.1":                        true,
		"redfish://bmc.test/redfish/v1/Systems/1": true,
	} {
		t.Run(address, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateRegistering, ironic.StateEnroll)
			o.Host.Spec.BMC.Address, o.Host.Spec.BootMACAddress = address, "52:54:00:00:00:01"
			access, err := accessOf(o.Host)
			g.Expect(err).NotTo(HaveOccurred())
			o.BMC.Access, o.Settings.NoProvisioningNetwork = access, true
			g.Expect(new(Reconciler).observeNetwork(t.Context(), o)).To(Succeed())
			if !refused {
				g.Expect(o.BMC.Problem).To(BeEmpty())
				return
			}
			d := decide(o)
			g.Expect(d.Status.ErrorType).To(Equal(metal3.RegistrationError))
			g.Expect(d.Status.ErrorMessage).To(ContainSubstring("needs a provisioning network"))
		})
	}
}

func TestLiveImageOfAnArchitecture(t *testing.T) {
	s := Settings{
		DeployISO: "http://images/x.iso", DeployKernel: "http://images/x.kernel", DeployRamdisk: "http://images/x.initrd",
		ByArchitecture: map[string]LiveImageURLs{
			"aarch64": {ISO: "http://images/arm.iso", Kernel: "http://images/arm.kernel", Ramdisk: "http://images/arm.initrd"},
		},
	}
	for name, c := range map[string]struct {
		architecture string
		iso          bool
		want         map[string]any
	}{
		"ISO":                           {architecture: "x86_64", iso: true, want: map[string]any{keyISO: "http://images/x.iso"}},
		"ISO of an architecture":        {architecture: "aarch64", iso: true, want: map[string]any{keyISO: "http://images/arm.iso"}},
		"kernel and ramdisk":            {architecture: "x86_64", want: map[string]any{keyKernel: "http://images/x.kernel", keyRamdisk: "http://images/x.initrd"}},
		"the pair of an architecture":   {architecture: "aarch64", want: map[string]any{keyKernel: "http://images/arm.kernel", keyRamdisk: "http://images/arm.initrd"}},
		"an architecture that has none": {architecture: "riscv64", iso: true, want: map[string]any{keyISO: "http://images/x.iso"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateInspecting, ironic.StateManageable)
			o.Settings, o.Host.Spec.Architecture, o.BMC.Access.TakesISO = s, c.architecture, c.iso
			info := desired(o).DriverInfo
			for _, key := range []string{keyISO, keyKernel, keyRamdisk} {
				want, named := c.want[key]
				if !named {
					want = ironic.Remove
				}
				g.Expect(info).To(HaveKeyWithValue(key, want))
			}
		})
	}
}
