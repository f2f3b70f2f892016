package system

import "strconv"

// armParts are the names of Arm cores in servers and small boards, by
// implementer and part number of the main id register. The kernel shows only
// the numbers; lscpu has the same names.
var armParts = map[uint64]map[uint64]string{
	0x41: { // Arm
		0xd03: "Cortex-A53", 0xd04: "Cortex-A35", 0xd05: "Cortex-A55", 0xd07: "Cortex-A57", 0xd08: "Cortex-A72", 0xd09: "Cortex-A73", 0xd0a: "Cortex-A75",
		0xd0b: "Cortex-A76", 0xd0c: "Neoverse-N1", 0xd0d: "Cortex-A77", 0xd40: "Neoverse-V1", 0xd41: "Cortex-A78", 0xd42: "Cortex-A78AE", 0xd44: "Cortex-X1",
		0xd46: "Cortex-A510", 0xd47: "Cortex-A710", 0xd48: "Cortex-X2", 0xd49: "Neoverse-N2", 0xd4a: "Neoverse-E1", 0xd4b: "Cortex-A78C", 0xd4f: "Neoverse-V2",
		0xd83: "Neoverse-V3AE", 0xd84: "Neoverse-V3", 0xd8e: "Neoverse-N3",
	},
	0x42: {0x516: "Vulcan"}, // Broadcom
	0x43: { // Cavium
		0x0a1: "ThunderX", 0x0a2: "ThunderX-81XX", 0x0a3: "ThunderX-83XX", 0x0af: "ThunderX2-99xx", 0x0b8: "ThunderX3-T110",
	},
	0x46: {0x001: "A64FX"}, // Fujitsu
	0x48: {0xd01: "TaiShan-v110", 0xd02: "TaiShan-v120"},
	0x4e: {0x004: "Carmel"},                   // NVIDIA
	0x50: {0x000: "X-Gene"},                   // APM
	0x51: {0xc00: "Falkor", 0xc01: "Saphira"}, // Qualcomm
	0xc0: {0xac3: "Ampere-1", 0xac4: "Ampere-1a"},
}

// armModel is the name of a core; "" when it is not in the table.
func armModel(implementer, part string) string {
	i, err1 := strconv.ParseUint(implementer, 0, 32)
	p, err2 := strconv.ParseUint(part, 0, 32)
	if err1 != nil || err2 != nil {
		return ""
	}
	return armParts[i][p]
}
