package network

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/source"
)

const pciDir = "/sys/bus/pci/devices"

// pciSegment matches one PCI function in a path of sysfs.
var pciSegment = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// pciFunction is the PCI function that a device hangs on: the last one in its
// path; empty when there is none.
func pciFunction(device string) string {
	parts := strings.Split(device, "/")
	for _, part := range slices.Backward(parts) {
		if pciSegment.MatchString(part) {
			return part
		}
	}
	return ""
}

// biosNames gives network functions the names that the program biosdevname
// does, by PCI function: em1, em2, … for interfaces on the board, as SMBIOS
// counts them, p3p1, p3p2, … for those of the card in slot 3. Virtual machines
// have none, nor have virtual functions whose parent has none.
func biosNames(m source.Machine, table smbios.Table) map[string]string {
	names := map[string]string{}
	if table.VirtualMachine() || len(table) == 0 {
		return names
	}
	ports := networkFunctions(m)
	for _, onboard := range table.OnboardEthernet() {
		if at := onboard.Address.String(); slices.Contains(ports, at) {
			names[at] = fmt.Sprintf("em%d", onboard.Instance)
		}
	}
	for _, slot := range table.Slots() {
		if slot.Number == 0 {
			continue
		}
		port := 0
		for _, at := range ports {
			if names[at] == "" && below(m, at, slot.Address) {
				port++
				names[at] = fmt.Sprintf("p%dp%d", slot.Number, port)
			}
		}
	}
	return names
}

// networkFunctions lists the PCI functions that carry network interfaces, in
// order, without virtual functions.
func networkFunctions(m source.Machine) []string {
	var out []string
	for _, link := range m.Names(netDir) {
		at := pciFunction(m.Link(netDir, link))
		if at != "" && !m.Exists(path.Join(pciDir, at), "physfn") && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	slices.Sort(out)
	return out
}

// below tells whether the function is the slot's own, another function of the
// same device, or behind a bridge in the slot.
func below(m source.Machine, at string, slot smbios.PCIAddress) bool {
	device := strings.TrimSuffix(slot.String(), fmt.Sprintf("%d", slot.Function))
	for part := range strings.SplitSeq(m.Link(pciDir, at), "/") {
		if strings.HasPrefix(part, device) {
			return true
		}
	}
	return strings.HasPrefix(at, device)
}
