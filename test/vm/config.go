package vm

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ironflow/ironflow/test/machine/bmc"
)

// Config says what a machine is made of. The zero values of the optional fields
// are usable.
type Config struct {
	// UUID is the machine's id, in its firmware's tables and at its BMC: lower case.
	UUID string
	// Name is for messages, and the serial number in the firmware's tables.
	Name string
	// Dir keeps the machine's disks, NVRAM, TPM state, console and logs. A machine
	// that is made in the folder of an earlier one goes on with them.
	Dir string
	// Board is the machine's BMC, told when the machine goes off by itself; nil for
	// a machine that has none.
	Board bmc.Board
	// Firmware is what starts the machine as long as the BMC was given no boot
	// mode; empty is [UEFI].
	Firmware Firmware
	// OVMF are the files of the UEFI firmware; zero are Debian's.
	OVMF OVMF
	// CPUs is 2 if zero, MemoryMiB 3072.
	CPUs, MemoryMiB int
	// CPU is the processor as QEMU names it; empty is [LeanCPU].
	CPU string
	// Disks and NICs are in the order in which the machine finds them.
	Disks []Disk
	NICs  []NIC
	// Drive is how the virtual medium is attached; empty is [DriveSATA].
	Drive Drive
	// TPM gives the machine a TPM 2.0, played by swtpm.
	TPM bool
	// Order is what the firmware tries without an order of the BMC, or after it;
	// empty is disks, then medium.
	Order []Source
	// MediumPatience is how long the BMC tries again to read the medium's URL
	// before the machine gets to see that the medium has gone: at the start, and
	// later with [DriveUSB]. The machine stands still in that time. Zero is 20 s; a
	// negative one gives read errors on to the machine at once.
	MediumPatience time.Duration
	// Log receives one line for each event; nil discards.
	Log *slog.Logger
	// OnEvent is called with each event, one after the other; nil for nobody. It
	// must not wait for the machine.
	OnEvent func(Event)
}

// The processors.
const (
	// LeanCPU has what Debian needs, and no vectors: checksums by them take three to
	// six times as long without hardware virtualization, because programs choose what
	// is fast on a real processor.
	LeanCPU = "qemu64,+rdrand"
	// FullCPU has all that QEMU can play. Newer distributions start with nothing less.
	FullCPU = "max"
)

// Firmware is what a machine starts with.
type Firmware string

// The kinds of firmware.
const (
	UEFI Firmware = "UEFI"
	BIOS Firmware = "BIOS"
)

// OVMF are the UEFI firmware's files: its code, and the variables that a new
// machine begins with. The secure ones enforce secure boot with the usual keys.
type OVMF struct {
	Code, Vars, SecureCode, SecureVars string
}

// Drive is a way to attach the virtual medium.
type Drive string

// The drives.
const (
	// DriveSATA is a SATA CD drive, the fastest here. The machine gets to see each
	// error of reading the medium's URL at once.
	DriveSATA Drive = "sata"
	// DriveUSB is a CD drive on USB, as BMCs have it. Reads are tried again, see
	// [Config.MediumPatience].
	DriveUSB Drive = "usb"
)

// Source is something that the firmware can boot.
type Source string

// The sources.
const (
	SourceDisk    Source = "disk"
	SourceMedium  Source = "medium"
	SourceNetwork Source = "network"
)

// DiskKind is how a disk is attached.
type DiskKind string

// The kinds of disks.
const (
	DiskVirtio DiskKind = "virtio"
	DiskNVMe   DiskKind = "nvme"
	DiskSCSI   DiskKind = "scsi"
	DiskSATA   DiskKind = "sata"
)

// Disk is a disk of a machine.
type Disk struct {
	// Kind is [DiskVirtio] if empty.
	Kind DiskKind
	// SizeMiB is the size of a new disk, which is sparse.
	SizeMiB int
	// Serial is the serial number; virtio shows 20 characters at most.
	Serial string
	// WWN is the world wide name of a SCSI or SATA disk: 16 hexadecimal digits after
	// 0x. Virtio disks have none; Linux makes an NVMe disk's of its serial number.
	WWN string
	// Rotational makes a SCSI or SATA disk say that it turns; else it is a solid
	// state disk.
	Rotational bool
	// Fault is what is wrong with the disk from the start on, see [Machine.FailDisk].
	Fault *Fault
	// Paths is how often a SCSI disk shows in the machine, each time behind a controller
	// of its own: it is one disk all the same, as a LUN of a storage network is. Zero is
	// once. The firmware boots from the first path.
	Paths int
}

// NIC is a network card.
type NIC struct {
	// MAC is the hardware address with colons, lower case.
	MAC string
	// Tap is the network device on this machine that the card is plugged into, as
	// test/vm/lan makes it. Empty plugs it into QEMU's own network, in which the
	// machine has 10.0.2.15 by DHCP and reaches this machine's loopback as 10.0.2.2.
	Tap string
	// User are more of QEMU's options of its own network, such as
	// "bootfile=http://10.0.2.2:8080/boot.ipxe".
	User string
	// Model is QEMU's name of the card; empty is virtio-net-pci.
	Model string
	// ROM is the card's boot program; empty is Debian's iPXE for a card that is
	// booted from, and none else.
	ROM string
	// Onboard is the number that the firmware gives a card of the board, by which Linux
	// names it: 1 is eno1. Zero is a card in a slot.
	Onboard int
}

// The places of Debian's firmware.
const (
	ovmfDir = "/usr/share/OVMF/"
	// ipxeROM is iPXE for a virtio card, for BIOS and UEFI.
	ipxeROM = "/usr/lib/ipxe/qemu/efi-virtio.rom"
)

// maxOnboard is the highest number that Linux and QEMU take from a firmware.
const maxOnboard = 16383

// defaultPatience is what BMCs do for a medium that they cannot read, below the
// 30 s after which Linux gives up on a command to a drive.
const defaultPatience = 20 * time.Second

var (
	uuidShape   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	nameShape   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	wwnShape    = regexp.MustCompile(`^0x[0-9a-f]{16}$`)
	serialShape = regexp.MustCompile(`^[A-Za-z0-9._-]{0,36}$`)
	deviceShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`)
)

// complete fills in what was left open, and refuses what cannot be.
func (c Config) complete() (Config, error) {
	if !uuidShape.MatchString(c.UUID) || !nameShape.MatchString(c.Name) || !filepath.IsAbs(c.Dir) {
		return c, fmt.Errorf("machine %q: it needs a UUID in lower case, a name of letters and digits, and an absolute folder", c.Name)
	}
	for i, disk := range c.Disks {
		if err := disk.check(); err != nil {
			return c, fmt.Errorf("machine %s: disk %d: %w", c.Name, i, err)
		}
	}
	for i, nic := range c.NICs {
		if err := nic.check(); err != nil {
			return c, fmt.Errorf("machine %s: network card %d: %w", c.Name, i, err)
		}
	}
	c.Firmware = cmp.Or(c.Firmware, UEFI)
	c.Drive, c.CPU = cmp.Or(c.Drive, DriveSATA), cmp.Or(c.CPU, LeanCPU)
	c.CPUs, c.MemoryMiB = cmp.Or(c.CPUs, 2), cmp.Or(c.MemoryMiB, 3072)
	c.MediumPatience = cmp.Or(c.MediumPatience, defaultPatience)
	c.OVMF = OVMF{
		Code: cmp.Or(c.OVMF.Code, ovmfDir+"OVMF_CODE_4M.fd"), Vars: cmp.Or(c.OVMF.Vars, ovmfDir+"OVMF_VARS_4M.fd"),
		SecureCode: cmp.Or(c.OVMF.SecureCode, ovmfDir+"OVMF_CODE_4M.secboot.fd"), SecureVars: cmp.Or(c.OVMF.SecureVars, ovmfDir+"OVMF_VARS_4M.ms.fd"),
	}
	if len(c.Order) == 0 {
		c.Order = []Source{SourceDisk, SourceMedium}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func (d Disk) check() error {
	switch d.Kind {
	case "", DiskVirtio, DiskNVMe, DiskSCSI, DiskSATA:
	default:
		return fmt.Errorf("there is no kind of disk %q", d.Kind)
	}
	switch {
	case d.SizeMiB <= 0:
		return errors.New("it needs a size")
	case !serialShape.MatchString(d.Serial):
		return fmt.Errorf("the serial number %q is not of letters, digits, dots, dashes and underscores", d.Serial)
	case d.WWN != "" && (!wwnShape.MatchString(d.WWN) || d.Kind != DiskSCSI && d.Kind != DiskSATA):
		return fmt.Errorf("the world wide name %q is not 0x with 16 digits, or the disk is neither SCSI nor SATA", d.WWN)
	case d.Paths < 0 || d.Paths > 1 && (d.Kind != DiskSCSI || d.Serial == "" || d.WWN == ""):
		return errors.New("only a SCSI disk with a serial number and a world wide name has several paths")
	}
	return nil
}

func (n NIC) check() error {
	if mac, err := net.ParseMAC(n.MAC); err != nil || mac.String() != n.MAC {
		return fmt.Errorf("%q is not a hardware address in lower case with colons", n.MAC)
	}
	if n.Tap != "" && !deviceShape.MatchString(n.Tap) {
		return fmt.Errorf("%q is not the name of a network device", n.Tap)
	}
	if n.Onboard < 0 || n.Onboard > maxOnboard {
		return fmt.Errorf("a card of the board has a number up to %d", maxOnboard)
	}
	return nil
}
