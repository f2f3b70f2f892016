package inventory

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/hub/wire"
)

// cpu reads /proc/cpuinfo and the highest frequency of cpufreq.
func (h host) cpu(context.Context) (Apply, error) {
	raw, err := os.ReadFile(h.dir.Path("/proc/cpuinfo"))
	if err != nil {
		return nil, err
	}
	cpu := &wire.CPU{Architecture: machine(), Flags: []string{}}
	fields(string(raw), ":", func(key, value string) {
		switch key {
		case "processor":
			cpu.Count++
		case "model name":
			cpu.ModelName = value
		case "flags", "Features":
			cpu.Flags = strings.Fields(value)
		case "cpu MHz":
			if mhz, err := strconv.ParseFloat(value, 64); err == nil {
				cpu.Frequency = max(cpu.Frequency, mhz)
			}
		}
	})
	if khz := h.number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"); khz > 0 {
		cpu.Frequency = max(cpu.Frequency, float64(khz)/1000)
	}
	if cpu.Count == 0 {
		return nil, fmt.Errorf("/proc/cpuinfo names no processor")
	}
	return func(inv *wire.Inventory) { inv.CPU = cpu }, nil
}

// machine is the architecture as uname prints it.
func machine() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOARCH
	}
	return unix.ByteSliceToString(u.Machine[:])
}

// memory reads MemTotal, and the installed memory from SMBIOS, else from the
// online memory blocks.
func (h host) memory(context.Context) (Apply, error) {
	raw, err := os.ReadFile(h.dir.Path("/proc/meminfo"))
	if err != nil {
		return nil, err
	}
	memory := &wire.Memory{}
	fields(string(raw), ":", func(key, value string) {
		if key == "MemTotal" {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
			memory.UsableBytes = kib << 10
		}
	})
	for _, source := range []struct {
		method wire.MemoryMethod
		bytes  func() int64
	}{
		{wire.MemoryMethodDmidecode, h.smbiosMemory},
		{wire.MemoryMethodGhw, h.blockMemory},
		{wire.MemoryMethodMeminfo, func() int64 { return memory.UsableBytes }},
	} {
		if memory.PhysicalBytes = source.bytes(); memory.PhysicalBytes > 0 {
			memory.PhysicalBytesMethod = source.method
			break
		}
	}
	return func(inv *wire.Inventory) { inv.Memory = memory }, nil
}

// smbiosMemory sums the sizes of SMBIOS type 17 (memory device), bytes. The
// fields are at 0x0c (MiB, or KiB with the top bit) and 0x1c (extended, MiB).
func (h host) smbiosMemory() int64 {
	const entries = "/sys/firmware/dmi/entries"
	var total int64
	for _, name := range h.names(entries) {
		if !strings.HasPrefix(name, "17-") {
			continue
		}
		raw, err := os.ReadFile(h.dir.Path(entries + "/" + name + "/raw"))
		if err != nil || len(raw) < 0x0e {
			continue
		}
		switch size := binary.LittleEndian.Uint16(raw[0x0c:]); {
		case size == 0 || size == 0xffff: // empty socket, unknown
		case size == 0x7fff && len(raw) >= 0x20:
			total += int64(binary.LittleEndian.Uint32(raw[0x1c:])&0x7fffffff) << 20
		case size&0x8000 != 0:
			total += int64(size&0x7fff) << 10
		default:
			total += int64(size) << 20
		}
	}
	return total
}

// blockMemory is the size of all online memory blocks, bytes.
func (h host) blockMemory() int64 {
	const blocks = "/sys/devices/system/memory"
	size, err := strconv.ParseInt(h.line(blocks, "block_size_bytes"), 16, 64)
	if err != nil {
		return 0
	}
	var total int64
	for _, name := range h.names(blocks) {
		if _, err := strconv.Atoi(strings.TrimPrefix(name, "memory")); err == nil && h.line(blocks, name, "state") == "online" {
			total += size
		}
	}
	return total
}

// system reads the vendor's data from DMI, and the rules for clouds.
func (h host) system(context.Context) (Apply, error) {
	v := &wire.SystemVendor{
		Manufacturer: orUnknown(h.line(dmiDir, "sys_vendor")),
		ProductName:  orUnknown(h.line(dmiDir, "product_name")),
		SerialNumber: orUnknown(h.line(dmiDir, "product_serial")),
	}
	if family := h.line(dmiDir, "product_family"); family == "oVirt" || family == "RHV" {
		v.ProductName = "oVirt"
	}
	if h.line(dmiDir, "chassis_asset_tag") == "OracleCloud.com" {
		v.Manufacturer = "OracleCloud.com"
	}
	v.Virtual = h.virtual()
	return func(inv *wire.Inventory) { inv.SystemVendor = v }, nil
}

// hypervisors are the DMI vendors of virtual machines.
var hypervisors = []string{"QEMU", "VMware", "innotek GmbH", "Xen", "Bochs", "Parallels", "BHYVE", "Amazon EC2", "Google", "OpenStack", "KubeVirt", "Red Hat"}

func (h host) virtual() bool {
	vendor := h.line(dmiDir, "sys_vendor")
	for _, name := range hypervisors {
		if strings.HasPrefix(vendor, name) {
			return true
		}
	}
	if vendor == "Microsoft Corporation" && h.line(dmiDir, "product_name") == "Virtual Machine" {
		return true
	}
	raw, _ := os.ReadFile(h.dir.Path("/proc/cpuinfo"))
	return strings.Contains(string(raw), " hypervisor")
}

// tpm reads the version of the first TPM.
func (h host) tpm(context.Context) (Apply, error) {
	version := wire.InventoryTPMVersionNone
	if h.exists("/sys/class/tpm/tpm0") {
		switch h.line("/sys/class/tpm/tpm0/tpm_version_major") {
		case "1":
			version = wire.InventoryTPMVersion12
		case "2":
			version = wire.InventoryTPMVersion20
		}
	}
	return func(inv *wire.Inventory) { inv.TPMVersion = version }, nil
}

// secureBootVariable is the EFI variable with its vendor's GUID.
const secureBootVariable = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

// boot reads the firmware's mode and the kernel's command line.
func (h host) boot(context.Context) (Apply, error) {
	boot := &wire.Boot{CurrentBootMode: "bios", SecureBootState: wire.SecureBootStateNotSupported}
	if h.exists("/sys/firmware/efi") {
		boot.CurrentBootMode = "uefi"
	}
	if raw, err := os.ReadFile(h.dir.Path("/proc/cmdline")); err == nil {
		boot.CommandLine = string(raw)
		for arg := range strings.FieldsSeq(boot.CommandLine) {
			if nic, ok := strings.CutPrefix(arg, "BOOTIF="); ok {
				boot.PXEInterface = nic
			}
		}
	}
	if raw, err := os.ReadFile(h.dir.Path(secureBootVariable)); err == nil {
		boot.SecureBootState = wire.SecureBootStateUnknown
		if len(raw) == 5 { // four bytes of attributes, one of value
			switch raw[4] {
			case 1:
				boot.SecureBootState = wire.SecureBootStateEnabled
			case 0:
				boot.SecureBootState = wire.SecureBootStateDisabled
			}
		}
	}
	for _, m := range h.mounts() {
		if m.target == "/sysroot" {
			boot.DeviceType = wire.BootDeviceTypePersistent
			if strings.HasPrefix(m.source, "/dev/loop") {
				boot.DeviceType = wire.BootDeviceTypeEphemeral
			}
		}
	}
	return func(inv *wire.Inventory) { inv.Boot = boot }, nil
}
