//go:build machine

package flows

import (
	"fmt"
	"regexp"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/lan"
)

// How long parts of a flow may take on two busy cores without hardware
// virtualization; nothing is measured by them.
const (
	bootLimit    = 45 * time.Minute
	installLimit = 45 * time.Minute
)

// What a host shows while its BMC reads the medium, and while the installer writes.
const (
	reading = "BMC reads the live image"
	writing = "Writing image to disk"
)

// installed is the whole way, from the BMC's address to a system that speaks from
// its own disk.
func installed(f *flow) *Host {
	const name, word = "one", "one-a1"
	h := f.host(Spec{Name: name})
	disk := h.Machine.DiskPath(0)
	f.Expect(UseDisk(f.Context(), disk)).To(Succeed())
	f.Expect(Signatures(disk)).NotTo(BeEmpty(), "the disk holds something before")
	f.Expect(f.world.CreateInfraEnv(f.Context())).To(Succeed())
	f.Expect(f.world.CreateCluster(f.Context(), name, 1)).To(Succeed())
	console := h.Console()
	f.Expect(h.Create(f.Context(), both(ForCluster(name, "master"), SayInstalled(word)))).To(Succeed())

	f.inspected(h)
	// Cleaning is what the first deployment begins with.
	f.Expect(h.Until(f.Context(), "cleaned", bootLimit, func(v view.View) bool { return v.Step == names.StartAssistedInstall })).To(Succeed())
	f.Expect(Signatures(disk)).To(BeEmpty(), "cleaning erases what the disk held")

	f.arrives(h, console, word, name)
	f.Expect(h.Timeline.Highest(reading)).To(BeNumerically(">", 0), "how far the BMC has read the medium was seen")
	return h
}

// both makes one change of two.
func both(changes ...func(*metal3v1.BareMetalHost)) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		for _, change := range changes {
			change(h)
		}
	}
}

// inspected waits for the inspection and compares what IPA has found with what
// QEMU was given.
func (f *flow) inspected(h *Host) {
	f.Helper()
	f.Expect(h.Until(f.Context(), "inspected", bootLimit, func(v view.View) bool {
		return v.State != "" && v.State != string(metal3v1.StateRegistering) && v.State != string(metal3v1.StateInspecting)
	})).To(Succeed())
	data := &metal3v1.HardwareData{}
	f.Expect(f.world.Client.Get(f.Context(), client.ObjectKey{Namespace: Namespace, Name: h.Name}, data)).To(Succeed())
	found := data.Spec.HardwareDetails
	f.Expect(found).NotTo(BeNil())
	f.Expect(found.CPU.Count).To(Equal(h.Config.CPUs))
	f.Expect(found.CPU.Arch).To(Equal("x86_64"))
	f.Expect(found.RAMMebibytes).To(Equal(h.Config.MemoryMiB))
	f.Expect(found.SystemVendor).To(Equal(metal3v1.HardwareSystemVendor{Manufacturer: "Ironflow", ProductName: "Test machine", SerialNumber: h.Name}))
	f.Expect(found.Storage).To(HaveLen(len(h.Config.Disks)))
	for _, disk := range h.Config.Disks {
		f.Expect(found.Storage).To(ContainElement(And(
			HaveField("SizeBytes", metal3v1.Capacity(disk.SizeMiB)<<20), HaveField("SerialNumber", disk.Serial),
			HaveField("WWN", shownWWN(disk)), HaveField("Type", diskTypes[disk.Kind]),
		)))
	}
	f.Expect(found.NIC).NotTo(BeEmpty())
	for _, nic := range h.Config.NICs {
		f.Expect(found.NIC).To(ContainElement(And(HaveField("MAC", nic.MAC), HaveField("LLDP", HaveValue(Equal(metal3v1.LLDP{
			SwitchID: f.world.Network.Switch(), PortID: nic.Tap, SwitchSystemName: lan.SwitchName,
		}))))), "where the switch says that the card is plugged in")
	}
}

// What Linux makes of QEMU's disks.
var diskTypes = map[vm.DiskKind]metal3v1.DiskType{vm.DiskSCSI: metal3v1.SSD, vm.DiskSATA: metal3v1.SSD, vm.DiskNVMe: metal3v1.NVME, vm.DiskVirtio: metal3v1.HDD}

// shownWWN is the world wide name that Linux shows. It makes one of an NVMe disk's
// vendor, serial number, model and namespace.
func shownWWN(disk vm.Disk) string {
	if disk.Kind != vm.DiskNVMe {
		return disk.WWN
	}
	return fmt.Sprintf("nvme.1b36-%x-%x-00000001", disk.Serial, "QEMU NVMe Ctrl")
}

// arrives follows the installation from the agent's registration to the installed
// system's own word.
func (f *flow) arrives(h *Host, console *Console, word, cluster string) {
	f.Helper()
	f.Eventually(func() (agentv1.Agent, error) { return f.agentOf(h) }).WithTimeout(bootLimit).WithPolling(look).
		Should(HaveField("Spec", And(HaveField("Approved", true), HaveField("ClusterDeploymentName", HaveField("Name", cluster)))), "the agent has registered and is approved")
	h.Timeline.Happened(time.Now(), "the agent has registered and is approved")
	line, err := console.Wait(f.Context(), saidInstalled(word), installLimit)
	f.Expect(err).NotTo(HaveOccurred())
	h.Timeline.Happened(time.Now(), line[0])
	f.Expect(line[1]).To(Equal(h.Name), "the name that the hub gives the host")
	f.Expect(line[2]).To(MatchRegexp(`^/dev/`), "the root device is a disk")
	f.Expect(h.UntilState(f.Context(), metal3v1.StateProvisioned, installLimit)).To(Succeed())

	f.Expect(h.Timeline.Highest(writing)).To(BeNumerically(">", 0), "the installer's stage was seen, with its percentage")
}

// agentOf is the Agent of the host, empty as long as there is none.
func (f *flow) agentOf(h *Host) (agentv1.Agent, error) {
	var agents agentv1.AgentList
	err := f.world.Client.List(f.Context(), &agents, client.InNamespace(Namespace), client.MatchingLabels{names.AgentHostLabel: h.Name})
	if err != nil || len(agents.Items) == 0 {
		return agentv1.Agent{}, err
	}
	return agents.Items[0], nil
}

// saidInstalled is the line of the unit, with the host's name and the root device.
func saidInstalled(word string) *regexp.Regexp {
	return regexp.MustCompile(`FLOW-INSTALLED ` + regexp.QuoteMeta(word) + ` host=(\S+) root=(\S+)`)
}
