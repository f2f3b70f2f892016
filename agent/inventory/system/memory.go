package system

import (
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

const memoryBlocks = "/sys/devices/system/memory"

// Memory returns what the kernel can use and what is installed: by SMBIOS, else
// by the online memory blocks, else what the kernel can use.
func Memory(m source.Machine, table smbios.Table) (*wire.Memory, error) {
	raw, err := m.Read("/proc/meminfo")
	if err != nil {
		return nil, err
	}
	memory := &wire.Memory{UsableBytes: totalMemory(string(raw))}
	for _, way := range []struct {
		method wire.MemoryMethod
		bytes  func() int64
	}{
		{wire.MemoryMethodDmidecode, table.InstalledMemory},
		{wire.MemoryMethodGhw, func() int64 { return onlineMemory(m) }},
		{wire.MemoryMethodMeminfo, func() int64 { return memory.UsableBytes }},
	} {
		if memory.PhysicalBytes = way.bytes(); memory.PhysicalBytes > 0 {
			memory.PhysicalBytesMethod = way.method
			break
		}
	}
	return memory, nil
}

// totalMemory is MemTotal, bytes.
func totalMemory(meminfo string) int64 {
	var kib int64
	source.Fields(meminfo, ":", func(key, value string) {
		if key == "MemTotal" {
			kib, _ = strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
		}
	})
	return max(kib, 0) << 10
}

// onlineMemory is the size of all online memory blocks, bytes.
func onlineMemory(m source.Machine) int64 {
	size, err := strconv.ParseInt(m.Line(memoryBlocks, "block_size_bytes"), 16, 64)
	if err != nil {
		return 0
	}
	var total int64
	for _, name := range m.Names(memoryBlocks) {
		number, isBlock := strings.CutPrefix(name, "memory")
		if _, err := strconv.Atoi(number); isBlock && err == nil && m.Line(memoryBlocks, name, "state") == "online" {
			total += size
		}
	}
	return total
}
