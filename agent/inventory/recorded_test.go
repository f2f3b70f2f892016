package inventory

import (
	"encoding/binary"
	"strings"
)

// bootSector is a sector with a boot signature.
func bootSector() string { return strings.Repeat("\x00", 510) + "\x55\xaa" }

// memoryDevice is an SMBIOS type 17 structure of the size in MiB.
func memoryDevice(mib uint32) string {
	raw := make([]byte, 0x28)
	raw[0], raw[1] = 17, byte(len(raw))
	binary.LittleEndian.PutUint16(raw[0x0c:], 0x7fff)
	binary.LittleEndian.PutUint32(raw[0x1c:], mib)
	return string(raw)
}

// recorded is a small server: one SATA disk with an installed system, one FC
// disk in use by multipath, an NVMe disk that holds the live medium, two NICs.
func recorded() map[string]string {
	const (
		sda  = "sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda/"
		sdb  = "sys/devices/pci0000:00/0000:03:00.0/host1/rport-1:0-0/target1:0:0/1:0:0:0/block/sdb/"
		nvme = "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1/"
		dm   = "sys/devices/virtual/block/dm-0/"
	)
	return map[string]string{
		"proc/cpuinfo":                                         "processor\t: 0\nmodel name\t: Example CPU 9\ncpu MHz\t\t: 1800.5\nflags\t\t: fpu vmx\n\nprocessor\t: 1\nmodel name\t: Example CPU 9\ncpu MHz\t\t: 2100.25\nflags\t\t: fpu vmx\n",
		"proc/meminfo":                                         "MemTotal:       65536000 kB\nMemFree: 1 kB\n",
		"proc/cmdline":                                         "BOOT_IMAGE=/vmlinuz BOOTIF=01-52-54-00-00-00-01 quiet\n",
		"proc/net/route":                                       "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\neno1\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\neno1\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n",
		"proc/net/ipv6_route":                                  "20010db8000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000064 00000001 00000000 00000001     eno1\n00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000064 00000001 00000000 00000003     eno1\n20010db8000000000000000000000009 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001     eno1\nff000000000000000000000000000000 08 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000004 00000000 00000001     eno1\n",
		"proc/1/mountinfo":                                     "25 1 259:1 / /run/media/iso ro,relatime - iso9660 /dev/nvme0n1p1 ro\n26 1 7:0 / /sysroot ro - squashfs /dev/loop0 ro\n27 1 8:2 / /mnt/old rw shared:1 - xfs /dev/sda2 rw\n",
		"sys/firmware/efi/runtime":                             "0x1",
		secureBootVariable[1:]:                                 "\x06\x00\x00\x00\x01",
		"sys/class/tpm/tpm0/tpm_version_major":                 "2\n",
		"sys/firmware/dmi/entries/17-0/raw":                    memoryDevice(32768),
		"sys/firmware/dmi/entries/17-1/raw":                    memoryDevice(32768),
		"sys/firmware/dmi/entries/17-2/raw":                    memoryDevice(0),
		"sys/class/dmi/id/sys_vendor":                          "Example Corp\n",
		"sys/class/dmi/id/product_name":                        "Server 3\n",
		"sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq": "3400000\n",

		"sys/class/net/lo":                        "-> ../../devices/virtual/net/lo",
		"sys/devices/virtual/net/lo/ifindex":      "1\n",
		"sys/devices/virtual/net/lo/type":         "772\n",
		"sys/devices/virtual/net/lo/mtu":          "65536\n",
		"sys/devices/virtual/net/lo/address":      "00:00:00:00:00:00\n",
		"sys/class/net/eno1":                      "-> ../../devices/pci0/net/eno1",
		"sys/devices/pci0/net/eno1/ifindex":       "2\n",
		"sys/devices/pci0/net/eno1/mtu":           "1500\n",
		"sys/devices/pci0/net/eno1/carrier":       "1\n",
		"sys/devices/pci0/net/eno1/speed":         "10000\n",
		"sys/devices/pci0/net/eno1/address":       "52:54:00:00:00:01\n",
		"sys/devices/pci0/net/eno1/device/vendor": "0x8086\n",
		"sys/devices/pci0/net/eno1/device/device": "0x1563\n",
		"sys/class/net/eno2":                      "-> ../../devices/pci1/net/eno2",
		"sys/devices/pci1/net/eno2/ifindex":       "3\n",
		"sys/devices/pci1/net/eno2/mtu":           "1500\n",
		"sys/devices/pci1/net/eno2/carrier":       "0\n",
		"sys/devices/pci1/net/eno2/speed":         "-1\n",
		"sys/devices/pci1/net/eno2/address":       "52:54:00:00:00:02\n",
		"sys/class/net/bonding_masters":           "\n",

		"sys/block/sda":                           "-> ../devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda",
		sda + "dev":                               "8:0\n",
		sda + "size":                              "937703088\n",
		sda + "removable":                         "0\n",
		sda + "queue/rotational":                  "0\n",
		sda + "device/model":                      "DISK ONE\n",
		sda + "device/vendor":                     "ATA     \n",
		sda + "device/vpd_pg83":                   "x",
		sda + "device/scsi_device/0:0:0:0/dev":    "",
		sda + "sda2/partition":                    "2\n",
		sda + "sda2/dev":                          "8:2\n",
		"run/udev/data/b8:0":                      "S:disk/by-id/wwn-0x5000c500a0000001\nE:ID_SERIAL_SHORT=S1\nE:ID_SERIAL=DISK_ONE_S1\nE:ID_WWN=0x5000c500a0000001\nE:ID_PATH=pci-0000:00:1f.2-ata-1\nE:ID_MODEL=DISK_ONE\n",
		"dev/disk/by-id/wwn-0x5000c500a0000001":   "-> ../../sda",
		"dev/disk/by-id/ata-DISK_ONE_S1":          "-> ../../sda",
		"dev/disk/by-path/pci-0000:00:1f.2-ata-1": "-> ../../sda",
		"dev/sda":                                 bootSector(),

		"sys/block/sdb":          "-> ../devices/pci0000:00/0000:03:00.0/host1/rport-1:0-0/target1:0:0/1:0:0:0/block/sdb",
		sdb + "dev":              "8:16\n",
		sdb + "size":             "209715200\n",
		sdb + "queue/rotational": "1\n",
		sdb + "holders/dm-0/x":   "",
		"run/udev/data/b8:16":    "E:ID_PATH=pci-0000:03:00.0-fc-0x5006-lun-0\n",

		"sys/block/dm-0":        "-> ../devices/virtual/block/dm-0",
		dm + "dev":              "253:0\n",
		dm + "size":             "209715200\n",
		dm + "queue/rotational": "1\n",
		"run/udev/data/b253:0":  "E:DM_UUID=mpath-3600\nE:DM_WWN=0x3600\n",

		"sys/block/dm-1":                      "-> ../devices/virtual/block/dm-1",
		"sys/devices/virtual/block/dm-1/dev":  "253:1\n",
		"sys/devices/virtual/block/dm-1/size": "100\n",
		"run/udev/data/b253:1":                "E:DM_UUID=CRYPT-x\n",

		"sys/block/nvme0n1":                        "-> ../devices/pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1",
		nvme + "dev":                               "259:0\n",
		nvme + "size":                              "15728640\n",
		nvme + "removable":                         "1\n",
		nvme + "nvme0n1p1/partition":               "1\n",
		nvme + "nvme0n1p1/dev":                     "259:1\n",
		"run/udev/data/b259:0":                     "E:ID_WWN=eui.0025385b71b00001\n",
		"dev/disk/by-id/nvme-eui.0025385b71b00001": "-> ../../nvme0n1",

		"sys/block/loop0":                      "-> ../devices/virtual/block/loop0",
		"sys/devices/virtual/block/loop0/size": "100\n",
		"sys/block/sdz":                        "-> ../devices/pci9/sdz",
		"sys/devices/pci9/sdz/size":            "0\n",
	}
}
