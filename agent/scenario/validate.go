package scenario

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Validate reports everything that is wrong with the scenario, each with the
// path of its field.
func (s *Scenario) Validate() error {
	var errs []error
	fail := func(path, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
	}
	if s.Name == "" {
		fail("name", "must be set")
	}
	if s.Hardware.CPU.Count < 1 {
		fail("hardware.cpu.count", "must be at least 1, is %d", s.Hardware.CPU.Count)
	}
	if s.Hardware.MemoryMiB < 1 {
		fail("hardware.memoryMiB", "must be at least 1, is %d", s.Hardware.MemoryMiB)
	}
	if len(s.Hardware.NICs) == 0 {
		fail("hardware.nics", "must name at least one interface")
	}
	for i, nic := range s.Hardware.NICs {
		if _, err := net.ParseMAC(nic.MAC); err != nil {
			fail(fmt.Sprintf("hardware.nics[%d].mac", i), "%q is not a MAC address", nic.MAC)
		}
		for j, cidr := range slices.Concat(nic.IPv4, nic.IPv6) {
			if _, err := netip.ParsePrefix(cidr); err != nil {
				fail(fmt.Sprintf("hardware.nics[%d] address %d", i, j), "%q is not in CIDR form", cidr)
			}
		}
	}
	for i, disk := range s.Hardware.Disks {
		if !slices.Contains([]string{"HDD", "SSD", "NVME"}, disk.Type) {
			fail(fmt.Sprintf("hardware.disks[%d].type", i), "%q is not HDD, SSD or NVME", disk.Type)
		}
	}
	for i, fault := range s.Faults {
		if !slices.Contains(faultKinds(), fault.Kind) {
			fail(fmt.Sprintf("faults[%d].kind", i), "%q is not one of %v", fault.Kind, faultKinds())
		}
	}
	return errors.Join(errs...)
}

func faultKinds() []FaultKind {
	return []FaultKind{FaultNoBoot, FaultTruncatedRead, FaultAgentDies, FaultAgentExits, FaultAgentHangs, FaultAgentStatus, FaultInstall, FaultCleanStep, FaultRestart}
}
