// Package system reads what a machine is apart from its disks and interfaces:
// processors, memory, maker, firmware, boot and TPM. Each function returns one
// member of the inventory and reads files only; the names are those that lscpu,
// dmidecode and the agents before us gave.
package system

import (
	"errors"
	"path"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	cpuInfoFile  = "/proc/cpuinfo"
	cpuDir       = "/sys/devices/system/cpu"
	s390x        = "s390x"
	machineField = "machine = "
)

// CPU returns the processors. The architecture is uname's, the count that of
// logical processors, the frequency the highest of current, maximum and static
// ones, MHz.
func CPU(m source.Machine) (*wire.CPU, error) {
	uname, err := m.Kernel.Uname()
	if err != nil {
		return nil, err
	}
	raw, err := m.Read(cpuInfoFile)
	if err != nil {
		return nil, err
	}
	cpu := parseCPUInfo(string(raw))
	if cpu.Count == 0 {
		return nil, errors.New(cpuInfoFile + " names no processor")
	}
	cpu.Architecture = uname.Machine
	cpu.Frequency = max(cpu.Frequency, maximumMHz(m))
	return &cpu, nil
}

// parseCPUInfo reads the forms of x86, Arm, IBM Z and POWER.
func parseCPUInfo(text string) wire.CPU {
	cpu := wire.CPU{Flags: []string{}}
	implementer, part := "", ""
	source.Fields(text, ":", func(key, value string) {
		switch key {
		case "processor":
			cpu.Count++
		case "model name", "cpu": // "cpu" on POWER
			cpu.ModelName = value
		case "flags", "Features", "features": // x86, Arm, IBM Z
			cpu.Flags = strings.Fields(value)
		case "cpu MHz", "cpu MHz dynamic", "cpu MHz static", "clock":
			if mhz, err := strconv.ParseFloat(strings.TrimSuffix(value, "MHz"), 64); err == nil && mhz > 0 && mhz < 1e6 {
				cpu.Frequency = max(cpu.Frequency, mhz)
			}
		case "CPU implementer":
			implementer = value
		case "CPU part":
			part = value
		default:
			// IBM Z: "processor 0: version = FF,  identification = 0133E8,  machine = 2964"
			if strings.HasPrefix(key, "processor ") {
				cpu.Count++
				if _, machine, ok := strings.Cut(value, machineField); ok {
					cpu.ModelName = strings.TrimSpace(machine)
				}
			}
		}
	})
	if cpu.ModelName == "" && implementer != "" {
		cpu.ModelName = armModel(implementer, part)
	}
	return cpu
}

// maximumMHz is the highest frequency that cpufreq allows on any processor;
// 0 where there is no cpufreq.
func maximumMHz(m source.Machine) float64 {
	var khz int64
	for _, policy := range m.Names(cpuDir, "cpufreq") {
		if strings.HasPrefix(policy, "policy") {
			khz = max(khz, m.Number(path.Join(cpuDir, "cpufreq", policy), "cpuinfo_max_freq"))
		}
	}
	return float64(khz) / 1000
}
