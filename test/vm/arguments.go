package vm

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// files are the places that a QEMU process gets.
type files struct {
	// code is the UEFI firmware, nvram its variables; empty for BIOS.
	code, nvram string
	// qmp and tpm are sockets; tpm is empty for a machine without one.
	qmp, tpm string
	// console is the socket of the serial console, log the file that keeps it.
	console, log string
	// journal is the file of the second console.
	journal string
	disks   []string
}

// arguments are QEMU's arguments for a start. The processors stand still until
// the medium is in the drive, which is empty here.
func arguments(config Config, p plan, f files) []string {
	args := []string{
		"-name", config.Name, "-uuid", config.UUID, "-nodefaults", "-no-user-config", "-S",
		"-machine", machineType(p), "-accel", "tcg,thread=multi,tb-size=" + strconv.Itoa(translated(config.MemoryMiB)),
		"-cpu", config.CPU, "-smp", strconv.Itoa(config.CPUs), "-m", strconv.Itoa(config.MemoryMiB),
		"-smbios", "type=1,manufacturer=Ironflow,product=Test machine,serial=" + value(config.Name) + ",uuid=" + config.UUID,
		"-rtc", "base=utc", "-display", "none", "-device", "VGA,vgamem_mb=16", "-device", "virtio-rng-pci",
		// A reset ends QEMU too, so that the next start has the BMC's boot order; both wait to be told to quit, so that the reason is known.
		"-action", "reboot=shutdown,shutdown=pause",
		"-chardev", "socket,id=qmp,server=off,path=" + value(f.qmp), "-mon", "chardev=qmp,mode=control",
		"-chardev", "socket,id=console,server=on,wait=off,path=" + value(f.console) + ",logappend=on,logfile=" + value(f.log), "-serial", "chardev:console",
		"-device", "virtio-serial-pci", "-chardev", "file,id=journal,append=on,path=" + value(f.journal), "-device", "virtconsole,chardev=journal",
	}
	if f.code != "" {
		args = append(args,
			"-drive", "if=pflash,unit=0,format=raw,readonly=on,file="+value(f.code),
			"-drive", "if=pflash,unit=1,format=raw,file="+value(f.nvram))
	}
	if p.secure {
		args = append(args, "-global", "driver=cfi.pflash01,property=secure,value=on")
	}
	if f.tpm != "" {
		args = append(args, "-chardev", "socket,id=tpm,path="+value(f.tpm), "-tpmdev", "emulator,id=tpm0,chardev=tpm", "-device", "tpm-crb,tpmdev=tpm0")
	}
	index := newIndexes(config, p)
	args = append(args, drive(config, index)...)
	for i := range config.Disks {
		args = append(args, disk(config.Disks[i], i, f.disks[i], index)...)
	}
	for i := range config.NICs {
		args = append(args, card(config.NICs[i], i, index)...)
	}
	return args
}

// translated is how many MiB QEMU has for code that it has translated; memory is taken as
// it is needed. When all is full, all is thrown away and translated anew: 512 MiB are full
// after one live system with ironic-python-agent, and 2 GiB are the most that QEMU takes.
func translated(memory int) int { return min(max(512, memory/2), 2047) }

func machineType(p plan) string {
	if p.secure {
		// The variables of secure boot are written in system management mode alone.
		return "q35,smm=on"
	}
	return "q35,smm=off"
}

// indexes are the places of the devices in the boot order.
type indexes struct {
	order         []Source
	disks, others int
}

func newIndexes(config Config, p plan) indexes {
	return indexes{order: p.order, disks: len(config.Disks), others: len(config.NICs)}
}

// of is the option that gives the n-th device of a source its place in the boot
// order, or none if it is not to be booted.
func (x indexes) of(source Source, n int) string {
	before := 0
	for _, s := range x.order {
		if s == source {
			return ",bootindex=" + strconv.Itoa(before+n+1)
		}
		before += map[Source]int{SourceDisk: x.disks, SourceMedium: 1, SourceNetwork: x.others}[s]
	}
	return ""
}

// drive is the drive for virtual media, without one.
func drive(config Config, index indexes) []string {
	boot := index.of(SourceMedium, 0)
	if config.Drive == DriveSATA {
		// QEMU ends when a SATA CD drive is to try again (an assertion in its ide_restart_bh).
		return []string{"-device", "ide-cd,id=" + cdDevice + ",bus=ide.5,rerror=report" + boot}
	}
	policy := ",rerror=stop"
	if config.MediumPatience < 0 {
		policy = ",rerror=report"
	}
	return []string{
		"-device", "qemu-xhci,id=usb", "-device", "usb-bot,id=drive,bus=usb.0",
		"-device", "scsi-cd,id=" + cdDevice + ",bus=drive.0,scsi-id=0,lun=0" + policy + boot,
	}
}

// disk is the n-th disk.
func disk(d Disk, n int, path string, index indexes) []string {
	id := diskDevice(n)
	// What the guest has written is in this machine's memory at least, which outlives QEMU: flushing is left out.
	args := []string{
		"-blockdev", "driver=file,node-name=" + id + "-file,cache.no-flush=on,discard=unmap,filename=" + value(path),
		"-blockdev", "driver=raw,node-name=" + id + "-raw,discard=unmap,file=" + id + "-file",
	}
	node := id + "-raw"
	if d.Fault != nil {
		node = id + "-fault"
		args = append(args, "-blockdev", d.Fault.option(node, id+"-raw"))
	}
	boot, serial := index.of(SourceDisk, n), ",serial="+cmp.Or(d.Serial, id)
	rate := ",rotation_rate=1"
	if d.Rotational {
		rate = ",rotation_rate=7200"
	}
	wwn := ""
	if d.WWN != "" {
		wwn = ",wwn=" + d.WWN
	}
	const policy = ",rerror=report,werror=report"
	switch d.Kind {
	case DiskNVMe:
		// A namespace as a device of its own has no name in QEMU's boot order, and OVMF then takes none of the order.
		return append(args, "-device", "nvme,id="+id+",drive="+node+serial+boot)
	case DiskSCSI:
		return append(args, paths(id, d.Paths, "drive="+node+serial+wwn+rate+policy, boot)...)
	case DiskSATA:
		return append(args, "-device", "ide-hd,id="+id+",bus=ide."+strconv.Itoa(n)+",drive="+node+serial+wwn+rate+policy+boot)
	default:
		return append(args, "-device", "virtio-blk-pci,id="+id+",drive="+node+serial+policy+boot)
	}
}

// paths are the controllers of a SCSI disk, with the disk behind each.
func paths(id string, count int, options, boot string) []string {
	if count <= 1 {
		return []string{"-device", "virtio-scsi-pci,id=" + id + "-controller", "-device", "scsi-hd,id=" + id + ",bus=" + id + "-controller.0," + options + boot}
	}
	var args []string
	for n := range count {
		path := fmt.Sprintf("%s-path%d", id, n)
		args = append(args, "-device", "virtio-scsi-pci,id="+path+"-controller",
			"-device", "scsi-hd,id="+path+",bus="+path+"-controller.0,share-rw=on,"+options+boot)
		boot = "" // a place in the boot order is one device's
	}
	return args
}

// card is the n-th network card.
func card(c NIC, n int, index indexes) []string {
	id := cardDevice(n)
	network := "user,id=" + id + "-net"
	switch {
	case c.Tap != "":
		network = "tap,id=" + id + "-net,script=no,downscript=no,ifname=" + c.Tap
	case c.User != "":
		network += "," + c.User
	}
	model, boot := c.Model, index.of(SourceNetwork, n)
	if model == "" {
		model = "virtio-net-pci,disable-legacy=on" // Debian's iPXE is for the device's modern id alone.
	}
	rom := c.ROM
	if rom == "" && boot != "" && c.Model == "" {
		rom = ipxeROM
	}
	device := model + ",id=" + id + ",netdev=" + id + "-net,mac=" + c.MAC + ",romfile=" + value(rom) + boot
	if c.Onboard == 0 {
		return []string{"-netdev", network, "-device", device}
	}
	// QEMU's firmware tells the number of what is behind a bridge alone.
	port := id + "-port"
	return []string{
		"-netdev", network, "-device", "pcie-root-port,id=" + port + ",chassis=" + strconv.Itoa(n+1),
		"-device", device + ",bus=" + port + ",acpi-index=" + strconv.Itoa(c.Onboard),
	}
}

// The ids of devices.
const cdDevice = "cd"

func diskDevice(n int) string { return fmt.Sprintf("disk%d", n) }

func cardDevice(n int) string { return fmt.Sprintf("nic%d", n) }

// value writes a value of one of QEMU's comma-separated options.
func value(text string) string { return strings.ReplaceAll(text, ",", ",,") }

// firmwareFiles are the firmware's code, the variables of a new machine, and the
// machine's own variables.
func firmwareFiles(config Config, p plan) (code, template, nvram string) {
	switch {
	case p.firmware == BIOS:
		return "", "", ""
	case p.secure:
		return config.OVMF.SecureCode, config.OVMF.SecureVars, filepath.Join(config.Dir, "nvram-secure.fd")
	default:
		return config.OVMF.Code, config.OVMF.Vars, filepath.Join(config.Dir, "nvram.fd")
	}
}
