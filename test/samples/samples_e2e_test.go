//go:build e2e

package samples_test

import (
	"strings"
	"sync/atomic"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/lab/emulator"
)

// sample is a folder of config/samples with one machine.
type sample struct {
	folder string
	// address is that of the BMC in the sample, mac that of its network card.
	address, mac string
	// scheme is the one that the sample's address is replaced by; empty keeps that of virtual media.
	scheme string
	system simulator.System
	// boots is what the machine boots its ramdisk from.
	boots emulator.BootDevice
	// wished expects what the sample asks of the machine.
	wished func(m *machine)
}

// samples are the first five of the README.
var samples = []sample{
	{folder: "virtual-media", address: "redfish-virtualmedia://192.0.2.110/redfish/v1/Systems/1", mac: "52:54:00:00:00:10", boots: emulator.BootCd},
	// No BMC that speaks IPMI is at hand: the sample says that redfish:// boots over the network as well.
	{folder: "network-boot", address: "ipmi://192.0.2.111", mac: "52:54:00:00:00:11", scheme: "redfish", boots: emulator.BootPxe, wished: overTheNetwork},
	{
		folder: "raid", address: "redfish-virtualmedia://192.0.2.112/redfish/v1/Systems/1", mac: "52:54:00:00:00:12", boots: emulator.BootCd,
		system: simulator.System{Storage: fiveDrives()}, wished: volumes,
	},
	{folder: "bios-settings", address: "redfish-virtualmedia://192.0.2.113/redfish/v1/Systems/1", mac: "52:54:00:00:00:13", boots: emulator.BootCd, wished: settings},
	{folder: "firmware", address: "redfish-virtualmedia://192.0.2.114/redfish/v1/Systems/1", mac: "52:54:00:00:00:14", boots: emulator.BootCd, wished: firmware},
}

// TestSamplesOnTheRealIronic applies each sample as it is written, but for addresses and accounts. What it asks for is on the machine,
// which is then installed with the image of the first sample, and given back and cleaned when that is taken away, as its comment says.
func TestSamplesOnTheRealIronic(t *testing.T) {
	w := newWorld(t)
	image := w.imageOf(t, samples[0])
	var driven atomic.Int32
	t.Run("samples", func(t *testing.T) {
		for _, s := range samples {
			t.Run(s.folder, func(t *testing.T) {
				t.Parallel()
				driven.Add(1)
				w.drive(t, s, image)
			})
		}
	})
	NewWithT(t).Expect(w.disks.written()).To(BeEquivalentTo(driven.Load()), "each machine got its image once, with the checksum that the sample names")
}

// drive takes a machine from the sample to installed, and back.
func (w *world) drive(t *testing.T, s sample, image *metal3.Image) {
	t.Helper()
	g := NewWithT(t)
	m := w.apply(t, s)
	if m.host(t).Spec.Image == nil {
		m.until(t, "available", metal3.StateAvailable)
		m.edit(t, func(h *metal3.BareMetalHost) { h.Spec.Image = image.DeepCopy() })
	}
	m.until(t, "installed", metal3.StateProvisioned)
	g.Expect(m.machine.Boots()).To(And(Not(BeEmpty()), HaveEach(s.boots)))
	g.Expect(m.host(t).Status.Provisioning.Image).To(Equal(*image))
	if s.wished != nil {
		s.wished(m)
	}
	m.edit(t, func(h *metal3.BareMetalHost) { h.Spec.Image = nil })
	m.until(t, "available again", metal3.StateAvailable)
	g.Expect(w.disks.timesErased(m.name())).To(Equal(2), "before its deployment, and after it")
	if s.wished != nil {
		s.wished(m) // what was asked of the hardware stays
	}
	g.Expect(w.Kube.Delete(t.Context(), m.host(t))).To(Succeed())
	m.untilGone(t)
	g.Expect(m.node()).To(BeEmpty())
}

// overTheNetwork: Ironic made what iPXE reads, of the kernel and the ramdisk of the live image.
func overTheNetwork(m *machine) {
	g := NewWithT(m.t)
	n := m.node()
	g.Expect(n["boot_interface"]).To(Equal("ipxe"))
	g.Expect(m.world.files.read()).To(ContainElements("/kernel", "/ramdisk"))
}

// fiveDrives are as many as the volumes of the sample have.
func fiveDrives() []simulator.Storage {
	storage := simulator.DefaultStorage()
	fifth := storage[0].Drives[0]
	fifth.ID, fifth.SerialNumber = "Disk.4", "SER-Disk.4"
	storage[0].Drives = append(storage[0].Drives, fifth)
	return storage
}

// volumes are those of the sample, as the BMC shows them.
func volumes(m *machine) {
	var list struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	m.redfish("/Storage/RAID.1/Volumes", &list)
	found := map[string]string{}
	for _, member := range list.Members {
		var v struct{ Name, RAIDType string }
		_, path, _ := strings.Cut(member.ID, m.machine.System)
		m.redfish(path, &v)
		found[v.Name] = v.RAIDType
	}
	NewWithT(m.t).Expect(found).To(Equal(map[string]string{"system": "RAID1", "data": "RAID5"}))
}

// settings are those of the sample, at the BMC and in the object.
func settings(m *machine) {
	g := NewWithT(m.t)
	var bios struct{ Attributes map[string]any }
	m.redfish("/Bios", &bios)
	want := And(HaveKeyWithValue("ProcVirtualization", "Enabled"), HaveKeyWithValue("LogicalProc", "Disabled"))
	g.Expect(bios.Attributes).To(want)
	shown, _, err := unstructured.NestedMap(m.get("HostFirmwareSettings").Object, "status", "settings")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(shown).To(want)
}

// firmware is that of the sample. The simulated BMC reads no file: it takes component and version off the file's name.
func firmware(m *machine) {
	g := NewWithT(m.t)
	list, _, err := unstructured.NestedSlice(m.get("HostFirmwareComponents").Object, "status", "components")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(list).To(ContainElements(
		And(HaveKeyWithValue("component", "bmc"), HaveKeyWithValue("currentVersion", "2.10")),
		And(HaveKeyWithValue("component", "bios"), HaveKeyWithValue("currentVersion", "1.7")),
	))
}
