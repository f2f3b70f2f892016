package system

import (
	"strings"
	"testing"
	"testing/fstest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/mounts"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// kernel knows its architecture and nothing else.
type kernel struct {
	source.Kernel
	machine string
}

func (k kernel) Uname() (source.Uname, error) { return source.Uname{Machine: k.machine}, nil }

// machine has the files, by absolute path.
func machine(architecture string, files map[string]string) source.Machine {
	tree := fstest.MapFS{}
	for name, content := range files {
		tree[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: []byte(content)}
	}
	return source.Machine{Files: tree, Kernel: kernel{machine: architecture}}
}

func TestCPU(t *testing.T) {
	const xeon = "processor\t: 0\nmodel name\t: Xeon\ncpu MHz\t\t: 1800.5\nflags\t\t: fpu vmx\n\nprocessor\t: 1\ncpu MHz\t\t: 2100.25\nflags\t\t: fpu vmx\n"
	for name, tc := range map[string]struct {
		architecture string
		files        map[string]string
		want         wire.CPU
	}{
		"x86, the fastest processor counts": {
			"x86_64",
			map[string]string{cpuInfoFile: xeon},
			wire.CPU{Architecture: "x86_64", ModelName: "Xeon", Count: 2, Frequency: 2100.25, Flags: []string{"fpu", "vmx"}},
		},
		"x86, the highest allowed frequency counts": {"x86_64", map[string]string{
			cpuInfoFile: xeon, "/sys/devices/system/cpu/cpufreq/policy0/cpuinfo_max_freq": "3400000\n", "/sys/devices/system/cpu/cpufreq/policy1/cpuinfo_max_freq": "3500000\n",
		}, wire.CPU{Architecture: "x86_64", ModelName: "Xeon", Count: 2, Frequency: 3500, Flags: []string{"fpu", "vmx"}}},
		"Arm": {
			"aarch64",
			map[string]string{cpuInfoFile: "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"},
			wire.CPU{Architecture: "aarch64", ModelName: "Neoverse-N1", Count: 1, Flags: []string{"fp", "asimd"}},
		},
		"an Arm core that nobody knows": {
			"aarch64",
			map[string]string{cpuInfoFile: "processor : 0\nCPU implementer : 0x99\nCPU part : 0x1\n"},
			wire.CPU{Architecture: "aarch64", Count: 1, Flags: []string{}},
		},
		"IBM Z": {"s390x", map[string]string{
			cpuInfoFile: "vendor_id       : IBM/S390\n# processors    : 2\nfeatures\t: esan3 zarch\n" +
				"processor 0: version = FF,  identification = 0133E8,  machine = 2964\n" +
				"processor 1: version = FF,  identification = 0133E8,  machine = 2964\n\n" +
				"cpu number      : 0\ncpu MHz dynamic : 4900\ncpu MHz static  : 5000\n",
		}, wire.CPU{Architecture: "s390x", ModelName: "2964", Count: 2, Frequency: 5000, Flags: []string{"esan3", "zarch"}}},
		"POWER": {
			"ppc64le",
			map[string]string{cpuInfoFile: "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 3783.000000MHz\n"},
			wire.CPU{Architecture: "ppc64le", ModelName: "POWER9, altivec supported", Count: 1, Frequency: 3783, Flags: []string{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := CPU(machine(tc.architecture, tc.files))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(*got).To(Equal(tc.want))
		})
	}
	_, err := CPU(machine("x86_64", map[string]string{cpuInfoFile: "nonsense\n"}))
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("no processor")))
}

func TestMemoryWithoutFirmware(t *testing.T) {
	g := NewWithT(t)
	files := map[string]string{"/proc/meminfo": "MemTotal:       1000 kB\nMemFree: 1 kB\n"}
	memory, err := Memory(machine("s390x", files), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*memory).To(Equal(wire.Memory{UsableBytes: 1024000, PhysicalBytes: 1024000, PhysicalBytesMethod: "meminfo"}))
	files["/sys/devices/system/memory/block_size_bytes"] = "10000000\n"
	files["/sys/devices/system/memory/memory0/state"] = "online\n"
	files["/sys/devices/system/memory/memory1/state"] = "offline\n"
	files["/sys/devices/system/memory/memory12/state"] = "online\n"
	memory, err = Memory(machine("s390x", files), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*memory).To(Equal(wire.Memory{UsableBytes: 1024000, PhysicalBytes: 512 << 20, PhysicalBytesMethod: "ghw"}))
}

func TestVendor(t *testing.T) {
	const guest, bare = "processor: 0\nflags\t: fpu hypervisor\n", "processor: 0\nflags\t: fpu\n"
	for name, tc := range map[string]struct {
		architecture string
		files        map[string]string
		want         wire.SystemVendor
	}{
		"a server": {
			"x86_64",
			map[string]string{cpuInfoFile: bare, dmiDir + "/sys_vendor": "Dell Inc.\n", dmiDir + "/product_name": "PowerEdge R650\n", dmiDir + "/product_serial": "ABC\n"},
			wire.SystemVendor{Manufacturer: "Dell Inc.", ProductName: "PowerEdge R650", SerialNumber: "ABC"},
		},
		"nothing known": {"x86_64", map[string]string{cpuInfoFile: bare}, wire.SystemVendor{Manufacturer: "unknown", ProductName: "unknown", SerialNumber: "unknown"}},
		"oVirt": {
			"x86_64",
			map[string]string{cpuInfoFile: guest, dmiDir + "/sys_vendor": "Red Hat\n", dmiDir + "/product_name": "RHEL\n", dmiDir + "/product_family": "oVirt\n"},
			wire.SystemVendor{Manufacturer: "Red Hat", ProductName: "oVirt", SerialNumber: "unknown", Virtual: true},
		},
		"RHV": {
			"x86_64",
			map[string]string{cpuInfoFile: guest, dmiDir + "/product_name": "RHEL\n", dmiDir + "/product_family": "RHV\n"},
			wire.SystemVendor{Manufacturer: "unknown", ProductName: "oVirt", SerialNumber: "unknown", Virtual: true},
		},
		"a bare machine of Oracle's cloud": {
			"x86_64",
			map[string]string{cpuInfoFile: bare, dmiDir + "/sys_vendor": "Oracle Corporation\n", dmiDir + "/product_name": "ORACLE SERVER X9-2\n", dmiDir + "/chassis_asset_tag": "OracleCloud.com\n"},
			wire.SystemVendor{Manufacturer: "OracleCloud.com", ProductName: "ORACLE SERVER X9-2", SerialNumber: "unknown"},
		},
		"a bare machine of Amazon": {
			"x86_64",
			map[string]string{cpuInfoFile: bare, dmiDir + "/sys_vendor": "Amazon EC2\n", dmiDir + "/product_name": "m5.metal\n"},
			wire.SystemVendor{Manufacturer: "Amazon EC2", ProductName: "m5.metal", SerialNumber: "unknown"},
		},
		"the control domain of Xen": {
			"x86_64",
			map[string]string{cpuInfoFile: guest, "/proc/xen/capabilities": "control_d\n"},
			wire.SystemVendor{Manufacturer: "unknown", ProductName: "unknown", SerialNumber: "unknown"},
		},
		"an Arm guest without DMI": {
			"aarch64",
			map[string]string{cpuInfoFile: "processor: 0\n", "/proc/device-tree/fw-cfg@9020000/reg": "x"},
			wire.SystemVendor{Manufacturer: "unknown", ProductName: "unknown", SerialNumber: "unknown", Virtual: true},
		},
		"a partition of IBM Z": {
			"s390x",
			map[string]string{sysInfoFile: "Manufacturer:         IBM\nType:                 2964\nLPAR Number:          21\n"},
			wire.SystemVendor{Manufacturer: "IBM/S390", ProductName: "LPAR", SerialNumber: "unknown"},
		},
		"a guest of z/VM": {
			"s390x",
			map[string]string{sysInfoFile: "LPAR Number:          21\nVM00 Name:            ZVM1\nVM00 Control Program: z/VM    7.3.0\n"},
			wire.SystemVendor{Manufacturer: "IBM/S390", ProductName: "z/VM    7.3.0", SerialNumber: "unknown", Virtual: true},
		},
		"a guest of KVM": {
			"s390x",
			map[string]string{sysInfoFile: "VM00 Control Program: KVM/Linux\n"},
			wire.SystemVendor{Manufacturer: "IBM/S390", ProductName: "KVM/Linux", SerialNumber: "unknown", Virtual: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, err := Vendor(machine(tc.architecture, tc.files), nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(*got).To(Equal(tc.want))
		})
	}
}

func TestFirmwareTellsOfAVirtualMachine(t *testing.T) {
	bios := append([]byte{0, 0x14, 0, 0}, make([]byte, 0x10)...)
	bios[0x13] = 0x10
	got, err := Vendor(machine("aarch64", nil), smbios.Parse(append(bios, 0, 0)))
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got.Virtual).To(BeTrue())
}

func TestBoot(t *testing.T) {
	for name, tc := range map[string]struct {
		files  map[string]string
		mounts []mounts.Mount
		want   wire.Boot
	}{
		"BIOS": {nil, nil, wire.Boot{CurrentBootMode: "bios", SecureBootState: "NotSupported"}},
		"UEFI with secure boot, from the network": {
			map[string]string{secureBootVariable: "\x06\x00\x00\x00\x01", "/proc/cmdline": "BOOTIF=01-52-54-00-00-00-01 quiet\n"},
			[]mounts.Mount{{Target: "/sysroot", Source: "/dev/loop0"}},
			wire.Boot{CurrentBootMode: "uefi", SecureBootState: "Enabled", CommandLine: "BOOTIF=01-52-54-00-00-00-01 quiet\n", PXEInterface: "01-52-54-00-00-00-01", DeviceType: "ephemeral"},
		},
		"secure boot is off": {
			map[string]string{secureBootVariable: "\x06\x00\x00\x00\x00"},
			[]mounts.Mount{{Target: "/sysroot", Source: "/dev/sda4"}},
			wire.Boot{CurrentBootMode: "uefi", SecureBootState: "Disabled", DeviceType: "persistent"},
		},
		"odd value":   {map[string]string{secureBootVariable: "\x06\x00\x00\x00\x02"}, nil, wire.Boot{CurrentBootMode: "uefi", SecureBootState: "Unknown"}},
		"odd length":  {map[string]string{secureBootVariable: "\x06\x01"}, nil, wire.Boot{CurrentBootMode: "uefi", SecureBootState: "Unknown"}},
		"no variable": {map[string]string{"/sys/firmware/efi/runtime": "x"}, nil, wire.Boot{CurrentBootMode: "uefi", SecureBootState: "NotSupported"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(*Boot(machine("x86_64", tc.files), tc.mounts)).To(Equal(tc.want))
		})
	}
}

func TestTPM(t *testing.T) {
	for version, want := range map[string]string{"": "none", "1\n": "1.2", "2\n": "2.0", "odd": "none"} {
		NewWithT(t).Expect(TPM(machine("x86_64", map[string]string{tpmDir + "/tpm_version_major": version}))).To(Equal(want))
	}
}

func FuzzCPUInfo(f *testing.F) {
	f.Add("processor\t: 0\nmodel name\t: X\ncpu MHz\t: 1e3\nflags: a b\n")
	f.Add("processor 0: version = FF, machine = 2964\ncpu MHz static: -1\n")
	f.Fuzz(func(t *testing.T, text string) {
		cpu := parseCPUInfo(text)
		if cpu.Flags == nil || cpu.Frequency < 0 || cpu.Count < 0 {
			t.Errorf("odd processors: %+v", cpu)
		}
		if totalMemory(text) < 0 {
			t.Error("negative memory")
		}
	})
}
