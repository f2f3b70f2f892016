package system

import (
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/source"
)

// hypervisors are how the texts of DMI begin on virtual machines. Those that
// bare machines of the same maker carry as well (Amazon EC2, Microsoft
// Corporation) are not here: there, the firmware's own word decides.
var hypervisors = []string{
	"QEMU", "KVM", "KubeVirt", "OpenStack", "RHEV", "oVirt", "VMware", "VMW", "innotek GmbH", "VirtualBox", "Xen", "HVM domU", "Bochs", "Parallels", "BHYVE", "AHV",
	"Hyper-V", "Apple Virtualization", "Google Compute Engine", "Virtual Machine",
}

// virtual tells whether the machine is a virtual one. On x86 the processor
// tells (flag "hypervisor"); elsewhere DMI, the firmware's own flag and the
// device tree do.
func virtual(m source.Machine, table smbios.Table, architecture string) bool {
	raw, err := m.Read(cpuInfoFile)
	if err == nil && hasFlag(string(raw), "hypervisor") {
		// The control domain of Xen runs on the bare machine.
		return !strings.Contains(m.Line("/proc/xen/capabilities"), "control_d")
	}
	for _, file := range []string{"product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"} {
		text := m.Line(dmiDir, file)
		for _, prefix := range hypervisors {
			if strings.HasPrefix(text, prefix) {
				return true
			}
		}
	}
	switch architecture {
	case "x86_64", "i686":
		return false // a hypervisor that hides its flag hides the rest too
	}
	return table.VirtualMachine() || virtualTree(m)
}

// hasFlag looks for a flag of the first processor.
func hasFlag(cpuinfo, flag string) bool {
	for line := range strings.Lines(cpuinfo) {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) != "flags" {
			continue
		}
		for f := range strings.FieldsSeq(value) {
			if f == flag {
				return true
			}
		}
		return false
	}
	return false
}

// virtualTree looks for what hypervisors put into the device tree.
func virtualTree(m source.Machine) bool {
	for _, node := range m.Names("/proc/device-tree") {
		if node == "hypervisor" || strings.HasPrefix(node, "fw-cfg@") {
			return true
		}
	}
	return false
}
