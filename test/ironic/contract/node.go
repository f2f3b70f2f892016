package contract

import (
	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
)

func enrol(w *World) {
	m := w.NewMachine(w.T)
	e := ironic.Enrolment{
		Name: w.Name(), Driver: m.Driver, DriverInfo: m.DriverInfo,
		Properties: map[string]any{"cpu_arch": "x86_64"}, Interfaces: ironic.Interfaces{Deploy: "ramdisk", Inspect: "redfish"},
	}
	n, err := w.Gateway.Enrol(w.T.Context(), e)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(n.ProvisionState).To(Equal(ironic.StateEnroll))
	w.Expect(n.Interfaces.Deploy).To(Equal("ramdisk"))
	w.Expect(n.Interfaces.Inspect).To(Equal("redfish"))
	w.Expect(n.DriverInfo).To(HaveKeyWithValue("redfish_password", ironic.Masked))
	w.Expect(n.Properties).To(HaveKeyWithValue("cpu_arch", "x86_64"))
	w.Expect(n.UpdatedAt).To(BeZero(), "never changed")
	again, err := w.Gateway.Enrol(w.T.Context(), e)
	w.Expect(err).NotTo(HaveOccurred(), "the first answer may have been lost")
	w.Expect(again.UUID).To(Equal(n.UUID))
	e.UUID, e.Name = n.UUID, w.Name()+"-other"
	again, err = w.Gateway.Enrol(w.T.Context(), e)
	w.Expect(err).NotTo(HaveOccurred(), "the node was renamed since")
	w.Expect(again.UUID).To(Equal(n.UUID))
	w.Expect(again.Name).To(Equal(n.Name))
}

func identity(w *World) {
	n, _ := w.Enrol()
	name := w.Name()
	d := ironic.Desired{
		Name: &name, DisablePowerOff: new(true), Properties: ironic.Fields{"cpu_arch": "aarch64"},
		DriverInfo:  ironic.Fields{"redfish_username": "other", "redfish_password": "another secret"},
		NetworkData: map[string]any{"links": []any{}, "networks": []any{}, "services": []any{}},
	}
	n = w.Update(n, d)
	w.Expect(n.Name).To(Equal(name))
	w.Expect(n.DisablePowerOff).To(BeTrue())
	w.Expect(n.Properties).To(HaveKeyWithValue("cpu_arch", "aarch64"))
	w.Expect(n.DriverInfo).To(And(HaveKeyWithValue("redfish_username", "other"), HaveKeyWithValue("redfish_password", ironic.Masked)))
	w.Expect(n.NetworkData).To(HaveKey("links"))
	before := w.Recorder.mark()
	_, changed, err := w.Gateway.Update(w.T.Context(), n, d)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(changed).To(BeFalse(), "nothing differs, as far as can be seen")
	w.Expect(w.Recorder.since(before)).To(BeEmpty())
	d.SendSecrets = true
	_, changed, err = w.Gateway.Update(w.T.Context(), n, d)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(changed).To(BeTrue(), "new credentials")
}

func ports(w *World) {
	n, m := w.Enrol()
	second := w.NewMachine(w.T).MAC
	want := []ironic.Port{{MAC: m.MAC}, {MAC: second}}
	w.Expect(w.Gateway.EnsurePorts(w.T.Context(), n.UUID, want)).Error().NotTo(HaveOccurred(), "pxe_enabled differs, and one is missing")
	before := w.Recorder.mark()
	w.Expect(w.Gateway.EnsurePorts(w.T.Context(), n.UUID, want)).Error().NotTo(HaveOccurred())
	w.Expect(w.Recorder.since(before)).To(ConsistOf("GET /v1/ports?node_uuid={node_uuid}"), "nothing to do")
	other, _ := w.Enrol()
	_, err := w.Gateway.EnsurePorts(w.T.Context(), other.UUID, want)
	w.Expect(err).To(BeEquivalentTo(&ironic.MACConflictError{MAC: m.MAC, OtherNode: n.Name, OtherID: n.UUID}))
	w.Expect(w.Gateway.RemovePorts(w.T.Context(), n.UUID, []string{second, "52:54:00:ff:ff:fe"})).To(Succeed(), "one is there, one is not")
	_, found, err := w.Gateway.NodeOfPort(w.T.Context(), second)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(found).To(BeFalse())
}

func configure(w *World) {
	n := w.Manageable()
	n = w.Update(n, ironic.Desired{
		AutomatedClean: new(false),
		DriverInfo:     ironic.Fields{"deploy_iso": w.ImageURL, "kernel_append_params": "%default% ip=dhcp", "deploy_ramdisk": ironic.Remove},
		Properties:     ironic.Fields{"capabilities": "boot_mode:uefi,secure_boot:true"},
	})
	w.Expect(*n.AutomatedClean).To(BeFalse())
	w.Expect(n.DriverInfo).To(HaveKeyWithValue("kernel_append_params", "%default% ip=dhcp"))
	n = w.Update(n, ironic.Desired{DriverInfo: ironic.Fields{"kernel_append_params": ironic.Remove}})
	w.Expect(n.DriverInfo).NotTo(HaveKey("kernel_append_params"))
	w.Expect(n.DriverInfo).To(HaveKey("deploy_iso"))
}

func instance(w *World) {
	n := w.Available()
	const id = "0e3cbf1c-0a0a-4a0a-8a0a-000000000001"
	deploy := ironic.Interfaces{Deploy: "custom-agent"}
	n = w.Update(n, ironic.Desired{
		InstanceUUID: new(id), Interfaces: deploy,
		InstanceInfo: ironic.Fields{
			"capabilities": map[string]any{"secure_boot": "true"}, "image_source": "http://images.test/a.img",
			"root_device": map[string]any{"size": ">= 10"}, "image_pull_secret": "hush hush", "boot_iso": ironic.Remove,
		},
		DriverInfo: ironic.Fields{"force_persistent_boot_device": "Default"},
	})
	w.Expect(n.InstanceUUID).NotTo(BeEmpty())
	w.Expect(n.InstanceInfo).To(HaveKeyWithValue("root_device", HaveKeyWithValue("size", ">= 10")))
	w.Expect(n.InstanceInfo).To(HaveKeyWithValue("image_pull_secret", ironic.Masked))
	n = w.Update(n, ironic.Desired{InstanceInfo: ironic.Fields{"image_source": ironic.Remove}})
	w.Expect(n.InstanceInfo).NotTo(HaveKey("image_source"))
	n = w.Update(n, ironic.Desired{InstanceUUID: new("")})
	w.Expect(n.InstanceUUID).To(BeEmpty())
}

func validate(w *World) {
	n := w.Manageable()
	failures, err := w.Gateway.Validate(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(failures).NotTo(ContainElement(HaveField("Interface", "power")))
	n = w.Update(n, ironic.Desired{Interfaces: ironic.Interfaces{Deploy: "direct"}})
	failures, err = w.Gateway.Validate(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(failures).To(ContainElement(And(HaveField("Interface", "deploy"), HaveField("Reason", ContainSubstring("image_source")))))
}

func maintenance(w *World) {
	n, _ := w.Enrol()
	w.Expect(w.Gateway.SetMaintenance(w.T.Context(), n.UUID, true, "a disk is being replaced")).To(Succeed())
	n, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(n.Maintenance).To(BeTrue())
	w.Expect(n.MaintenanceReason).To(Equal("a disk is being replaced"))
	n = w.Update(n, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": "rotated", "redfish_verify_ca": false}, SendSecrets: true})
	w.Expect(n.DriverInfo).To(HaveKeyWithValue("redfish_verify_ca", false), "fields can be changed all the same")
	w.Expect(w.Gateway.SetMaintenance(w.T.Context(), n.UUID, false, "")).To(Succeed())
	n, err = w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(n.Maintenance).To(BeFalse())
}

func remove(w *World) {
	n := w.Available()
	w.Update(n, ironic.Desired{InstanceUUID: new("0e3cbf1c-0a0a-4a0a-8a0a-000000000002")})
	w.Accepted(func() error { return w.Gateway.Delete(w.T.Context(), n.UUID) })
	w.Expect(w.Gateway.Delete(w.T.Context(), n.UUID)).To(Succeed(), "gone already")
	_, err := w.Gateway.Find(w.T.Context(), ironic.Identity{UUID: n.UUID, Name: n.Name})
	w.Expect(err).To(MatchError(ironic.ErrNotFound), "its ports are gone as well")
	enrolled, _ := w.Enrol()
	w.Expect(w.Gateway.Delete(w.T.Context(), enrolled.UUID)).To(Succeed(), "never verified")
	manageable := w.Manageable()
	w.Update(manageable, ironic.Desired{InstanceUUID: new("0e3cbf1c-0a0a-4a0a-8a0a-000000000004")})
	w.Accepted(func() error { return w.Gateway.Delete(w.T.Context(), manageable.UUID) })
}

func firmware(w *World) {
	n := w.Manageable()
	_, err := w.Gateway.Firmware(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
}

func bios(w *World) {
	n := w.Manageable()
	_, err := w.Gateway.BIOS(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
}
