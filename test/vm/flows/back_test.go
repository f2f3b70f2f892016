//go:build machine

package flows

import (
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/api/names"
)

// thereAndBack is the life of a host: installed by the hub, given back, installed
// without a hub onto its NVMe disk, given back, and with a software RAID.
func thereAndBack(f *flow) {
	h := installed(f)
	f.back(h, 0)
	size := h.Config.Disks[1].SizeMiB>>10 - 1
	f.installCoreOS(h, "one-b1", 1, &metal3v1.RootDeviceHints{SerialNumber: h.Config.Disks[1].Serial, MinSizeGigabytes: size})
	f.Expect(h.Patch(f.Context(), map[string]any{"spec": map[string]any{"customDeploy": nil}})).To(Succeed())
	f.available(h, 1)
	f.softwareRAID(h)
}

// softwareRAID: IPA makes a mirror of both disks.
func (f *flow) softwareRAID(h *Host) {
	f.Helper()
	f.Expect(h.Patch(f.Context(), map[string]any{"spec": map[string]any{"raid": map[string]any{
		"softwareRAIDVolumes": []any{map[string]any{"level": "1"}},
	}}})).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StatePreparing, bootLimit)).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StateAvailable, bootLimit)).To(Succeed())
	for i := range h.Config.Disks {
		f.Expect(RAIDMember(h.Machine.DiskPath(i))).To(BeTrue(), "disk %d", i)
	}
}

// back gives an installed host back: its disk is empty, and it is available.
func (f *flow) back(h *Host, disk int) {
	f.Helper()
	f.Expect(Signatures(h.Machine.DiskPath(disk))).NotTo(BeEmpty())
	f.Expect(h.Patch(f.Context(), map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{names.GiveBack: h.Name}, "labels": map[string]any{names.InfraEnvLabel: nil},
	}})).To(Succeed())
	f.available(h, disk)
}

// available waits until the host is back in the pool with an empty disk.
func (f *flow) available(h *Host, disk int) {
	f.Helper()
	f.Expect(h.UntilState(f.Context(), metal3v1.StateDeprovisioning, bootLimit)).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StateAvailable, bootLimit)).To(Succeed())
	f.Expect(Signatures(h.Machine.DiskPath(disk))).To(BeEmpty(), "deprovisioning erases the disk")
}

// installCoreOS deploys an available host without a hub onto the disk that the
// hints mean.
func (f *flow) installCoreOS(h *Host, word string, disk int, hints *metal3v1.RootDeviceHints) {
	f.Helper()
	console := h.Console()
	secret := word + "-user-data"
	f.Expect(f.world.create(f.Context(), &corev1.Secret{
		ObjectMeta: meta(secret), StringData: map[string]string{"userData": ignitionToSay(word)},
	})).To(Succeed())
	f.Expect(h.Patch(f.Context(), map[string]any{"spec": map[string]any{
		"rootDeviceHints": hints,
		"userData":        map[string]any{"name": secret, "namespace": Namespace},
		"customDeploy":    map[string]any{"method": names.InstallCoreOS},
	}})).To(Succeed())
	f.Expect(h.UntilState(f.Context(), metal3v1.StateProvisioned, bootLimit+installLimit)).To(Succeed())
	line, err := console.Wait(f.Context(), saidInstalled(word), installLimit)
	f.Expect(err).NotTo(HaveOccurred())
	h.Timeline.Happened(time.Now(), line[0])
	for i := range h.Config.Disks {
		held, err := Signatures(h.Machine.DiskPath(i))
		f.Expect(err).NotTo(HaveOccurred())
		if i == disk {
			f.Expect(held).To(ContainElement("GPT"), "disk %d is the one that is meant", i)
		} else {
			f.Expect(held).To(BeEmpty(), "disk %d is left alone", i)
		}
	}
}
